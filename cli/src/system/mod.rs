//! What differs between operating systems; all else is the same everywhere. `unix/` and `linux.rs` say
//! what those have, `other.rs` and `not_linux.rs` what is done instead.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "not_linux.rs"]
mod linux;
#[cfg(not(unix))]
#[path = "other.rs"]
mod unix;
#[cfg(unix)]
mod unix;

pub(crate) use linux::{is_folder_of_open_files, link, unnamed};
#[cfg(all(test, unix))]
pub(crate) use unix::ending_signals;
pub(crate) use unix::{
    Identity, before_signals_end, check_stdout, is_named_pipe, is_read_only, is_stdout,
    keep_permissions, report_file_size_limit, report_lost, stdin_metadata, stdout_is_closed,
    unbuffered_stdout,
};
