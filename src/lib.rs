//! Emulates GPU load instructions from their machine code.

pub mod lines;
pub mod sass;

pub use warpload_encoding as encoding;
