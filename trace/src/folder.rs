//! [`traces_in`]: the traces in a folder, as tools leave them there.

use std::path::{Path, PathBuf};

use crate::import::{ImportError, names_a_trace_file};

/// The traces in a folder.
pub(crate) enum FolderTraces {
    /// A list of traces, or the only trace.
    File(PathBuf),
    /// The names of several traces, one a line, in launch order.
    List(String),
}

/// The list of the traces that Accel-Sim's post-processing has grouped.
const LIST: &str = "kernelslist.g";

/// The most files that a folder may have.
const MAX_FILES: usize = 1 << 20;

/// Finds the traces in a folder, but not in the folders in it.
///
/// # Errors
/// Returns [`ImportError`] if the folder cannot be read, has no traces, or has some that would be left out.
pub(crate) fn traces_in(folder: &Path) -> Result<FolderTraces, ImportError> {
    let failed = |source| ImportError::Read { file: folder.to_owned(), source };
    let wrong = |message: String| ImportError::File { file: folder.to_owned(), message };
    let (mut lists, mut traces, mut binary) = (Vec::new(), Vec::new(), Vec::new());
    for (number, entry) in std::fs::read_dir(folder).map_err(failed)?.enumerate() {
        if number == MAX_FILES {
            return Err(wrong(format!("a folder with more than {MAX_FILES} files")));
        }
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        let to = if shown.ends_with(LIST) {
            &mut lists
        } else if names_a_trace_file(&shown) {
            &mut traces
        } else if shown.ends_with(".wlt") {
            &mut binary
        } else {
            continue;
        };
        if !entry.path().is_file() {
            continue;
        }
        // A list is text.
        let name =
            name.to_str().ok_or_else(|| wrong(format!("the name of {shown} is not UTF-8")))?;
        to.push(name.to_owned());
    }
    // The ungrouped form of a trace stays beside the grouped one.
    let grouped: Vec<String> =
        traces.iter().map(|name| name.replacen(".traceg", ".trace", 1)).collect();
    let is_twice = |name: &String| {
        !name.contains(".traceg") && grouped.iter().filter(|other| *other == name).count() > 1
    };
    let mut names: Vec<String> = traces.iter().filter(|name| !is_twice(name)).cloned().collect();
    names.sort_by_cached_key(|name| in_launch_order(name));
    binary.sort();
    match (&lists[..], &names[..], &binary[..]) {
        ([list], ..) => Ok(FolderTraces::File(folder.join(list))),
        ([], [only], []) | ([], [], [only]) => Ok(FolderTraces::File(folder.join(only))),
        ([], [], []) => Err(wrong(format!(
            "a folder without traces; expected a `{LIST}`, or files whose names end in .traceg, .tracez, .trace, \
             .ndjson or .wlt"
        ))),
        ([], names, []) => Ok(FolderTraces::List(names.join("\n") + "\n")),
        ([], _, [first, ..]) => Err(wrong(format!(
            "a folder with binary traces, which no list can name; expected one of them, such as `{first}`"
        ))),
        (lists, ..) => Err(wrong(format!(
            "a folder with several lists of traces; expected one: {}",
            lists.join(", ")
        ))),
    }
}

/// A key that sorts `kernel-10` after `kernel-9`: runs of digits count as numbers.
fn in_launch_order(name: &str) -> Vec<(u64, String)> {
    let mut parts: Vec<(u64, String)> = vec![(0, String::new())];
    let mut was_digit = false;
    for character in name.chars() {
        let is_digit = character.is_ascii_digit();
        if is_digit != was_digit && !was_digit {
            parts.push((0, String::new()));
        }
        was_digit = is_digit;
        let Some((number, text)) = parts.last_mut() else { continue };
        match character.to_digit(10) {
            Some(digit) => *number = number.saturating_mul(10).saturating_add(digit.into()),
            None => text.push(character),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_sorted_as_numbers() {
        let mut names = ["kernel-10.traceg", "kernel-9.traceg", "a.traceg", "kernel-9-2.traceg"];
        names.sort_by_key(|name| in_launch_order(name));
        assert_eq!(names, ["a.traceg", "kernel-9-2.traceg", "kernel-9.traceg", "kernel-10.traceg"]);
    }

    #[test]
    fn a_folder_is_a_list_of_its_traces() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let found = || match traces_in(folder.path()) {
            Ok(FolderTraces::File(file)) => format!("{}", file.display()),
            Ok(FolderTraces::List(list)) => list,
            Err(error) => error.to_string(),
        };
        assert!(found().contains("a folder without traces"));
        for (name, expected) in [
            ("kernel-2.traceg", "kernel-2.traceg"),
            ("kernel-2.trace", "kernel-2.traceg"),
            ("cutracer_kernel_events_1.ndjson", "kernel-2.traceg"),
            ("kernel-10.trace.xz", "kernel-2.traceg\nkernel-10.trace.xz\n"),
            ("notes.xz", "kernel-2.traceg\nkernel-10.trace.xz\n"),
            ("kernelslist.g", "kernelslist.g"),
            ("other.kernelslist.g", "several lists"),
        ] {
            std::fs::write(folder.path().join(name), "")?;
            assert!(found().contains(expected), "{name}: {}", found());
        }
        Ok(())
    }

    #[test]
    fn binary_traces_are_in_no_list() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        for name in ["b.wlt", "kernel-1.traceg", "a.wlt"] {
            std::fs::write(folder.path().join(name), "")?;
        }
        let error = traces_in(folder.path()).err().ok_or("a trace")?;
        assert!(error.to_string().ends_with("such as `a.wlt`"), "{error}");
        Ok(())
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_trace_is_left_out_because_of_its_name() -> Result<(), Box<dyn std::error::Error>> {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("kernel-1.traceg"), "")?;
        std::fs::write(folder.path().join(OsStr::from_bytes(b"kernel-\xff.traceg")), "")?;
        let error = traces_in(folder.path()).err().ok_or("a trace")?;
        assert!(error.to_string().ends_with(".traceg is not UTF-8"), "{error}");
        Ok(())
    }
}
