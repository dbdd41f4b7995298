//! The library of the command: what Python calls.

use std::ffi::OsString;

use warpload_cli::call;

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
