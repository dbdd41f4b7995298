//! The signal for reading a part of a mapped file that does not exist any more.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};

/// The mapped files by first address: the address after the last one, and the message. Unmapping is not recorded; a later
/// mapping at the same addresses replaces the entry.
type Mapped = BTreeMap<usize, (usize, String)>;

static MAPPED: Mutex<Mapped> = Mutex::new(BTreeMap::new());
static STDERR: OnceLock<File> = OnceLock::new();

/// Makes the process end with `message` and exit status 2 if it reads a part of these mapped bytes that does not exist
/// any more.
pub(crate) fn report(bytes: &[u8], message: String) -> io::Result<()> {
    let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    if STDERR.get().is_none() {
        let stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        STDERR.get_or_init(|| stderr);
        install();
    }
    let Range { start, end } = bytes.as_ptr_range();
    insert(&mut mapped, start as usize..end as usize, message);
    Ok(())
}

fn insert(mapped: &mut Mapped, addresses: Range<usize>, message: String) {
    let Range { start, end } = addresses;
    while let Some((first, (last, _))) = mapped.range(..end.max(start + 1)).next_back()
        && (*last > start || *first == start)
    {
        let first = *first;
        mapped.remove(&first);
    }
    mapped.insert(start, (end, message));
}

#[allow(unsafe_code)]
fn install() {
    // SAFETY: `handle` does only async-signal-safe work: it calls write, sched_yield and _exit, and takes a lock that
    // its own thread does not hold. signal-hook is not used, because it first calls the previous handler: the standard
    // library's restores the default action, which would end the process as soon as a second thread reads. An action of
    // zeros is valid, with an empty mask.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

/// Names the unreadable file; all mapped files if it is unknown.
#[allow(unsafe_code)]
extern "C" fn handle(_: libc::c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    // The lock's owner reads no mapped file, so it is not this thread. It is adding a file, or was the first to get
    // here and is ending the process.
    let mapped = loop {
        match MAPPED.try_lock() {
            Ok(mapped) => break mapped,
            Err(TryLockError::Poisoned(mapped)) => break mapped.into_inner(),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    };
    // SAFETY: the system passes a valid pointer to a handler with `SA_SIGINFO`.
    let address = unsafe { (*info).si_addr() } as usize;
    let found = mapped.range(..=address).next_back().filter(|(_, (end, _))| address < *end);
    let start = found.map(|(start, _)| *start);
    for (_, (_, message)) in mapped.iter().filter(|(at, _)| start.is_none_or(|start| start == **at))
    {
        if let Some(mut stderr) = STDERR.get() {
            let _ = stderr.write_all(message.as_bytes());
        }
    }
    // Outputs need no cleanup, because none has a temporary name while a mapped file is read.
    signal_hook::low_level::exit(2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_in_place_of_another_takes_its_place() {
        let mut mapped = Mapped::new();
        let mut add = |start: usize, end: usize| {
            insert(&mut mapped, start..end, format!("{start:x}"));
            mapped.iter().map(|(start, (end, _))| (*start, *end)).collect::<Vec<_>>()
        };
        add(0x1000, 0x3000);
        assert_eq!(add(0x3000, 0x4000), [(0x1000, 0x3000), (0x3000, 0x4000)]);
        // Mappings that overlap a part of the first, then both.
        assert_eq!(add(0x2000, 0x3000), [(0x2000, 0x3000), (0x3000, 0x4000)]);
        assert_eq!(add(0x1000, 0x8000), [(0x1000, 0x8000)]);
        assert_eq!(add(0x2000, 0x3000), [(0x2000, 0x3000)]);
        // An empty file takes up no addresses.
        add(0x9000, 0x9000);
        assert_eq!(add(0x9000, 0x9000), [(0x2000, 0x3000), (0x9000, 0x9000)]);
        for i in 0..1000 {
            assert_eq!(add(0x10000 + i, 0x20000).len(), 3);
        }
    }
}
