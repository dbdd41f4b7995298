//! Reads GPU code from the files that hold it: cubins, fat binaries, libraries, programs, raw streams and listings.
//!
//! - [`sass`]: every instruction of a cubin, a raw stream or a listing, with its function and source line.
//! - `container` (feature `container`): cubins and PTX in fat binaries, libraries and programs.
//! - [`statistics`]: the loads of a function, and remarks on unusual ones.
//! - [`file_kind`]: the kind of a file by its first bytes.
//! - `names` (feature `names`): names of functions, demangled and matched by a pattern.
//! - [`word`]: single instructions as people type and paste them.
//! - [`lines`]: bounded, numbered lines of untrusted text.
//!
//! Reading yields words; callers find the loads among them with [`warpload_encoding`]. This crate decodes words itself to
//! compare them with the texts of a listing and for [`statistics`].

#![forbid(unsafe_code)]

#[cfg(feature = "container")]
pub mod container;
pub mod cubin;
pub mod file_kind;
pub mod lines;
#[cfg(feature = "names")]
pub mod names;
pub mod regular_file;
pub mod sass;
pub mod statistics;
pub mod word;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
