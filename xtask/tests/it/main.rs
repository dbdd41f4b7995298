//! The documents of the repository. With these tests, `cargo test --workspace` also builds the program `xtask`, with
//! the features of the whole workspace, so that `.ci/run` can use it rather than build it and the libraries again.
#![allow(clippy::unwrap_used, reason = "a test")]

mod documents;
