//! Files on their way to their names: without a name if the system has such, else removed also when
//! a signal ends the process.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use tempfile::{Builder, TempPath};

use super::{process, system};

/// The temporary names that exist now; a signal that ends the process waits for the lock.
static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn names() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file without its name yet. It goes away unless it is persisted.
pub(crate) struct Temporary {
    pub(crate) file: File,
    /// `None` for a file without any name.
    named: Option<TempPath>,
}

impl Temporary {
    /// Creates a file that can get the name `path`.
    pub(crate) fn beside(path: &Path) -> io::Result<Self> {
        if let Some(file) = system::unnamed(folder(path)) {
            return Ok(Self { file, named: None });
        }
        Self::named(path)
    }

    /// Creates a file beside `path` under a name of its own.
    fn named(path: &Path) -> io::Result<Self> {
        let mut names = names();
        remove_names_on_signals();
        let created = builder().make_in(folder(path), |path| {
            File::options().read(true).write(true).create_new(true).open(path)
        });
        let (file, named) = created?.into_parts();
        names.insert(named.to_path_buf());
        Ok(Self { file, named: Some(named) })
    }

    /// Creates a file that will not get a name.
    pub(crate) fn anywhere() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, named: None })
    }

    /// Gives the file, which is whole, its name, in place of what has it.
    pub(crate) fn persist(mut self, path: &Path) -> io::Result<()> {
        // What has the name must be there also after the machine stopped.
        self.file.sync_all()?;
        if let Some(named) = self.named.take() {
            let (mut names, name) = (names(), named.to_path_buf());
            let result = named.persist(path).map_err(|error| error.error);
            names.remove(&name);
            return result;
        }
        self.link(path)
    }

    fn link(&self, path: &Path) -> io::Result<()> {
        match system::link(&self.file, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            result => return result,
        }
        // A link replaces nothing, a renamed one does. Until it is renamed signals wait.
        let _names = names();
        remove_names_on_signals();
        let linked = builder().make_in(folder(path), |path| system::link(&self.file, path))?;
        linked.into_temp_path().persist(path).map_err(|error| error.error)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(named) = self.named.take() {
            let (mut names, name) = (names(), named.to_path_buf());
            drop(named);
            names.remove(&name);
        }
    }
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".warpload-");
    builder
}

/// From now on removes the [`NAMES`] before a signal ends the process, if that is the command's.
fn remove_names_on_signals() {
    static ONCE: Once = Once::new();
    if process::is_owned() {
        ONCE.call_once(|| {
            system::before_signals_end(|end| {
                let names = names();
                for path in &*names {
                    let _ = std::fs::remove_file(path);
                }
                end();
            });
        });
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    use super::*;

    const FOLDER: &str = "WARPLOAD_TEST_FOLDER";

    /// As on a file system without files that have no name. The test is its own child.
    #[test]
    fn a_named_file_is_removed_by_signals() -> io::Result<()> {
        if let Some(folder) = std::env::var_os(FOLDER) {
            crate::own_process();
            let _temporary = Temporary::named(&Path::new(&folder).join("output"))?;
            // The names of files are what the parent waits for.
            std::fs::write(Path::new(&folder).join("ready"), "")?;
            loop {
                std::thread::park();
            }
        }
        for (name, signal) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
            // A shell's background job ignores SIGINT, and so do its children.
            if !system::ending_signals().contains(&signal) {
                continue;
            }
            let folder = tempfile::tempdir()?;
            let mut child = Command::new(std::env::current_exe()?)
                .args(["--exact", "temporary::tests::a_named_file_is_removed_by_signals"])
                .arg("--nocapture")
                .env(FOLDER, folder.path())
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .spawn()?;
            while !folder.path().join("ready").exists() {
                assert_eq!(child.try_wait()?, None, "the child ended");
                std::thread::yield_now();
            }
            let files = || std::fs::read_dir(folder.path()).map(Iterator::count);
            assert_eq!(files()?, 2);
            let kill = format!("kill -{name} {}", child.id());
            assert!(Command::new("sh").args(["-c", &kill]).status()?.success());
            assert_eq!(child.wait()?.signal(), Some(signal));
            std::fs::remove_file(folder.path().join("ready"))?;
            assert_eq!(files()?, 0, "{name}");
        }
        Ok(())
    }

    #[test]
    fn a_named_file_gets_its_name_or_goes() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("output");
        for text in ["first", "second"] {
            let temporary = Temporary::named(&path)?;
            io::Write::write_all(&mut &temporary.file, text.as_bytes())?;
            temporary.persist(&path)?;
            let mut read = String::new();
            File::open(&path)?.read_to_string(&mut read)?;
            assert_eq!(read, text);
        }
        drop(Temporary::named(&path)?);
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
        assert!(names().is_empty());
        Ok(())
    }
}
