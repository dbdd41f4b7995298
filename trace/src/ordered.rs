//! [`map`]: fills chunks one after the other, works on them on several threads, and takes them in order.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// The limit for bytes of input in flight, unless one chunk alone has more. Matters only for very large chunks, since
/// otherwise two chunks per thread fit.
const MOST_BYTES: usize = 16 << 20;

/// A part of the input with its result.
pub(crate) trait Chunk: Default + Send {
    /// The length of its input in bytes. It is 0 by default: the number of chunks then bounds the memory.
    fn len(&self) -> usize {
        0
    }
}

/// State shared by the threads.
struct Shared<C, F, End> {
    state: Mutex<State<C, F, End>>,
    /// Helpers wait for their turn to fill a chunk, and the calling thread for the next finished chunk.
    may_fill: Condvar,
    is_done: Condvar,
    /// The maximum number of chunks in flight.
    most: usize,
}

struct State<C, F, End> {
    /// Fills the next chunk; `None` while a thread does so.
    fill: Option<F>,
    /// The result of the last call of `fill`.
    end: Option<End>,
    /// The chunks from number `taken` on; `None` until finished.
    chunks: VecDeque<Option<C>>,
    taken: usize,
    /// The bytes of these chunks.
    bytes: usize,
    /// Chunks to be used again.
    spare: Vec<C>,
    /// The calling thread wants no more.
    stopped: bool,
    /// A helper has panicked.
    is_lost: bool,
}

/// Stops all threads when the calling one ends, or any by a panic, so that none waits forever.
struct Guard<'s, C, F, End> {
    shared: &'s Shared<C, F, End>,
    is_caller: bool,
}

impl<C, F, End> Drop for Guard<'_, C, F, End> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_lost |= std::thread::panicking();
        state.stopped |= self.is_caller || state.is_lost;
        drop(state);
        self.shared.may_fill.notify_all();
        self.shared.is_done.notify_all();
    }
}

impl<C: Chunk, End, F: FnMut(&mut C) -> Option<End>> Shared<C, F, End> {
    /// Fills the next chunk and works on it, if it is this thread's turn. Returns the state in any case, and whether it
    /// was.
    fn work<'s, S>(
        &'s self,
        mut state: MutexGuard<'s, State<C, F, End>>,
        own: &mut S,
        work: &impl Fn(&mut S, &mut C),
    ) -> (MutexGuard<'s, State<C, F, End>>, bool) {
        let count = state.chunks.len();
        let is_room = count == 0 || count < self.most && state.bytes < MOST_BYTES;
        let is_wanted = is_room && state.end.is_none() && !state.stopped;
        let Some(mut fill) = state.fill.take_if(|_| is_wanted) else { return (state, false) };
        let number = state.taken + count;
        state.chunks.push_back(None);
        let mut chunk = state.spare.pop().unwrap_or_default();
        drop(state);
        let end = fill(&mut chunk);
        let mut state = self.lock();
        (state.fill, state.end) = (Some(fill), end);
        state.bytes += chunk.len();
        drop(state);
        // The calling thread may fill the next chunk, too.
        self.may_fill.notify_one();
        self.is_done.notify_one();
        work(own, &mut chunk);
        let mut state = self.lock();
        let place = number - state.taken;
        if let Some(place) = state.chunks.get_mut(place) {
            *place = Some(chunk);
        }
        self.is_done.notify_one();
        (state, true)
    }
}

