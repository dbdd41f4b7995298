//! [`tensor`]: the thread and register that receive each cell of a `tcgen05.ld`.

use serde::{Deserialize, Serialize};
use warpload::text::parse_number;
use warpload_ptx::tensor::{Form, SassTensorLoad, Shape, TensorLoad};
use warpload_report::TensorMapDrawing;

use crate::instruction::read_either;
use crate::problem::{Problem, read_sm};

/// The form.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
#[serde(default)]
pub struct TensorFields {
    /// The shape: `16x256b`.
    pub shape: String,
    /// The repeat: `x4`.
    pub repeat: String,
    /// `on` to pack two 16-bit columns into a register.
    pub pack: String,
    /// The word or text of an LDTM, in place of a shape.
    pub instruction: String,
    /// Its SM.
    pub sm: String,
}

/// The cells of a load.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Tensor {
    /// The thread and register for each cell, as text.
    pub text: String,
    /// The same as a picture.
    pub svg: String,
    /// Errors in the form.
    pub problems: Vec<Problem>,
}

/// Draws the cells of a load from Tensor Memory.
#[must_use]
pub fn tensor(fields: &TensorFields) -> Tensor {
    draw(fields).unwrap_or_else(|problem| Tensor { problems: vec![problem], ..Tensor::default() })
}

fn draw(fields: &TensorFields) -> Result<Tensor, Problem> {
    let (load, half) = if fields.instruction.trim().is_empty() {
        (of_shape(fields)?, None)
    } else {
        let sm = read_sm(&fields.sm)?;
        let instruction = read_either("instruction", &fields.instruction, sm)?.instruction;
        let tensor = SassTensorLoad::new(&instruction);
        let tensor = tensor.map_err(|error| Problem::new("instruction", error))?;
        (tensor.load, tensor.half)
    };
    let drawing = TensorMapDrawing::new(&load, half);
    Ok(Tensor { text: drawing.text(false), svg: drawing.svg(), problems: Vec::new() })
}

fn of_shape(fields: &TensorFields) -> Result<TensorLoad, Problem> {
    let name = fields.shape.trim();
    let shape: Shape = name.strip_prefix('.').unwrap_or(name).parse().map_err(|_| {
        let known = Shape::ALL.map(Shape::name).join(", ");
        Problem::new("shape", format_args!("expected one of {known}"))
    })?;
    let repeat = fields.repeat.trim();
    let repeat = parse_number(repeat.strip_prefix('x').unwrap_or(repeat));
    let repeat = repeat.and_then(|repeat| u32::try_from(repeat).ok());
    let repeat = repeat.ok_or_else(|| Problem::new("repeat", "expected a repeat such as x4"))?;
    // Any offset works, because it does not change the picture.
    let split = (shape == Shape::S16x32bx2).then_some(0);
    let pack = !fields.pack.is_empty();
    TensorLoad::new(Form { pack, split, ..Form::plain(shape, repeat) })
        .map_err(|illegal| Problem::new("repeat", illegal))
}
