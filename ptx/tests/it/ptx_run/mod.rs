//! Executing loads of PTX: cases with their arithmetic beside them, and a byte-by-byte reference.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]

mod accesses;
mod addresses;
mod clang;
mod fixture;
mod lowered;
mod lowered_cases;
mod mutations;
mod property;
mod reference;
mod registers;
mod tensor;
mod undefined;
mod values;
mod variables;
