//! Tests through the public interface: bits and text.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod accepted;
mod common;
mod corpus;
mod facts;
mod fields;
mod hidden;
mod interface;
mod load_sm70;
mod refused;
mod spa5;
mod words128;
