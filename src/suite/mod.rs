//! What machines and tests are described with (docs/vectors.md): test vectors, memory images, and the
//! JSON that both share; and how vectors are drawn.

mod draft;
pub mod flags;
pub mod generate;
pub mod image;
pub mod json;
pub mod random;
mod recipes;
pub mod vector;
