//! `LDTM`: loads of Tensor Memory in SASS.

use warpload::encoding::{Instruction, Sm};
use warpload_ptx::tensor::SassTensorLoad;

use crate::io::Output;
use crate::process::Status;
use crate::word::{ORIGIN, read_load};

/// Reads the word or text of an `LDTM`, or reports why it is not one.
pub(super) fn read(
    text: &str,
    sm: Sm,
    output: &mut Output,
) -> anyhow::Result<Result<(Instruction, SassTensorLoad), Status>> {
    let load = match read_load(ORIGIN, text, Some(sm), output)? {
        Ok(load) => load.instruction,
        Err(status) => return Ok(Err(status)),
    };
    match SassTensorLoad::new(&load) {
        Ok(tensor) => Ok(Ok((load, tensor))),
        Err(error) => Ok(Err(output.fail(Status::Failed, format_args!("{load}: {error}"))?)),
    }
}
