//! Emulates GPU load instructions from their machine code.

#![deny(unsafe_code)]

pub mod explain;
#[cfg(feature = "json")]
pub mod image;
#[cfg(feature = "json")]
mod json;
pub mod lane;
pub mod lines;
pub mod load;
pub mod machine;
pub mod memory;
pub mod sass;
#[cfg(feature = "json")]
pub mod vector;
pub mod warp;

#[cfg(feature = "json")]
pub use json::JsonError;

pub use warpload_encoding as encoding;
