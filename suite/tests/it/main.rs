//! Tests through the public interface: vectors, images and cases.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod configuration;
mod flags;
mod generate;
mod h100;
mod images;
mod in_programs;
mod launches;
mod mutants;
mod runner;
mod tally;
mod tensor_cases;
mod vector_errors;
mod vectors;

/// Errors can be sent to another thread, and outlive the input.
#[test]
fn errors_are_send_sync_and_static() {
    fn is_portable<E: std::error::Error + Send + Sync + 'static>() {}
    is_portable::<warpload_suite::image::ImageError>();
}
