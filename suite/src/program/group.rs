//! Starts programs in process groups of their own, so that their children can be ended with them.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The running groups, by the process numbers of their programs. None of these has been waited for, so the system
/// cannot reuse the numbers.
static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn groups() -> MutexGuard<'static, BTreeSet<i32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program in a process group of its own. A terminal's Ctrl-C does not reach it.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    let mut groups = groups();
    let child = command.process_group(0).spawn()?;
    groups.insert(Pid::from_child(&child).as_raw_pid());
    Ok(child)
}

/// Ends all running programs with their children, and then calls `end`, which ends this process. No program can start
/// in between. For signal handlers: a signal to this process does not reach the programs. On systems other than Unix,
/// programs are left alone.
pub fn end_programs(end: &dyn Fn()) {
    let groups = groups();
    for pid in groups.iter().copied().filter_map(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    end();
}

/// Ends a program that was not waited for, with its process group.
pub(super) fn end(child: &mut Child) {
    let pid = Pid::from_child(child);
    let _ = kill_process_group(pid, Signal::KILL);
    groups().remove(&pid.as_raw_pid());
}

/// Whether the program has exited. Does not reap it, so that its number stays reserved.
pub(super) fn has_exited(child: &mut Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}
