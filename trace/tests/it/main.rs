//! Tests through the public interface: imports and the binary form.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod compressed;
mod content_hash;
mod cutracer;
mod documentation;
mod import;
mod import_errors;
mod import_pieces;
mod mem_trace;
mod random;
mod round_trip;
#[allow(dead_code, reason = "the tests of replays use the rest")]
mod samples;
mod truncated;

/// Errors can leave a thread, and outlive what they tell of.
#[test]
fn errors_are_send_sync_and_static() {
    fn is_portable<E: std::error::Error + Send + Sync + 'static>() {}
    is_portable::<warpload_trace::ImportError>();
    is_portable::<warpload_trace::TraceError>();
}
