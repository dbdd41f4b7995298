//! Tests through the public interface: files of GPU code.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod broken_sass;
#[cfg(feature = "container")]
mod containers;
mod listings;
mod raw_streams;
mod source_lines;
mod statistics;
mod wide_sass;

/// Errors can be sent to another thread, and outlive the input.
#[test]
fn errors_are_send_sync_and_static() {
    fn is_portable<E: std::error::Error + Send + Sync + 'static>() {}
    is_portable::<warpload_binary::lines::LineError>();
    #[cfg(feature = "container")]
    is_portable::<warpload_binary::container::ContainerError>();
    is_portable::<warpload_binary::sass::ListingErrorKind>();
    is_portable::<warpload_binary::sass::SassError>();
}
