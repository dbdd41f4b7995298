//! Reads the files of a list in parallel and passes on their contents in list order.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;

use super::ImportEvent;
use super::error::ImportError;
use super::file_list::FileList;
use super::interner::Interner;
use super::sink::ImportItem;
use super::source::{ImportSource, Trace};
use super::text::no_thread;
use warpload_binary::regular_file;

/// The maximum number of messages by which a file's reader may be ahead of the writer. A block is one message.
const AHEAD: usize = 4;

/// An item from a reader, or the error that stopped it.
type Message = Result<ImportItem, ImportError>;

/// A file to read, and the sender for its contents.
struct Job {
    file: PathBuf,
    /// The line of the list that names it.
    line: u64,
    to: SyncSender<Message>,
}

/// Reads the files of a list on `threads` threads and calls `take` for each file in list order. Readers that are ahead
/// wait, and only as many files are open as are being read. Memory is therefore bounded for any number and size of
/// files.
pub(super) fn read(
    list: &FileList,
    threads: usize,
    interner: &Interner,
    observe: &(dyn Fn(ImportEvent<'_>) + Sync),
    mut take: impl FnMut(&Path, Receiver<Message>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let files = threads.clamp(1, list.files().len().max(1));
    // Surplus threads help to read single files.
    let (threads, each) = (files, threads / files);
    let (jobs, queue) = sync_channel::<Job>(threads);
    let (queue, stopped) = (Mutex::new(queue), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let work = || {
            // Jobs are taken in list order, so the file that the writer waits for is always being read.
            while let Some(job) = next(&queue) {
                if !stopped.load(Ordering::Relaxed) {
                    job.execute(list, each, interner, observe);
                }
            }
        };
        for number in 0..threads {
            match (Builder::new().spawn_scoped(scope, work), list.files().next()) {
                (Err(error), Some((file, _))) if number == 0 => {
                    return Err(ImportError::unreadable(&file, None, &no_thread(&error)));
                }
                // If a thread cannot start, the others do its work.
                (Err(_), _) => break,
                (Ok(_), _) => {}
            }
        }
        let mut files = list.files();
        let mut begun: VecDeque<(PathBuf, Receiver<Message>)> = VecDeque::new();
        let taken = loop {
            for (file, line) in files.by_ref().take(threads - begun.len()) {
                let (to, from) = sync_channel(AHEAD);
                begun.push_back((file.clone(), from));
                // Fails only if all workers have panicked, which the scope's end propagates.
                let _ = jobs.send(Job { file, line, to });
            }
            let Some((file, from)) = begun.pop_front() else { break Ok(()) };
            if let Err(error) = take(&file, from) {
                break Err(error);
            }
        };
        // Opens no further file. Readers of open files stop as well, since their receivers are gone.
        stopped.store(true, Ordering::Relaxed);
        drop(jobs);
        taken
    })
}

fn next(queue: &Mutex<Receiver<Job>>) -> Option<Job> {
    queue.lock().ok()?.recv().ok()
}

impl Job {
    fn execute(
        &self,
        list: &FileList,
        threads: usize,
        interner: &Interner,
        observe: &(dyn Fn(ImportEvent<'_>) + Sync),
    ) {
        if let Err(error) = self.read(list, threads, interner, observe) {
            // Sending fails only after an earlier error, which dropped the receiver.
            let _ = self.to.send(Err(error));
        }
    }

    fn read(
        &self,
        list: &FileList,
        threads: usize,
        interner: &Interner,
        observe: &(dyn Fn(ImportEvent<'_>) + Sync),
    ) -> Result<(), ImportError> {
        let trace = open(list, &self.file, self.line, observe)?;
        let stopped =
            || ImportError::File { file: self.file.clone(), message: "stopped".to_owned() };
        trace.read(threads, interner, &mut |found| self.to.send(Ok(found)).map_err(|_| stopped()))
    }
}

/// Opens a file that the list names on line `line`.
pub(super) fn open<'o>(
    list: &FileList,
    file: &'o Path,
    line: u64,
    observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
) -> Result<Trace<'o>, ImportError> {
    let wrong =
        |what: &dyn std::fmt::Display| list.error(line, format!("{}: {what}", file.display()));
    let (input, _) = regular_file::open(file)
        .map_err(|error| wrong(&format_args!("cannot be read: {error}")))?;
    observe(ImportEvent::Opened(file, &input));
    let seekable = input.try_clone().ok();
    match ImportSource::open(input, seekable, file, observe)? {
        ImportSource::Trace(trace) => Ok(trace),
        ImportSource::List(_) => {
            Err(wrong(&"a list of kernels inside a list of kernels; expected a trace"))
        }
    }
}
