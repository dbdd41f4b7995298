//! [`read`]: the pieces of a text, read by several threads and merged in order.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::line::Body;
use super::part::{Part, PieceReader};
use super::pieces::{Piece, Pieces};
use crate::trace::import::error::ImportError;

/// A piece and what it holds.
#[derive(Default)]
struct Job {
    piece: Piece,
    part: Part,
}

/// What threads share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Waits of readers for pieces, and of the merging thread for parts.
    has_piece: Condvar,
    has_part: Condvar,
}

#[derive(Default)]
struct State {
    /// The pieces that are still to be read, with their numbers, ascending.
    pieces: VecDeque<(u64, Job)>,
    /// The parts from number `merged` on; `None` while they are not read.
    parts: VecDeque<Option<Job>>,
    merged: u64,
    /// No more pieces will come.
    stopped: bool,
    /// A reader has panicked.
    is_lost: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No panic leaves the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, job: Job) {
        self.pieces.push_back((self.merged + self.parts.len() as u64, job));
        self.parts.push_back(None);
    }

    fn done(&mut self, number: u64, job: Job) {
        if let Some(part) = self.parts.get_mut((number - self.merged) as usize) {
            *part = Some(job);
        }
    }

    /// Returns the next part in order, if it was read.
    fn next(&mut self) -> Option<Job> {
        let job = self.parts.front_mut()?.take()?;
        self.parts.pop_front();
        self.merged += 1;
        Some(job)
    }
}

/// Stops everything when a thread ends, be it by a panic.
struct Guard<'s>(&'s Shared);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.stopped = true;
        state.is_lost |= std::thread::panicking();
        drop(state);
        self.0.has_piece.notify_all();
        self.0.has_part.notify_all();
    }
}

/// Reads `first` and all pieces after it with `threads` threads, one of which is this one. Calls `merge`
/// for each in order, on this thread. There are two pieces a thread at most, so that memory is bounded.
pub(super) fn read(
    body: &Body<'_>,
    first: Piece,
    pieces: &mut Pieces<impl Read>,
    threads: usize,
    mut merge: impl FnMut(&Piece, &mut Part) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let shared = Shared::default();
    std::thread::scope(|scope| {
        let _guard = Guard(&shared);
        let mut spare: Vec<Job> = (1..threads * 2).map(|_| Job::default()).collect();
        shared.lock().add(Job { piece: first, part: Part::default() });
        for _ in 1..threads {
            scope.spawn(|| help(body, &shared));
        }
        let mut reader = PieceReader::default();
        let mut end = None;
        loop {
            // What only this thread can do comes first.
            let ready = shared.lock().next();
            if let Some(mut job) = ready {
                merge(&job.piece, &mut job.part)?;
                spare.push(job);
                continue;
            }
            if end.is_none()
                && let Some(mut job) = spare.pop()
            {
                match pieces.read(&mut job.piece) {
                    Ok(true) => {
                        shared.lock().add(job);
                        shared.has_piece.notify_one();
                    }
                    Ok(false) => end = Some(Ok(())),
                    Err(error) => end = Some(Err(ImportError::in_lines(body.file, error))),
                }
                continue;
            }
            let mut state = shared.lock();
            if let Some((number, mut job)) = state.pieces.pop_front() {
                drop(state);
                reader.read(body, &job.piece, &mut job.part);
                shared.lock().done(number, job);
            } else if state.parts.is_empty() || state.is_lost {
                // The scope's end propagates a panic.
                return end.unwrap_or(Ok(()));
            } else if state.parts.front().is_some_and(Option::is_none) {
                drop(shared.has_part.wait(state));
            }
        }
    })
}

/// Reads pieces until there are no more.
fn help(body: &Body<'_>, shared: &Shared) {
    let guard = Guard(shared);
    let mut reader = PieceReader::default();
    let mut state = shared.lock();
    while !state.stopped {
        let Some((number, mut job)) = state.pieces.pop_front() else {
            state = shared.has_piece.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        drop(state);
        reader.read(body, &job.piece, &mut job.part);
        state = shared.lock();
        state.done(number, job);
        shared.has_part.notify_one();
    }
    drop(state);
    drop(guard);
}
