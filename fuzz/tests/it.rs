//! The program on its own targets.

use std::process::Command;

/// Runs the program. Returns its exit status and its messages.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_warpload-fuzz")).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_targets_hold_for_seeds_and_a_few_mutants() {
    assert_eq!(run(&["--mutations", "2"]), (Some(0), String::new()));
}

/// With no time, or no memory, an input fails that is otherwise fine.
#[test]
fn an_input_that_fails_is_kept() {
    let limits: &[_] = if cfg!(target_os = "linux") {
        &[("--seconds", "still running"), ("--memory", "signal")]
    } else {
        &[("--seconds", "still running")]
    };
    for (limit, end) in limits {
        let (status, messages) = run(&["accelsim_does_not_panic", limit, "0"]);
        assert_eq!(status, Some(1), "{limit}: {messages}");
        let message = messages.lines().last().unwrap();
        let (seed, file) = message.split_once(", mutant 0; the input is in ").unwrap();
        let (end_of_target, seed) = seed.rsplit_once(": ").unwrap();
        assert!(end_of_target.contains(end), "{message}");
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        assert!(std::fs::read(format!("{root}/{seed}")).unwrap() == std::fs::read(file).unwrap());
        std::fs::remove_file(file).unwrap();
    }
}
