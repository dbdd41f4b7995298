//! In place of process groups, which only Unix has. Apart from `group.rs` because each is a whole file of its
//! system.

use std::io;
use std::process::{Child, Command};

/// Starts a program.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Calls a function that ends this process. Programs are left alone.
pub fn end_programs(end: &dyn Fn()) {
    end();
}

/// Ends a program; what it started goes on.
pub(super) fn end(child: &mut Child) {
    let _ = child.kill();
}

pub(super) fn has_exited(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}
