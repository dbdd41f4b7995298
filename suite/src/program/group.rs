//! Programs that are started in a process group of their own, which ends with them.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The groups that run, by the numbers of their programs, none of which was waited for: they are not free
/// for others.
static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn groups() -> MutexGuard<'static, BTreeSet<i32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program in a process group of its own, which a terminal's Ctrl-C does not reach.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    let mut groups = groups();
    let child = command.process_group(0).spawn()?;
    groups.insert(Pid::from_child(&child).as_raw_pid());
    Ok(child)
}

/// Ends the programs that run, with what they started, and then calls a function that ends this process: no
/// program is started meanwhile. A signal that ends the process does not reach the programs, so that its handler
/// calls this first. Elsewhere than on Unix, programs are left alone.
pub fn end_programs(end: &dyn Fn()) {
    let groups = groups();
    for pid in groups.iter().copied().filter_map(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    end();
}

/// Ends a program that was not waited for, and what it started in its group.
pub(super) fn end(child: &mut Child) {
    let pid = Pid::from_child(child);
    let _ = kill_process_group(pid, Signal::KILL);
    groups().remove(&pid.as_raw_pid());
}

/// Returns whether the program of a group has ended. Its number stays its own until it is waited for.
pub(super) fn has_exited(child: &mut Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}
