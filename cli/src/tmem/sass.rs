//! `LDTM`: loads of Tensor Memory in SASS.

use warpload::encoding::{Instruction, Sm};
use warpload_ptx::tensor::SassTensorLoad;

use crate::diagnostic;
use crate::word::{ORIGIN, read_load};

/// Reads the word or text of an `LDTM`, or reports why it is not one.
pub(super) fn read(text: &str, sm: Sm) -> Option<(Instruction, SassTensorLoad)> {
    let load = read_load(ORIGIN, text, Some(sm))?;
    let tensor = SassTensorLoad::new(&load)
        .map_err(|error| diagnostic::error(format_args!("{load}: {error}")));
    Some((load, tensor.ok()?))
}
