//! Compiled kernels leave the memory that a host computed, and their schedules keep what they promise.

use std::collections::BTreeMap;

use serde_json::Value;
use warpload_machine::{AllocationUse, DeviceMemory};
use warpload_sass::{SassLaunch, SassProgram};

use crate::corpus::{Files, Tolerance, bytes_of_hex, difference, files, sizes};

/// Runs one launch with one cubin; returns what is wrong.
fn run(files: &Files, folder: &str, launch: &Value, cubin: &[u8]) -> Result<(), String> {
    let file = |name: &Value| {
        files.get(&format!("{folder}/{}", name.as_str().expect("a name"))).expect("a file")
    };
    let mut program = SassProgram::new(cubin.to_vec()).map_err(|error| error.to_string())?;
    let mut memory = DeviceMemory::new();
    program.load(&mut memory).map_err(|error| error.to_string())?;
    let kernel = program.kernel(launch["entry"].as_str()).map_err(|error| error.to_string())?;
    let mut launched = SassLaunch::new(sizes(&launch["grid"]), sizes(&launch["block"]));
    launched.options.shared_bytes = launch["shared_bytes"].as_u64().expect("bytes");
    launched.options.threads = 1;
    // What ptxas has scheduled keeps its promises.
    launched.options.checks.scoreboard = true;
    let (mut buffers, mut parameters) = (Vec::new(), Vec::new());
    for (number, argument) in launch["args"].as_array().expect("arguments").iter().enumerate() {
        let contents = match argument["kind"].as_str().expect("a kind") {
            "buffer" => file(&argument["file"]).clone(),
            "zeros" => vec![0; argument["bytes"].as_u64().expect("bytes") as usize],
            _ => {
                parameters.push(bytes_of_hex(argument["hex"].as_str().expect("digits")));
                buffers.push(0);
                continue;
            }
        };
        let address = memory.allocate(contents, AllocationUse::Argument(number)).expect("room");
        buffers.push(address);
        parameters.push(address.to_le_bytes().to_vec());
    }
    launched.parameters = parameters;
    let result = program.launch(kernel, &launched, &mut memory, None, None);
    let result = result.map_err(|error| error.to_string())?;
    if let Some(total) = result.fault_totals.first() {
        return Err(result.faults[total.first].report(&total.text));
    }
    // Nothing is unknown in kernels that are executed whole.
    if !result.is_clean() {
        return Err(format!("{:?} {:?}", result.skipped, result.unknown));
    }
    for (index, name) in launch["expected"].as_object().expect("buffers") {
        let address = buffers[index.parse::<usize>().expect("a number")];
        let got = memory.bytes(address).expect("a buffer");
        let tolerance = Tolerance::of(&launch["tolerance"], index);
        if let Some(difference) = difference(got, file(name), tolerance.as_ref()) {
            return Err(format!("argument {index}: {difference}"));
        }
    }
    Ok(())
}

#[test]
fn compiled_kernels_leave_the_memory_that_a_host_computed() {
    let kernels = files(include_bytes!("../../../ptx/tests/kernels.tar.xz"));
    let cubins = files(include_bytes!("../cubins.tar.xz"));
    let (mut counts, mut failures) = (BTreeMap::new(), Vec::new());
    for (path, cubin) in &cubins {
        let [target, folder, module] = path.split('/').collect::<Vec<_>>()[..] else { continue };
        let Some(module) = module.strip_suffix(".cubin") else { continue };
        let launches = &kernels[&format!("{folder}/launch.json")];
        let launches: Vec<Value> = serde_json::from_slice(launches).expect("launches");
        let module = Value::from(format!("{module}.ptx"));
        let is_of_module =
            |launch: &&Value| launch["ptx"].as_array().is_some_and(|all| all.contains(&module));
        for launch in launches.iter().filter(is_of_module) {
            *counts.entry(target).or_insert(0) += 1;
            if let Err(error) = run(&kernels, folder, launch, cubin) {
                failures.push(format!("{path}, {}: {error}", launch["entry"]));
            }
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    let expected = [
        ("50", 54),
        ("52", 18),
        ("53", 37),
        ("60", 62),
        ("61", 184),
        ("61O0", 60),
        ("61O1", 19),
        ("62", 35),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
}
