//! Imports of the log of NVBit's mem_trace.

use warpload_trace::{BinaryTrace, Kernel, WarpPosition};

use crate::samples::import_bytes;
use crate::samples::{loads, open, records, skipped};

fn log_line(launch: u32, opcode: &str, first: u64, lanes: usize) -> String {
    let address = |lane: usize| if lane < lanes { first + 4 * lane as u64 } else { 0 };
    let addresses: Vec<String> = (0..32).map(|lane| format!("0x{:016x}", address(lane))).collect();
    format!(
        "MEMTRACE: CTX 0x00005591d0a0c3f0 - grid_launch_id {launch} - CTA 0,0,0 - warp 1 - \
         {opcode} - {} \n",
        addresses.join(" ")
    )
}

fn launch_line(launch: u32, name: &str) -> String {
    format!(
        "MEMTRACE: CTX 0x00005591d0a0c3f0 - LAUNCH - Kernel pc 0x00007f2d81d4b100 - Kernel name \
         {name} - grid launch id {launch} - grid size 98,1,1 - block size 1024,1,1 - nregs 10 - \
         shmem 0 - cuda stream id 0\n"
    )
}

fn read(text: &str) -> BinaryTrace {
    open(&import_bytes(text).unwrap())
}

fn names(trace: &BinaryTrace) -> Vec<&str> {
    trace.contents().kernels.iter().map(|kernel| &*kernel.name).collect()
}

#[test]
fn a_log() {
    let text = [
        &*launch_line(0, "f(a - b)"),
        "output of the program\n",
        &log_line(0, "LDG.E.64", 0x100, 32),
        &log_line(0, "STG.E", 0x100, 32),
        &log_line(0, "ATOMG.E.ADD", 0x100, 32),
        &log_line(0, "LDG.E", 0x200, 3),
        &launch_line(1, "g"),
        &log_line(1, "LDG.E", 0x300, 0),
        &log_line(2, "LDS", 0x300, 1),
    ]
    .concat();
    let trace = read(&text);
    assert_eq!((trace.instructions(), trace.loads(), skipped(&trace)), (6, 4, (1, 1)));
    assert_eq!(names(&trace), ["f(a - b)", "g", "grid launch 2"]);
    let Kernel { grid, block, header, .. } = &trace.contents().kernels[0];
    assert_eq!((grid, block), (&[98, 1, 1], &[1024, 1, 1]));
    assert!(header.contains(&("nregs".into(), "10".into())));
    let masks: Vec<u32> = loads(&trace).iter().map(|load| load.mask).collect();
    assert_eq!(masks, [u32::MAX, 7, 0, 1]);
    assert_eq!(loads(&trace)[1].addresses, [0x200, 0x204, 0x208]);
    let notes = &trace.contents().notes;
    assert!(notes[0].contains("inferred") && notes[1].contains("no end mark"), "{notes:?}");
    assert_eq!((notes.len(), trace.contents().complete), (2, false));
}

/// Launches that follow one another are more than a block each, and their accesses are in the order of the source.
#[test]
fn two_serial_launches() {
    let line = |i: u64| log_line((i / 5000) as u32, "LDG.E", 0x1000 + 4 * i, 1);
    let all = records(&read(&(0..10_000).map(line).collect::<String>()));
    assert_eq!(all.len(), 10_000);
    for (i, record) in (0..).zip(&all) {
        let expected = (i, (i / 5000) as usize, vec![0x1000 + 4 * i]);
        assert_eq!((record.record, record.kernel, record.addresses.clone()), expected);
    }
}

