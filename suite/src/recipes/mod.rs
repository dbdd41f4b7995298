//! Recipes: each makes a draft show a flag. Most are named after their flag. Recipes that only choose a form are in the
//! [table](super::flags).

pub(crate) mod addresses;
pub(crate) mod memory;
pub(crate) mod registers;
pub(crate) mod warp;
