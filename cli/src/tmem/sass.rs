//! `LDTM`: loads of Tensor Memory in SASS.

use warpload::encoding::{Instruction, LoadParts, Sm};
use warpload_ptx::tensor::{Half, ReductionOperation, SassTensorError, SassTensorLoad};

use crate::diagnostic;
use crate::word::{ORIGIN, read_load};

/// Reads the word or text of an `LDTM`; reports what is wrong if it is none.
pub(super) fn read(text: &str, sm: Sm) -> Option<(Instruction, SassTensorLoad)> {
    let load = read_load(ORIGIN, text, Some(sm))?;
    let tensor = SassTensorLoad::new(&load)
        .map_err(|error| diagnostic::error(format_args!("{load}: {error}")));
    Some((load, tensor.ok()?))
}

/// Returns the names of the data registers, `R4` and those after it; what is wrong if there are not
/// as many.
pub(super) fn registers(load: &SassTensorLoad) -> Result<Vec<String>, String> {
    let (first, count) = (usize::from(load.destination.number()), load.load.registers());
    if first + count > 255 {
        let last = first + count - 1;
        return Err(format!("it writes R{first}..R{last}; the last register is R254"));
    }
    Ok((first..first + count).map(|number| format!("R{number}")).collect())
}

/// Returns the remarks on an `LDTM`, and what it does in one sentence; `None` for any other load.
pub(crate) fn explanation(load: &Instruction) -> Option<(Vec<String>, String)> {
    let tensor = match SassTensorLoad::new(load) {
        Ok(tensor) => tensor,
        Err(SassTensorError::Other(_)) => return None,
        Err(error) => {
            return Some((vec![error.to_string()], format!("Nothing is loaded: {error}.")));
        }
    };
    let mut remarks = vec![match tensor.half {
        None => format!("it is the load of PTX `{}`", tensor.load),
        Some(Half::First) => {
            format!("it is the first half of `{}`, for threads 0 to 15", tensor.load)
        }
        Some(Half::Second) => {
            format!("it is the second half of `{}`, for threads 16 to 31", tensor.load)
        }
    }];
    let names = registers(&tensor);
    if let Err(error) = &names {
        remarks.push(error.clone());
    }
    if tensor.load.needs_even_column() {
        remarks.push("hardware is known, or assumed, to require an even column".to_owned());
    }
    remarks.push(format!(
        "`warpload tmem map --sm {} {}` shows which thread and register each cell goes to",
        load.sm(),
        load.word()
    ));
    Some((remarks, effect(&load.parts(), &tensor, names.ok().as_deref())))
}

fn effect(parts: &LoadParts, tensor: &SassTensorLoad, names: Option<&[String]>) -> String {
    let guard = parts.guard;
    let warp = match (guard.pred.is_true(), guard.negated) {
        (true, true) => return "The guard is never true: nothing is loaded.".to_owned(),
        (true, false) => "The warp loads".to_owned(),
        (false, false) => format!("If U{} is true, the warp loads", guard.pred),
        (false, true) => format!("If U{} is false, the warp loads", guard.pred),
    };
    let (lanes, columns) = (tensor.load.shape().lanes(), tensor.load.columns());
    let into = match names {
        Some([only]) => format!(" into {only} of "),
        Some([first, .., last]) => format!(" into {first}..{last} of "),
        _ => ", a register each, for ".to_owned(),
    };
    let threads = tensor.threads();
    let threads = match tensor.half {
        None => "each thread".to_owned(),
        Some(_) => format!("threads {} to {}", threads.start, threads.end - 1),
    };
    let columns = crate::name::plural(columns, "column");
    let reduced = tensor.reduced.zip(tensor.load.reduction());
    let reduced = reduced.map_or(String::new(), |(register, reduction)| {
        let which = match reduction.operation {
            ReductionOperation::Min => "minimum",
            ReductionOperation::Max => "maximum",
        };
        format!(", and the {which} of each thread's values into {register}")
    });
    format!(
        "{warp} {columns} of {lanes} lanes of Tensor Memory from {}{into}{threads}{reduced}.",
        address(tensor)
    )
}

/// The address: `UR4+0x10`.
pub(super) fn address(tensor: &SassTensorLoad) -> String {
    let SassTensorLoad { address, address_offset, .. } = tensor;
    match (address.is_zero(), address_offset) {
        (true, offset) => format!("{offset:#x}"),
        (false, 0) => address.to_string(),
        (false, offset) => format!("{address}+{offset:#x}"),
    }
}
