//! Tests through the public interface: replays, summaries and their page.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod accelsim;
mod allocator;
mod broken;
mod costs;
mod damage;
mod documentation;
mod errors;
mod parts;
#[path = "../../../trace/tests/it/random.rs"]
mod random;
mod replays;
#[path = "../../../trace/tests/it/samples.rs"]
#[allow(dead_code, reason = "the tests of imports use the rest")]
mod samples;
mod shards;
mod tool_samples;
mod total;

/// Errors can leave a thread, and outlive what they tell of.
#[test]
fn errors_are_send_sync_and_static() {
    fn is_portable<E: std::error::Error + Send + Sync + 'static>() {}
    is_portable::<warpload_replay::MergeError>();
    is_portable::<warpload_replay::PartialError>();
    is_portable::<warpload_replay::ReplayError>();
}
