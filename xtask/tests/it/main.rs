//! The documents of the repository. Because of these tests, those of the workspace also build the program `xtask`,
//! with the features of the whole workspace: `.ci/run` uses it, instead of building it and the libraries again.
#![allow(clippy::unwrap_used, reason = "a test")]

mod documents;
