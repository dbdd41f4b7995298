//! What machines and tests are described with (docs/vectors.md): test vectors, memory images, and the
//! JSON that both share.

pub mod image;
pub mod json;
pub mod vector;