/// The program's text can end without a newline, also before a launch.
#[test]
fn messages_after_text_on_the_same_line() {
    let text = [
        "Loading model... done\n".to_owned(),
        format!("Using device 0 - {}", launch_line(0, "f")),
        format!("progress: 10% {}", log_line(0, "LDG.E", 0x100, 32)),
        log_line(0, "LDG.E", 0x200, 3),
        // Of the tool, but without data.
        "MEMTRACE: STARTING CONTEXT 0x5591d0a0c3f0\n".to_owned(),
        "MEMTRACE: CTX 0x5591d0a0c3f0, Inspecting CUfunction 0x1 name f at address 0x2\n"
            .to_owned(),
        "text MEMTRACE: TERMINATING CONTEXT 0x5591d0a0c3f0\n".to_owned(),
        // Of the program: the tool's messages have a blank after the colon.
        "LDG.E - not a MEMTRACE:record\n".to_owned(),
    ];
    let trace = read(&text.concat());
    assert_eq!((trace.instructions(), trace.loads()), (2, 2));
    assert_eq!(names(&trace), ["f"]);
    assert_eq!(trace.contents().notes.len(), 2);
    // Messages that are not known, also before a record, and a record that the next one broke off.
    let half = log_line(0, "LDG.E", 0x100, 32);
    let broken = format!("{}{}", &half[..60], log_line(0, "LDG.E", 0x100, 1));
    let unknown = "MEMTRACE: kernel f captured".to_owned();
    let both = unknown.clone() + &log_line(0, "LDG.E", 0x100, 1);
    let trace = read(&[text.concat(), unknown, "\n".to_owned(), both, broken].concat());
    assert_eq!((trace.instructions(), trace.loads()), (4, 4));
    let notes = &trace.contents().notes;
    assert!(notes[2].starts_with("3 of the log's messages"), "{notes:?}");
}

/// Two records on one line are two; a kernel's name can hold what messages begin with.
#[test]
fn messages_on_one_line() {
    let two = log_line(0, "LDG.E", 0x100, 32).replace(" \n", " ") + &log_line(0, "LDS", 0x40, 1);
    let text = launch_line(0, "MEMTRACE: CTX 0x1 - f") + "text " + &two;
    let trace = read(&text);
    assert_eq!((trace.instructions(), trace.loads()), (2, 2));
    assert_eq!(names(&trace), ["MEMTRACE: CTX 0x1 - f"]);
    assert_eq!(trace.contents().notes.len(), 2);
}

/// Derived tools write launches over several lines, or without the grid; the program's text is not a part
/// of them.
#[test]
fn launches_of_other_forms() {
    let line = |launch| log_line(launch, "LDG.E", 0x100, 32);
    let start = "MEMTRACE: CTX 0x5591d0a0c3f0 - LAUNCH - Kernel pc 0x2 -";
    let text = [
        format!("text {start}\n  Kernel name f(a, b) - c -\n  grid launch id 0 -\n"),
        format!("  grid size 2,3,4 - block size 32,1,1\n{}", line(0)),
        format!(
            "{start} Kernel name g<a,\n b> - grid launch id 1\nthe program's text\n{}",
            line(1)
        ),
        format!("{start} Kernel name h - grid launch id 2 -\nThe grid size is 5\n{}", line(2)),
        format!("{start} Kernel name i - grid launch id 3\n - block size 64,1,1\n{}", line(3)),
        format!("{start} Kernel name j - grid launch id 4{}", line(4)),
        // A launch of which nothing is known but its name, at the end.
        format!("{start} Kernel name k - grid launch id 5\n"),
    ];
    let trace = read(&text.concat());
    assert_eq!(trace.instructions(), 5);
    assert_eq!(names(&trace), ["f(a, b) - c", "g<a, b>", "h", "i", "j"]);
    let shapes = trace.contents().kernels.iter().map(|kernel| (kernel.grid, kernel.block));
    let none = [0; 3];
    let expected =
        [([2, 3, 4], [32, 1, 1]), (none, none), (none, none), (none, [64, 1, 1]), (none, none)];
    assert_eq!(shapes.collect::<Vec<_>>(), expected);
    assert_eq!(trace.contents().notes.len(), 2);
    for (bad, place) in [
        // Five lines.
        (format!("{start}\n\n\n\nKernel name f - grid launch id 0\n"), "1:1"),
        (format!("{start}\n{}", line(0)), "1:1"),
        (format!("text\n{start} Kernel name f - grid launch id x\n"), "2:1"),
        (format!("{start} Kernel name f - grid launch id 0\n grid size 1,1\n"), "1:1"),
    ] {
        let error = import_bytes(bad).unwrap_err().to_string();
        let expected = format!("trace:{place}: expected `… - Kernel name S - grid launch id N");
        assert!(error.contains(&expected), "{error}");
    }
    let cut = format!("{start}\n  Kernel name f - grid launch id 0 - grid size 1,1");
    let error = import_bytes(cut).unwrap_err().to_string();
    assert!(error.contains("trace:2:1: the last line has no line end"), "{error}");
}

/// The warp is a slot of the hardware and not kept.
#[test]
fn places() {
    let place = WarpPosition { cta: Some([0, 0, 0]), ..WarpPosition::default() };
    assert_eq!(records(&read(&log_line(0, "LDG.E", 0x100, 32)))[0].place, place);
}

