//! Programs that are started in a process group of their own, which ends with them, and with this process.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::signals::before_signals_end;
use crate::process;

/// The groups that run, by the numbers of their programs, none of which was waited for: they are not free
/// for others. A signal that ends the process waits for the lock.
static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn groups() -> MutexGuard<'static, BTreeSet<i32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program in a process group of its own. A terminal's Ctrl-C does not reach it: the group is
/// ended before a signal ends this process.
pub(crate) fn start_group(command: &mut Command) -> io::Result<Child> {
    static ONCE: Once = Once::new();
    if process::is_owned() {
        ONCE.call_once(|| before_signals_end(end_all));
    }
    let mut groups = groups();
    let child = command.process_group(0).spawn()?;
    groups.insert(Pid::from_child(&child).as_raw_pid());
    Ok(child)
}

/// Ends all groups; none is started after that.
fn end_all(end: &dyn Fn()) {
    let groups = groups();
    for pid in groups.iter().copied().filter_map(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    end();
}

/// Ends a program that was not waited for, and what it started in its group.
pub(crate) fn end_group(child: &mut Child) {
    let pid = Pid::from_child(child);
    let _ = kill_process_group(pid, Signal::KILL);
    groups().remove(&pid.as_raw_pid());
}

/// Returns whether the program of a group has ended. Its number stays its own until it is waited for.
pub(crate) fn has_exited(child: &mut Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}
