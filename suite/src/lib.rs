//! What machines and tests are described with (docs/vectors.md): test vectors, memory images, and the
//! JSON that both share; and how vectors are drawn.

#![deny(unsafe_code)]

mod draft;
pub mod flags;
pub mod generate;
pub mod image;
pub mod json;
pub mod random;
mod recipes;
pub mod vector;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
