//! `import --split` and `--only`: the traces of a list as binary traces of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, bail};

use super::importing::List;
use super::io::Output;
use super::output_file::Target;
use super::set;
use super::status::Status;

/// The name of the set in the folder of `--split`.
pub(crate) const SET: &str = "trace.set.json";

/// Writes each trace of a list into a folder, and the set of all of them.
pub(crate) fn split(
    list: List,
    folder: &Path,
    threads: usize,
    resume: bool,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let count = list.len();
    if count == 0 {
        bail!("{}: names no trace; expected at least one", list.name().display());
    }
    fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be created", folder.display()))?;
    let to = folder.join(SET);
    let target = Target::new(&to)?;
    let parts = parts(folder, count);
    import_all(&list, &parts, threads, resume)?;
    list.finish();
    let set = set::put_together(&parts, &to)?;
    set::write(target, &to, &set, resume, output)
}

/// Returns the names of so many parts in a folder.
pub(crate) fn parts(folder: &Path, count: usize) -> Vec<PathBuf> {
    let last = count.saturating_sub(1);
    let digits = last.checked_ilog10().map_or(1, |log| log as usize + 1).max(4);
    (0..count).map(|i| folder.join(format!("part-{i:0digits$}.wlt"))).collect()
}

/// Imports all traces of a list, several at the same time. Of several errors it is the first one in the
/// order of the list.
fn import_all(list: &List, parts: &[PathBuf], threads: usize, resume: bool) -> anyhow::Result<()> {
    let workers = threads.clamp(1, parts.len());
    // Threads that have no file of their own help with one.
    let each = (threads / workers).max(1);
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let first_error: Mutex<Option<(usize, anyhow::Error)>> = Mutex::new(None);
    let work = || {
        while !stopped.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(number) else { return };
            if resume && list.is_done(number, part) {
                continue;
            }
            if let Err(error) = import_one(list, number, part, each) {
                // Those before have begun already, and are finished.
                stopped.store(true, Ordering::Relaxed);
                let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
                    *first = Some((number, error));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        (1..workers).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

fn import_one(list: &List, number: usize, to: &Path, threads: usize) -> anyhow::Result<()> {
    let file = Target::new(to)?.create()?;
    let failed = file.target().error_context();
    list.import_into(number, file.file(), &failed, threads)?;
    file.persist()
}
