//! The process that the command runs in: whether it is the command's own, so that it may handle signals, how it
//! ends, and its forks: a child finds no lock taken by a thread that it does not have.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{inputs, system};

static IS_OWNED: AtomicBool = AtomicBool::new(false);

/// Marks the process as the command's.
pub(crate) fn own() {
    IS_OWNED.store(true, Ordering::Relaxed);
}

/// Returns whether the process is the command's.
pub(crate) fn is_owned() -> bool {
    IS_OWNED.load(Ordering::Relaxed)
}

/// How a command ended that did its work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Done,
    /// What was asked about is wrong or is not there.
    Failed,
    /// Wrong use, or an input or output that fails; already reported.
    Unreadable,
}

thread_local! {
    /// The inputs, locked by a thread that forks the process: every run of the command takes that lock for a moment.
    static HELD: Cell<Option<inputs::Held>> = const { Cell::new(None) };
}

/// Lets a forked child use the command whatever other threads are doing with it. It has none of the parent's inputs. A program whose process is forked calls this before it runs anything.
///
/// # Errors
/// Returns that of the system, if it has forks.
pub fn survive_forks() -> io::Result<()> {
    static IS_DONE: Mutex<bool> = Mutex::new(false);
    let mut is_done = IS_DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_done {
        system::at_forks(before, in_parent, in_child)?;
        *is_done = true;
    }
    Ok(())
}

extern "C" fn before() {
    // What is made on first use has a lock of its own until it is made.
    warpload::initialize();
    warpload_ptx::initialize();
    // A thread that ends has no place for it any more, and lets go.
    let _ = HELD.try_with(|place| place.set(Some(inputs::hold())));
}

extern "C" fn in_parent() {
    let _ = HELD.try_with(Cell::take);
}

extern "C" fn in_child() {
    if let Ok(Some(inputs)) = HELD.try_with(Cell::take) {
        inputs.forget();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    /// A child of a process in which another thread has the locks nearly always.
    #[test]
    #[allow(unsafe_code)]
    fn a_child_has_the_locks() -> io::Result<()> {
        survive_forks()?;
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    let _held = inputs::hold();
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let mut ended = Vec::new();
            for _ in 0..20 {
                // So that the other thread has them.
                std::thread::sleep(Duration::from_millis(2));
                // SAFETY: the child takes the locks, which takes no memory, and ends: a signal ends it otherwise.
                let status = unsafe {
                    let child = libc::fork();
                    if child == 0 {
                        libc::alarm(30);
                        drop(inputs::hold());
                        libc::_exit(0);
                    }
                    let mut status = -1;
                    libc::waitpid(child, &mut status, 0);
                    status
                };
                ended.push(status);
            }
            is_done.store(true, Ordering::Relaxed);
            assert_eq!(ended, [0; 20]);
        });
        Ok(())
    }
}
