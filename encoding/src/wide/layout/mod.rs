//! The table: every field of every load of 128 bits, one row a field.
//!
//! A row reads `row(high, low, slot, kind, "name in the documents", "what it decides")`; `.only(…)`
//! names the groups of SMs that have it, `.fixed(…)` the value that it must have. The decoder, the
//! encoder, the descriptions and the tables of docs/load-sm70.md are made from the rows; a test
//! checks that for each group they cover each bit of the word exactly once.
//! Source: docs/load-sm70.md, compared with nvdisasm 12.8 and 13.5.

mod common;
mod constant;
mod memory;
mod other;

pub(super) use self::constant::*;
pub(super) use self::memory::*;
pub(super) use self::other::*;
