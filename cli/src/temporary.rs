//! Files on their way to their names: without a name if the system has such, else removed also when
//! a signal ends the process.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, TempPath};

#[cfg(unix)]
use super::process;

/// The temporary name that exists now; a signal that ends the process waits for the lock.
static NAME: Mutex<Option<PathBuf>> = Mutex::new(None);

fn name() -> MutexGuard<'static, Option<PathBuf>> {
    NAME.lock().unwrap_or_else(PoisonError::into_inner)
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
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed(folder(path)) {
            return Ok(Self { file, named: None });
        }
        Self::named(path)
    }

    /// Creates a file beside `path` under a name of its own.
    fn named(path: &Path) -> io::Result<Self> {
        let mut name = name();
        remove_name_on_signals();
        let created = builder().make_in(folder(path), |path| {
            File::options().read(true).write(true).create_new(true).open(path)
        });
        let (file, named) = created?.into_parts();
        *name = Some(named.to_path_buf());
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
            let mut name = name();
            let result = named.persist(path).map_err(|error| error.error);
            *name = None;
            return result;
        }
        self.link(path)
    }

    #[cfg(target_os = "linux")]
    fn link(&self, path: &Path) -> io::Result<()> {
        match link(&self.file, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            result => return result,
        }
        // A link replaces nothing, a renamed one does. Until it is renamed signals wait.
        let _name = name();
        remove_name_on_signals();
        let linked = builder().make_in(folder(path), |path| link(&self.file, path))?;
        linked.into_temp_path().persist(path).map_err(|error| error.error)
    }

    #[cfg(not(target_os = "linux"))]
    fn link(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(named) = self.named.take() {
            let mut name = name();
            drop(named);
            *name = None;
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

/// Creates a file without a name, if the file system can and the file can get one later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    descriptor_path(&file).symlink_metadata().is_ok().then_some(file)
}

#[cfg(target_os = "linux")]
fn descriptor_path(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, descriptor_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// From now on removes [`NAME`] before a signal ends the process, if that is the command's.
fn remove_name_on_signals() {
    #[cfg(unix)]
    if process::is_owned() {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            let Ok(mut signals) = signal_hook::iterator::Signals::new(ending_signals()) else {
                return;
            };
            std::thread::spawn(move || {
                for signal in signals.forever() {
                    let name = name();
                    if let Some(path) = &*name {
                        let _ = std::fs::remove_file(path);
                    }
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            });
        });
    }
}

/// Returns the signals to handle: those that end the process from outside, except the ones that were
/// ignored at the start, as by `nohup`. If the system does not tell which, only SIGTERM, which is
/// not normally ignored.
#[cfg(unix)]
fn ending_signals() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let Some(ignored) = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) else {
        return vec![SIGTERM];
    };
    let mut signals = vec![SIGHUP, SIGINT, SIGQUIT, SIGTERM];
    signals.retain(|signal| ignored >> (signal - 1) & 1 == 0);
    signals
}

/// Lets writing beyond the limit of a file's size fail instead of ending the process.
pub(crate) fn report_file_size_limit() {
    #[cfg(unix)]
    {
        use std::sync::atomic::AtomicBool;
        // Any handler does; whether it was called is of no interest.
        static CALLED: AtomicBool = AtomicBool::new(false);
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, &CALLED);
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
            if !ending_signals().contains(&signal) {
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
        assert_eq!(*name(), None);
        Ok(())
    }
}
