//! [`read`]: batches of lines, read by several threads and passed on in order.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::batch::{Batch, End};
use super::line::Fields;
use crate::lines::Lines;

/// How many batches a thread may be ahead.
const AHEAD: usize = 2;

/// How many bytes of lines may be ahead: a line can be longer than a batch.
const AHEAD_BYTES: usize = 16 << 20;

/// Reads `lines` with `threads` threads, one of which is this one, and calls `take` for each batch in
/// order, on this thread. Returns why there are no more lines, after all that came before.
pub(super) fn read<E>(
    lines: &mut Lines<impl BufRead>,
    threads: usize,
    mut take: impl FnMut(&mut Batch) -> Result<(), E>,
) -> Result<End, E> {
    if threads < 2 {
        let (mut batch, mut fields) = (Batch::default(), Fields::default());
        loop {
            let end = batch.fill(lines);
            batch.read(&mut fields);
            take(&mut batch)?;
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }
    std::thread::scope(|scope| {
        let mut helpers: Vec<(SyncSender<Batch>, Receiver<Batch>)> = Vec::new();
        for _ in 1..threads {
            let (to, batches) = sync_channel::<Batch>(AHEAD);
            let (done, from) = sync_channel(AHEAD);
            scope.spawn(move || {
                let mut fields = Fields::default();
                for mut batch in batches {
                    batch.read(&mut fields);
                    // Without a receiver there was an error.
                    if done.send(batch).is_err() {
                        return;
                    }
                }
            });
            helpers.push((to, from));
        }
        let (mut sent, mut taken, mut bytes) = (0, 0, 0);
        let (mut spare, mut end) = (Vec::new(), None);
        loop {
            while end.is_none() && sent - taken < AHEAD * helpers.len() && bytes < AHEAD_BYTES {
                let mut batch: Batch = spare.pop().unwrap_or_default();
                end = batch.fill(lines);
                bytes += batch.len();
                // Fails only if the helper has panicked, which the scope's end propagates.
                let _ = helpers[sent % helpers.len()].0.send(batch);
                sent += 1;
            }
            if sent == taken {
                return Ok(end.unwrap_or(End::Whole));
            }
            // Batches go round, so that the next one is the next helper's.
            let Ok(mut batch) = helpers[taken % helpers.len()].1.recv() else {
                return Ok(End::Whole);
            };
            take(&mut batch)?;
            taken += 1;
            bytes -= batch.len();
            if batch.len() < AHEAD_BYTES / 16 {
                spare.push(batch);
            }
        }
    })
}
