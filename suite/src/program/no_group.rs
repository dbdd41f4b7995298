//! Stands in for process groups on systems other than Unix. A file beside `group.rs`, because the two share no code.

use std::io;
use std::process::{Child, Command};

pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Calls `end`, which ends this process. Programs are left alone.
pub fn end_programs(end: &dyn Fn()) {
    end();
}

/// Ends a program. Its children keep running.
pub(super) fn end(child: &mut Child) {
    let _ = child.kill();
}

pub(super) fn has_exited(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}
