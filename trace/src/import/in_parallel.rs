//! [`read`]: chunks of a text, read by several threads and merged in order.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// How many bytes of text may wait, unless it is a single chunk. Only lines that are very long make chunks
/// of which fewer than two a thread fit.
const MOST_BYTES: usize = 16 << 20;

/// A part of a text, and what it holds.
pub(super) trait Chunk: Default + Send {
    /// Returns the bytes of its text.
    fn len(&self) -> usize;
}

/// What threads share.
struct Shared<C> {
    state: Mutex<State<C>>,
    /// Waits of readers for chunks, and of the merging thread for what was read.
    has_chunk: Condvar,
    is_read: Condvar,
}

struct State<C> {
    /// The chunks that are still to be read, with their numbers, ascending.
    waiting: VecDeque<(u64, C)>,
    /// The chunks from number `merged` on; `None` while they are not read.
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
        // No panic leaves the state half changed.
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

    /// Returns the next chunk in order, if it was read.
    fn next(&mut self) -> Option<C> {
        let chunk = self.read.front_mut()?.take()?;
        self.read.pop_front();
        self.merged += 1;
        Some(chunk)
    }
}

/// Stops everything when a thread ends, be it by a panic.
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

/// Reads `first`, if there is one, and what `fill` makes of further chunks, with `threads` threads, one of
/// which is this one. `fill` returns why no chunk follows. `merge` is called for each chunk in order, on
/// this thread. There are two chunks a thread at most, so that memory is bounded.
///
/// Returns what the last `fill` returned; `None` if a reader has panicked, which the caller never sees.
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
            // Fewer threads do the same, and if there is no other, this one reads all chunks.
            let helper = Builder::new().spawn_scoped(scope, || help(&shared, &read));
            if helper.is_err() {
                break;
            }
        }
        let (mut reader, mut spare, mut end) = (Reader::default(), Vec::new(), None);
        loop {
            // What only this thread can do comes first.
            let ready = shared.lock().next();
            if let Some(mut chunk) = ready {
                merge(&mut chunk)?;
                chunks -= 1;
                bytes -= chunk.len();
                // A chunk with very long lines must not keep its room.
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

/// Reads chunks until there are no more.
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
