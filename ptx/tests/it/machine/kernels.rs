//! Kernels of CUDA and Triton against the memory that a host computed: `tests/kernels.tar.xz`, a folder for each with
//! its source, `launch.json`, PTX by NVRTC 12.9 and Triton 3.3.1, and the buffers before and after. The expected ones
//! are those of the same source compiled for the host, or of NumPy.

use serde_json::Value;
use warpload_ptx::launch::{AllocationUse, Checks, DeviceMemory, Kernel, KernelLaunch};
use warpload_ptx::read;

use super::corpus::{Files, Tolerance, bytes_of_hex, difference, files, sizes};

/// Runs one launch with one module, perhaps checking races; returns what is wrong.
fn run(
    files: &Files,
    folder: &str,
    launch: &Value,
    ptx: &str,
    is_checked: bool,
) -> Result<(), String> {
    let file = |name: &str| files.get(&format!("{folder}/{name}")).expect("a file");
    let source = std::str::from_utf8(file(ptx)).expect("text");
    let module = read(source).map_err(|error| error.to_string())?;
    let text = |value: &Value, key: &str| value[key].as_str().expect("a text").to_owned();
    let kernel =
        Kernel::named(&module, &text(launch, "entry")).map_err(|error| error.to_string())?;
    let mut memory = DeviceMemory::new();
    let mut launched = KernelLaunch::new(sizes(&launch["grid"]), sizes(&launch["block"]))
        .shared_bytes(launch["shared_bytes"].as_u64().expect("bytes"));
    launched.options.checks = if is_checked { Checks::ALL } else { Checks::default() };
    launched.options.threads = 1;
    let mut buffers = Vec::new();
    for (number, argument) in launch["args"].as_array().expect("arguments").iter().enumerate() {
        let contents = match argument["kind"].as_str().expect("a kind") {
            "buffer" => file(&text(argument, "file")).clone(),
            "zeros" => vec![0; argument["bytes"].as_u64().expect("bytes") as usize],
            _ => {
                launched = launched.parameter(&bytes_of_hex(&text(argument, "hex")));
                buffers.push(0);
                continue;
            }
        };
        let address = memory.allocate(contents, AllocationUse::Argument(number)).expect("room");
        buffers.push(address);
        launched = launched.parameter(&address.to_le_bytes());
    }
    let mut divided = memory.clone();
    let result = kernel.run(&launched, &mut memory, None).map_err(|error| error.to_string())?;
    if !is_checked {
        // Threads, and batches of few blocks, change nothing.
        (launched.options.threads, launched.options.batch) = (3, 64);
        let others =
            kernel.run(&launched, &mut divided, None).map_err(|error| error.to_string())?;
        let differs = |base: &&u64| memory.bytes(**base) != divided.bytes(**base);
        if others != result || buffers.iter().any(|base| differs(&base)) {
            return Err(format!("other results on three threads: {others:?}, {result:?}"));
        }
    }
    if let Some(fault) = result.faults.first() {
        return Err(format!("line {}: {fault}", fault.line()));
    }
    // Nothing is unknown in kernels that are executed whole.
    if !result.is_clean() {
        return Err(format!("{:?} {:?}", result.skipped, result.unknown));
    }
    for (index, name) in launch["expected"].as_object().expect("buffers") {
        let address = buffers[index.parse::<usize>().expect("a number")];
        let got = memory.bytes(address).expect("a buffer");
        let expected = file(name.as_str().expect("a name"));
        let tolerance = Tolerance::of(&launch["tolerance"], index);
        if let Some(difference) = difference(got, expected, tolerance.as_ref()) {
            return Err(format!("argument {index}: {difference}"));
        }
    }
    Ok(())
}

/// Runs all launches; returns their number and what is wrong.
fn run_all(is_checked: bool) -> (usize, Vec<String>) {
    let files = files(include_bytes!("../../kernels.tar.xz"));
    let (mut count, mut failures) = (0, Vec::new());
    for (name, launches) in &files {
        let Some(folder) = name.strip_suffix("/launch.json") else { continue };
        let launches: Vec<Value> = serde_json::from_slice(launches).expect("launches");
        for (number, launch) in launches.iter().enumerate() {
            for ptx in launch["ptx"].as_array().expect("modules") {
                let ptx = ptx.as_str().expect("a name");
                count += 1;
                if let Err(error) = run(&files, folder, launch, ptx, is_checked) {
                    failures.push(format!("{folder}, launch {number}, {ptx}: {error}"));
                }
            }
        }
    }
    (count, failures)
}

#[test]
fn kernels_leave_the_memory_that_a_host_computed() {
    let (count, failures) = run_all(false);
    assert!(failures.is_empty(), "{} of {count} fail:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(count, 204);
}

/// The launches with faults, which are true: in how many modules, and the reason. The races are harmless, because GPUs keep
/// the bytes of an aligned word together.
const TRUE: [(&str, usize, &str); 6] = [
    // `dist[v] != level` reads plainly what other threads change by `atomicCAS`.
    ("bfs, launch 0,", 3, "the two blocks"),
    // `best[v]`, changed by `atomicMin`.
    ("bfs, launch 2,", 3, "the two warps of a block"),
    // The first read before a loop of `atomicCAS`.
    ("fatomics, launch 1,", 3, "the two blocks"),
    // `atomicAdd_block` of several blocks to one sum.
    ("fatomics, launch 2,", 2, "the scope of one has only its own block"),
    // Without optimization, setting a bit field reads the word before anything has written it.
    ("bitops, launch 0, sm80_debug", 1, "uninitialized"),
    ("bitops, launch 1, sm80_debug", 1, "uninitialized"),
];

#[test]
fn right_kernels_pass_all_checks() {
    let (_, mut failures) = run_all(true);
    for (launch, count, fault) in TRUE {
        let is_known = |failure: &String| failure.starts_with(launch) && failure.contains(fault);
        assert_eq!(failures.extract_if(.., |failure| is_known(failure)).count(), count, "{launch}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
