//! `import --split` and `--only`: import the traces of a list as separate binary traces.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};

use super::destination::OutputTarget;
use super::import::is_part_done;
use super::io::Output;
use super::trace::{Opening, import_error};
use super::{destination, set};
use crate::process::Status;
use warpload_trace::{ImportOptions, TraceList};

/// Writes each trace of a list into a folder, and the set of all of them.
pub(crate) fn split(
    list: &TraceList,
    folder: &Path,
    options: &ImportOptions,
    resume: bool,
    opening: &Opening,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let count = list.len();
    if count == 0 {
        bail!("{}: names no trace; expected at least one", list.name().display());
    }
    fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be created", folder.display()))?;
    let to = folder.join(set::SET_FILE);
    let target = destination::target(&to)?;
    let parts = set::part_files(folder, count);
    // All are checked before the first is written, because each could be one of the inputs.
    for part in &parts {
        destination::target(part)?;
    }
    let old_set = OldSet(Mutex::new(Some(&target)));
    opening.expect(list.files());
    import_all(list, &parts, options, resume, &old_set, opening)?;
    opening.finish();
    let set = set::put_together(&parts, &target)?;
    set::write(target, &to, &set, resume, output)
}

/// The set of an earlier run. It becomes wrong as soon as one of its parts changes.
struct OldSet<'t>(Mutex<Option<&'t OutputTarget>>);

impl OldSet<'_> {
    /// Removes the set, on the first call.
    fn remove(&self) -> anyhow::Result<()> {
        // Locked during the removal, so that no other part changes before the set is gone.
        let mut target = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(target.take().map_or(Ok(()), OutputTarget::remove)?)
    }
}

/// Imports all traces of a list, several at the same time. If several fail, returns the error of the first in the
/// list's order.
fn import_all(
    list: &TraceList,
    parts: &[PathBuf],
    options: &ImportOptions,
    resume: bool,
    old_set: &OldSet<'_>,
    opening: &Opening,
) -> anyhow::Result<()> {
    let threads = options.threads.get();
    let workers = threads.clamp(1, parts.len());
    // Threads left over help with the import of a file.
    let each = NonZero::new(threads / workers).unwrap_or(NonZero::<usize>::MIN);
    let each = ImportOptions::new(each).compression(options.compression);
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let first_error: Mutex<Option<(usize, anyhow::Error)>> = Mutex::new(None);
    let work = || {
        while !stopped.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(number) else { return };
            if resume && is_part_done(list, number, part) {
                continue;
            }
            if let Err(error) = import_one(list, number, part, &each, old_set, opening) {
                // The traces before it in the list have begun already, and are finished.
                stopped.store(true, Ordering::Relaxed);
                let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
                    *first = Some((number, error));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        // If the system refuses to start threads, fewer do the work.
        (1..workers).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
        work();
    });
    match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

fn import_one(
    list: &TraceList,
    number: usize,
    to: &Path,
    options: &ImportOptions,
    old_set: &OldSet<'_>,
    opening: &Opening,
) -> anyhow::Result<()> {
    let file = destination::target(to)?.create()?;
    let imported = list.import_into(number, file.file(), options, opening);
    imported.map_err(|error| import_error(error, &file))?;
    old_set.remove()?;
    Ok(file.persist()?)
}
