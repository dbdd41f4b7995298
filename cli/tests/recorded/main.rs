//! Outputs of the command as they are recorded, in `cli/tests/cmd/` and in the documents: `cargo xtask goldens` renews
//! them. A program of their own, because trycmd runs commands in the folder of the process.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

mod book;
mod command;
#[path = "../it/common.rs"]
mod common;

/// Both tests choose the folder of the process: one at a time.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static FOLDER: std::sync::Mutex<()> = std::sync::Mutex::new(());
    FOLDER.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