impl<C, F, End> Shared<C, F, End> {
    fn lock(&self) -> MutexGuard<'_, State<C, F, End>> {
        // A poisoned lock is usable, because no panic leaves the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fills chunks with `fill` one after the other, until it returns a result; works on them with `work` on as many threads
/// as there are states, including the calling one; and passes them to `take` in order on the calling thread. At most two
/// chunks per thread are in flight, which bounds memory. The thread that fills a chunk works on it, while it is in its
/// cache.
///
/// Returns the result of the last `fill`; `None` without states, because no thread may then fill a chunk. A panic of a
/// helper reaches the caller.
///
/// # Errors
/// Returns the first error of `take`.
pub(crate) fn map<C: Chunk, S: Send, End: Send, Error>(
    states: &mut [S],
    fill: impl FnMut(&mut C) -> Option<End> + Send,
    work: impl Fn(&mut S, &mut C) + Sync,
    mut take: impl FnMut(&mut C) -> Result<(), Error>,
) -> Result<Option<End>, Error> {
    let shared = Shared {
        state: Mutex::new(State {
            fill: Some(fill),
            end: None,
            chunks: VecDeque::new(),
            taken: 0,
            bytes: 0,
            spare: Vec::new(),
            stopped: false,
            is_lost: false,
        }),
        may_fill: Condvar::new(),
        is_done: Condvar::new(),
        most: 2 * states.len(),
    };
    let Some((own, others)) = states.split_first_mut() else { return Ok(None) };
    let (shared, work) = (&shared, &work);
    std::thread::scope(|scope| {
        let _guard = Guard { shared, is_caller: true };
        for other in others {
            let help = move || {
                let _guard = Guard { shared, is_caller: false };
                let mut state = shared.lock();
                while state.end.is_none() && !state.stopped {
                    let has_worked;
                    (state, has_worked) = shared.work(state, other, work);
                    if !has_worked {
                        let waited = shared.may_fill.wait(state);
                        state = waited.unwrap_or_else(PoisonError::into_inner);
                    }
                }
            };
            // If no further thread can start, the others do its work.
            if Builder::new().spawn_scoped(scope, help).is_err() {
                break;
            }
        }
        let mut state = shared.lock();
        loop {
            // Taking comes first, because only this thread can do it.
            if let Some(mut chunk) = state.chunks.front_mut().and_then(Option::take) {
                state.chunks.pop_front();
                state.taken += 1;
                let bytes = chunk.len();
                drop(state);
                take(&mut chunk)?;
                state = shared.lock();
                state.bytes -= bytes;
                // A chunk with very much input is dropped, since it would keep its memory.
                if bytes < MOST_BYTES / 16 {
                    state.spare.push(chunk);
                }
                shared.may_fill.notify_one();
                continue;
            }
            let has_worked;
            (state, has_worked) = shared.work(state, own, work);
            if has_worked {
                continue;
            }
            if state.is_lost || state.chunks.is_empty() && state.end.is_some() {
                state.stopped = true;
                return Ok(state.end.take());
            }
            state = shared.is_done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Number(u64, u64);

    impl Chunk for Number {
        fn len(&self) -> usize {
            1
        }
    }

    /// Squares the numbers below 1000 and takes them up to `stop`.
    fn squares(threads: usize, stop: u64) -> (Vec<u64>, Result<Option<&'static str>, u64>) {
        let (mut next, mut taken) = (0, Vec::new());
        let end = map(
            &mut vec![0_u64; threads],
            |number: &mut Number| {
                number.0 = next;
                next += 1;
                (next == 1000).then_some("the end")
            },
            |state, number| {
                *state += 1;
                number.1 = number.0 * number.0;
            },
            |number| {
                taken.push(number.1);
                if number.0 == stop { Err(stop) } else { Ok(()) }
            },
        );
        (taken, end)
    }

    #[test]
    fn chunks_are_taken_in_order() {
        for threads in [1, 2, 8] {
            let all: Vec<u64> = (0..1000).map(|number| number * number).collect();
            assert_eq!(squares(threads, 1000), (all.clone(), Ok(Some("the end"))));
            assert_eq!(squares(threads, 500), (all[..=500].to_vec(), Err(500)));
        }
    }

    /// A panic of a thread ends all others.
    #[test]
    fn a_panic_reaches_the_caller() {
        let panics = || {
            map(
                &mut [(); 4],
                |_: &mut Number| None::<()>,
                |(), _| panic!("expected by the test"),
                |_| Ok::<_, ()>(()),
            )
        };
        assert!(std::panic::catch_unwind(panics).is_err());
    }
}
