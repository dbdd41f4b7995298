//! [`read`]: parses chunks of a text on several threads and merges them in order.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// The limit for bytes of text in flight, unless one chunk alone has more. Matters only for very long lines, since
/// otherwise two chunks per thread fit.
const MOST_BYTES: usize = 16 << 20;

/// A part of a text with its parsed contents.
pub(super) trait Chunk: Default + Send {
    /// The length of its text in bytes.
    fn len(&self) -> usize;
}

/// State shared by the threads.
struct Shared<C> {
    state: Mutex<State<C>>,
    /// Readers wait for chunks, and the merging thread waits for parsed ones.
    has_chunk: Condvar,
    is_read: Condvar,
}

struct State<C> {
    /// Chunks to be parsed, with their numbers, ascending.
    waiting: VecDeque<(u64, C)>,
    /// The chunks from number `merged` on; `None` until parsed.
    read: VecDeque<Option<C>>,
    merged: u64,
    /// No more chunks will come.
    stopped: bool,
    /// A reader has panicked.
    is_lost: bool,
}

impl<C> Shared<C> {
    fn new() -> Self {
        let state = State {
            waiting: VecDeque::new(),
            read: VecDeque::new(),
            merged: 0,
            stopped: false,
            is_lost: false,
        };
        Self { state: Mutex::new(state), has_chunk: Condvar::new(), is_read: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        // A poisoned lock is usable, because no panic leaves the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> State<C> {
    fn add(&mut self, chunk: C) {
        self.waiting.push_back((self.merged + self.read.len() as u64, chunk));
        self.read.push_back(None);
    }

    fn done(&mut self, number: u64, chunk: C) {
        if let Some(place) = self.read.get_mut((number - self.merged) as usize) {
            *place = Some(chunk);
        }
    }

    /// The next chunk in order, once it is parsed.
    fn next(&mut self) -> Option<C> {
        let chunk = self.read.front_mut()?.take()?;
        self.read.pop_front();
        self.merged += 1;
        Some(chunk)
    }
}

/// Stops all threads when one ends, even by a panic, so that none waits forever.
struct Guard<'s, C>(&'s Shared<C>);

impl<C> Drop for Guard<'_, C> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.stopped = true;
        state.is_lost |= std::thread::panicking();
        drop(state);
        self.0.has_chunk.notify_all();
        self.0.is_read.notify_all();
    }
}

/// Parses chunks with `read` on `threads` threads, including the calling one, and merges them in order on the calling
/// thread. Starts with `first`, if there is one; `fill` fills the next chunk and returns the reason once no other
/// follows. At most two chunks per thread are in flight, which bounds memory.
///
/// Returns the result of the last `fill`; `None` if a reader has panicked, in which case the panic reaches the caller
/// instead.
///
/// # Errors
/// Returns the first error of `merge`.
pub(super) fn read<C: Chunk, Reader: Default, End, Error>(
    first: Option<C>,
    threads: usize,
    mut fill: impl FnMut(&mut C) -> Option<End>,
    read: impl Fn(&mut Reader, &mut C) + Sync,
    mut merge: impl FnMut(&mut C) -> Result<(), Error>,
) -> Result<Option<End>, Error> {
    let shared = Shared::new();
    std::thread::scope(|scope| {
        let _guard = Guard(&shared);
        let mut bytes = first.as_ref().map_or(0, C::len);
        let mut chunks = usize::from(first.is_some());
        first.into_iter().for_each(|first| shared.lock().add(first));
        for _ in 1..threads {
            // If no further thread can start, this one parses all chunks.
            let helper = Builder::new().spawn_scoped(scope, || help(&shared, &read));
            if helper.is_err() {
                break;
            }
        }
        let (mut reader, mut spare, mut end) = (Reader::default(), Vec::new(), None);
        loop {
            // Merging comes first, because only this thread can do it.
            let ready = shared.lock().next();
            if let Some(mut chunk) = ready {
                merge(&mut chunk)?;
                chunks -= 1;
                bytes -= chunk.len();
                // A chunk with very long lines is dropped, since it would keep its memory.
                if chunk.len() < MOST_BYTES / 16 {
                    spare.push(chunk);
                }
                continue;
            }
            if end.is_none() && (chunks == 0 || chunks < threads * 2 && bytes < MOST_BYTES) {
                let mut chunk: C = spare.pop().unwrap_or_default();
                end = fill(&mut chunk);
                chunks += 1;
                bytes += chunk.len();
                shared.lock().add(chunk);
                shared.has_chunk.notify_one();
                continue;
            }
            let mut state = shared.lock();
            if let Some((number, mut chunk)) = state.waiting.pop_front() {
                drop(state);
                read(&mut reader, &mut chunk);
                shared.lock().done(number, chunk);
            } else if state.read.is_empty() || state.is_lost {
                return Ok(end);
            } else if state.read.front().is_some_and(Option::is_none) {
                drop(shared.is_read.wait(state));
            }
        }
    })
}

/// Parses chunks until no more come.
fn help<C, Reader: Default>(shared: &Shared<C>, read: impl Fn(&mut Reader, &mut C)) {
    let guard = Guard(shared);
    let mut reader = Reader::default();
    let mut state = shared.lock();
    while !state.stopped {
        let Some((number, mut chunk)) = state.waiting.pop_front() else {
            state = shared.has_chunk.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        drop(state);
        read(&mut reader, &mut chunk);
        state = shared.lock();
        state.done(number, chunk);
        shared.is_read.notify_one();
    }
    drop(state);
    drop(guard);
}
