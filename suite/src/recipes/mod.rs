//! Recipes: what makes a draft show a flag. They are named after the flags, most of them; those that only
//! choose a form are in the [table](super::flags).

pub(crate) mod addresses;
pub(crate) mod memory;
pub(crate) mod registers;
pub(crate) mod warp;