/// What a program prints first can look like anything else.
#[test]
fn the_programs_output_comes_first() {
    let record = log_line(0, "LDG.E", 0x100, 32);
    let long = "x".repeat(300_000) + "\n";
    for first in [
        "[Vector addition of 50000 elements]\n",
        "{config}\n",
        "Memcpy to device done\n",
        "-n = 5\n",
        "# 5\n",
        "kernel-1.traceg\n",
        &long,
    ] {
        let trace = read(&format!("{first}{record}"));
        assert_eq!(trace.loads(), 1, "{}", &first[..5]);
    }
}

#[test]
fn wrong_logs() {
    let good = log_line(0, "LDG.E", 0x100, 32);
    for bad in [
        good.replace("grid_launch_id 0", "grid_launch_id x"),
        good.replace(" - LDG.E", ""),
        good.replace("0x000000000000017c", ""),
        good.replace("0x000000000000017c", "0x17c 0x180"),
        good.replace("0x000000000000017c", "17c"),
        good.replace("0x000000000000017c", "0x+17c"),
        good.replace("0x000000000000017c", "0x"),
        good.replace("0x000000000000017c", "0x0000000000000017c"),
        launch_line(0, "f").replace("98,1,1", "98,1"),
        launch_line(0, "f").replace("Kernel name", "name"),
    ] {
        let error = import_bytes(format!("{good}{bad}")).unwrap_err().to_string();
        assert!(error.contains("trace:2:1: expected `"), "{error}");
        let error = import_bytes(format!("{good}text {bad}")).unwrap_err().to_string();
        assert!(error.contains("trace:2:6: expected `"), "{error}");
    }
}

/// Launches that follow one another stay apart, however many blocks each has; those that run at the same time
/// are in blocks, in the order of their first accesses.
#[test]
fn the_order_of_launches() {
    let log = |launches: &mut dyn Iterator<Item = u32>| {
        let line = |(i, launch): (u64, u32)| log_line(launch, "LDG.E", 0x1000 + 128 * i, 1);
        read(&(0..).zip(launches).map(line).collect::<String>())
    };
    // The accesses of each launch in a row.
    let one_after_the_other = [(0, 5000), (1, 9000), (2, 10), (3, 4500), (4, 1)];
    let all = |(launch, count)| std::iter::repeat_n(launch, count);
    let trace = log(&mut one_after_the_other.into_iter().flat_map(all));
    let found = records(&trace);
    let expected = one_after_the_other.into_iter().flat_map(all);
    assert!(found.iter().map(|one| one.kernel).eq(expected.map(|launch| launch as usize)));
    assert!(found.iter().map(|one| one.addresses[0]).is_sorted());

    let trace = log(&mut (0..20_000).map(|i| if i % 100 == 99 { 2 } else { i % 2 }));
    let firsts: Vec<_> =
        trace.blocks().iter().map(|block| block.first_instruction as usize).collect();
    let found = records(&trace);
    assert_eq!(found.len(), 20_000);
    assert!(firsts.iter().map(|first| found[*first].addresses[0]).is_sorted());
    for launch in 0..3 {
        let own = found.iter().filter(|one| one.kernel == launch);
        assert!(own.map(|one| one.addresses[0]).is_sorted());
    }
}

/// Each context counts its launches from 0.
#[test]
fn contexts_have_launches_of_their_own() {
    let other = |text: String| text.replace("0x00005591d0a0c3f0", "0x5591d0a0ffff");
    let text = [
        launch_line(0, "foo"),
        other(launch_line(0, "bar")),
        log_line(0, "LDG.E", 0x100, 32),
        other(log_line(0, "LDG.E.64", 0x200, 32)),
        log_line(0, "LDG.E", 0x300, 32),
        // Without a launch.
        other(log_line(1, "LDG.E", 0x400, 32)),
        // The same number, written otherwise.
        log_line(0, "LDG.E", 0x500, 32).replace("0x00005591d0a0c3f0", "0x5591D0A0C3F0"),
    ];
    let trace = read(&text.concat());
    assert_eq!(names(&trace), ["foo", "bar", "grid launch 1"]);
    let loads = loads(&trace);
    let found: Vec<_> = loads.iter().map(|load| (load.kernel, load.addresses[0])).collect();
    assert_eq!(found, [(0, 0x100), (0, 0x300), (0, 0x500), (1, 0x200), (2, 0x400)]);
}
