//! Errors can leave a thread and outlive the values that they describe.

use std::error::Error;

use warpload::encoding::{InvalidPred, NotExecutable, ParseError};
use warpload::load::ExecuteError;
use warpload::memory::{ConfigError, OutsideWindow, WriteError};

fn is_portable<E: Error + Send + Sync + 'static>() {}

#[test]
fn errors_are_send_sync_and_static() {
    is_portable::<ConfigError>();
    is_portable::<ExecuteError>();
    is_portable::<InvalidPred>();
    is_portable::<NotExecutable>();
    is_portable::<OutsideWindow>();
    is_portable::<ParseError>();
    is_portable::<WriteError>();
    #[cfg(feature = "json")]
    is_portable::<warpload::json::JsonError>();
}
