//! The signal for reading a part of a mapped file that is not there any more.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A mapped file, with all that the handler of the signal needs. It may neither take a lock
/// nor allocate. Of a trace set there are thousands, so that none keeps a file open.
struct Mapped {
    /// The first address and the one after the last; both are 0 if there is no file.
    start: AtomicUsize,
    end: AtomicUsize,
    /// The number of the message.
    message: AtomicUsize,
    /// The one that was made after this one.
    next: OnceLock<&'static Self>,
}

/// A message of [`Known`], which the handler finds by its number.
struct Message {
    text: String,
    number: usize,
    next: OnceLock<&'static Self>,
}

/// What is added to the lists. What was mapped once is not known to be unmapped until something else is mapped to
/// these addresses, which takes its place: a process that maps one file after the other needs few.
struct Known {
    last: Option<&'static Mapped>,
    last_message: Option<&'static Message>,
    /// By their first addresses; no two have an address in common.
    mapped: BTreeMap<usize, &'static Mapped>,
    /// Those that are not used at present.
    free: Vec<&'static Mapped>,
    /// The messages by their texts.
    messages: BTreeMap<&'static str, usize>,
}

static FIRST: OnceLock<&'static Mapped> = OnceLock::new();
static FIRST_MESSAGE: OnceLock<&'static Message> = OnceLock::new();
static KNOWN: Mutex<Known> = Mutex::new(Known {
    last: None,
    last_message: None,
    mapped: BTreeMap::new(),
    free: Vec::new(),
    messages: BTreeMap::new(),
});
static STDERR: OnceLock<File> = OnceLock::new();

fn mapped() -> impl Iterator<Item = &'static Mapped> {
    std::iter::successors(FIRST.get(), |mapped| mapped.next.get()).copied()
}

fn messages() -> impl Iterator<Item = &'static Message> {
    std::iter::successors(FIRST_MESSAGE.get(), |message| message.next.get()).copied()
}

/// From now on ends the process with `message` and exit status 2 if a part of these mapped bytes is not
/// there any more when it is read.
pub(crate) fn report(bytes: &[u8], message: String) -> io::Result<()> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.last.is_none() {
        let stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        STDERR.get_or_init(|| stderr);
        install();
    }
    let message = known.message(message);
    let bytes = bytes.as_ptr_range();
    let (start, end) = (bytes.start as usize, bytes.end as usize);
    let place = known.place(start, end);
    // Nothing reads these bytes yet, so that the handler does not look for them.
    place.message.store(message, Ordering::Relaxed);
    place.start.store(start, Ordering::Relaxed);
    place.end.store(end, Ordering::Release);
    known.mapped.insert(start, place);
    Ok(())
}

impl Known {
    /// Returns a place for a file at these addresses, of which none has a file any more.
    fn place(&mut self, start: usize, end: usize) -> &'static Mapped {
        while let Some((first, old)) = self.mapped.range(..end.max(start + 1)).next_back() {
            let first = *first;
            if old.end.load(Ordering::Relaxed) <= start && first != start {
                break;
            }
            old.end.store(0, Ordering::Release);
            old.start.store(0, Ordering::Relaxed);
            self.free.push(old);
            self.mapped.remove(&first);
        }
        self.free.pop().unwrap_or_else(|| {
            let added: &'static Mapped = Box::leak(Box::new(Mapped {
                start: AtomicUsize::new(0),
                end: AtomicUsize::new(0),
                message: AtomicUsize::new(0),
                next: OnceLock::new(),
            }));
            self.last.map_or(&FIRST, |last| &last.next).get_or_init(|| added);
            self.last = Some(added);
            added
        })
    }

    /// Returns the number of a message, which is kept.
    fn message(&mut self, text: String) -> usize {
        if let Some(number) = self.messages.get(&*text) {
            return *number;
        }
        let number = self.messages.len();
        let added: &'static Message =
            Box::leak(Box::new(Message { text, number, next: OnceLock::new() }));
        self.last_message.map_or(&FIRST_MESSAGE, |last| &last.next).get_or_init(|| added);
        self.last_message = Some(added);
        self.messages.insert(&added.text, number);
        number
    }
}

#[allow(unsafe_code)]
fn install() {
    // SAFETY: `handle` does only what a handler may: it reads atomics and calls write,
    // sched_yield and _exit. Not by way of signal-hook, which first calls the handler before:
    // that of the standard library restores the default action, which would end the process
    // as soon as a second thread reads. An action of zeros is valid, with an empty mask.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

/// Names the file that could not be read; all if it is unknown.
#[allow(unsafe_code)]
extern "C" fn handle(_: libc::c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    static CALLED: AtomicBool = AtomicBool::new(false);
    while CALLED.swap(true, Ordering::Relaxed) {
        // Another thread was first, and ends the process.
        std::thread::yield_now();
    }
    // SAFETY: the system passes a valid pointer to a handler with `SA_SIGINFO`.
    let address = unsafe { (*info).si_addr() } as usize;
    let has = |mapped: &&Mapped| {
        let end = mapped.end.load(Ordering::Acquire);
        (mapped.start.load(Ordering::Relaxed)..end).contains(&address)
    };
    let number = mapped().find(has).map(|mapped| mapped.message.load(Ordering::Relaxed));
    for message in messages().filter(|message| number.is_none_or(|number| number == message.number))
    {
        if let Some(mut stderr) = STDERR.get() {
            let _ = stderr.write_all(message.text.as_bytes());
        }
    }
    // No output has a temporary name while a mapped file is read.
    signal_hook::low_level::exit(2);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The addresses are only compared.
    fn known(known: &mut Known, start: usize, end: usize) -> *const Mapped {
        let place = known.place(start, end);
        place.start.store(start, Ordering::Relaxed);
        place.end.store(end, Ordering::Relaxed);
        known.mapped.insert(start, place);
        place
    }

    #[test]
    fn what_is_mapped_in_place_of_another_needs_no_more() {
        let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let first = known(&mut all, 0x1000, 0x3000);
        let second = known(&mut all, 0x3000, 0x4000);
        assert_ne!(first, second);
        // One that has a part of the first, and one that has both.
        assert_eq!(known(&mut all, 0x2000, 0x3000), first);
        let both = known(&mut all, 0x1000, 0x8000);
        assert!([first, second].contains(&both));
        assert_eq!((all.mapped.len(), all.free.len()), (1, 1));
        // An empty file has no address.
        known(&mut all, 0x9000, 0x9000);
        known(&mut all, 0x9000, 0x9000);
        assert_eq!((all.mapped.len(), all.free.len()), (2, 0));
        for i in 0..1000 {
            let number = all.message(format!("{}", i % 3));
            assert_eq!(number, i % 3);
            known(&mut all, 0x10000 + i, 0x20000);
        }
        assert_eq!((mapped().count(), messages().count()), (3, 3));
    }
}
