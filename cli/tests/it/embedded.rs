//! The library of the command: what Python calls.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use warpload_cli::{Holding, Message, Replay, call, open_trace};

const TEXT: &str = "tests/data/cmd/kernelslist.g";

fn refused<T>(result: Result<T, Box<Message>>) -> String {
    match result {
        Ok(_) => "done".to_owned(),
        Err(message) => message.title,
    }
}

/// The options of `replay` that a caller's result would leave undone are refused by name.
#[test]
fn a_replay_writes_no_file_and_reads_standard_input_once() {
    let replay = |options: &[&str]| refused(Replay::new(options.iter().map(OsString::from)));
    let unwritten = |name: &str| format!("`{name}`: the result is returned, not written to a file");
    assert_eq!(replay(&["a.wlt", "--format", "json", "--shard", "0/2"]), "done");
    assert_eq!(replay(&["a.wlt", "-o", "never.json"]), unwritten("--output"));
    assert_eq!(replay(&["a.wlt", "-o", "-"]), unwritten("--output"));
    assert_eq!(replay(&["a.wlt", "--html", "never.html"]), unwritten("--html"));
    assert_eq!(
        replay(&["a.wlt", "--resume", "--shard", "0/2", "-o", "never.json"]),
        unwritten("--output")
    );
    assert_eq!(
        replay(&["-", "--image", "-"]),
        "standard input is either the trace or the image, not both"
    );
    assert_eq!(
        replay(&["a.wlt", "--cubin=-", "--cubin=-"]),
        "standard input is one file; expected `-` once"
    );
    assert!(!Path::new("never.json").exists() && !Path::new("never.html").exists());
}

#[test]
fn an_import_that_is_stopped_says_so() {
    let path = crate::common::file(TEXT);
    let open = |stops| open_trace(&path, None, Holding::Read, &AtomicBool::new(stops));
    assert_eq!(refused(open(true)), format!("{}: the import was interrupted", path.display()));
    assert!(open(false).is_ok());
}

/// All of what is wrong with arguments, but not how to use the command.
#[test]
fn wrong_arguments_are_titled_by_what_is_wrong() {
    let title = |arguments: &[&str]| {
        let answer = call(arguments.iter().map(OsString::from), Vec::new());
        assert_eq!((answer.status, answer.messages.len()), (2, 1));
        answer.messages[0].title.clone()
    };
    assert_eq!(
        title(&["warpload", "replay", "a.wlt", "--fill", "one"]),
        "invalid value 'one' for '--fill <FILL>' [possible values: address, zero]"
    );
    assert_eq!(
        title(&["warpload", "import"]),
        "the following required arguments were not provided: --output <FILE> <INPUT>"
    );
}
