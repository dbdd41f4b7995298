//! `tmem map`: which thread and register each cell goes to.

use std::io::stdout;
use std::ops::Range;
use std::path::PathBuf;

use anstream::{AutoStream, ColorChoice};
use warpload::lane::LANES;
use warpload_ptx::tensor::{CellOffset, Form, Shape, Step, TensorLoad};

use super::{grid, picture};
use crate::io::{self, Output};
use crate::output_file::Target;
use crate::{Format, Status, diagnostic};

/// Draw which thread and register each cell of a load goes to
///
/// Lanes and columns are counted from the address of the load; with .16x32bx2, in the second half,
/// from the address plus the half offset. Colours tell threads: four in a row share a hue.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload tmem map 16x256b x4
  warpload tmem map 16x64b x2 --pack --svg packed.svg")]
pub(crate) struct Arguments {
    /// 16x64b, 16x128b, 16x256b, 32x32b or 16x32bx2
    #[arg(value_parser = read_shape)]
    shape: Shape,

    /// How often the shape is repeated: x1, x2, x4 and so on up to x128
    #[arg(value_parser = read_num)]
    num: u32,

    /// Two neighbouring columns, of 16 bits each, make one register: .pack::16b
    #[arg(long)]
    pack: bool,

    /// Draw a picture instead, light or dark as its reader prefers; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    svg: Option<PathBuf>,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn read_shape(text: &str) -> Result<Shape, String> {
    let name = text.strip_prefix('.').unwrap_or(text);
    name.parse().map_err(|_| format!("there are {}", Shape::ALL.map(Shape::name).join(", ")))
}

fn read_num(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('.').unwrap_or(text);
    let number = number.strip_prefix('x').unwrap_or(number);
    number.parse().map_err(|_| "expected a repeat such as x4".to_owned())
}

/// One register, one object a line.
#[derive(serde::Serialize)]
struct RegisterJson {
    thread: usize,
    register: usize,
    half: usize,
    lane: usize,
    columns: Vec<usize>,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { shape, num, pack, .. } = arguments;
    // What the offset is does not change the picture.
    let split = (shape == Shape::S16x32bx2).then_some(0);
    let load = match TensorLoad::new(Form { pack, split, ..Form::plain(shape, num) }) {
        Ok(load) => load,
        Err(illegal) => {
            diagnostic::error(illegal);
            return Ok(Status::Unreadable);
        }
    };
    match (arguments.svg, arguments.format) {
        (Some(file), _) => {
            let svg = picture::svg(&load);
            if io::is_stdin(&file) {
                output.bytes(svg.as_bytes())?;
            } else {
                Target::new(&file)?.write(svg.as_bytes())?;
            }
        }
        (None, Format::Text) => {
            let is_coloured = AutoStream::choice(&stdout()) != ColorChoice::Never;
            output.bytes(grid::text(&load, is_coloured).as_bytes())?;
        }
        (None, Format::Json) => json(&load, output)?,
    }
    Ok(Status::Done)
}

fn json(load: &TensorLoad, output: &mut Output) -> std::io::Result<()> {
    for thread in 0..LANES {
        for register in 0..load.registers() {
            let CellOffset { second_half, lane, column } = load.shape().cell(thread, register);
            let columns = memory_columns(load, column).collect();
            let half = usize::from(second_half);
            output.json(&RegisterJson { thread, register, half, lane, columns })?;
        }
    }
    Ok(())
}

/// The columns of Tensor Memory, from the base, that make this column of registers: one, or two.
pub(super) fn memory_columns(load: &TensorLoad, column: usize) -> Range<usize> {
    let width = width(load);
    column * width..(column + 1) * width
}

/// How many columns of Tensor Memory make a register.
pub(super) fn width(load: &TensorLoad) -> usize {
    if load.is_packed() { 2 } else { 1 }
}

/// A part of a drawing: all lanes of some columns, of registers, of one half.
#[derive(Clone)]
pub(super) struct Panel {
    pub(super) second_half: bool,
    pub(super) columns: Range<usize>,
}

/// The parts of a drawing, each at most `widest` columns of registers wide.
pub(super) fn panels(load: &TensorLoad, widest: usize) -> Vec<Panel> {
    let columns = load.columns() / width(load);
    let mut panels = Vec::new();
    for second_half in [false, true].into_iter().take(load.shape().halves()) {
        for first in (0..columns).step_by(widest) {
            let columns = first..columns.min(first + widest);
            panels.push(Panel { second_half, columns });
        }
    }
    panels
}

impl Panel {
    /// The threads and registers of a lane's cells, from left to right.
    pub(super) fn row(&self, shape: Shape, lane: usize) -> impl Iterator<Item = (usize, usize)> {
        let second_half = self.second_half;
        self.columns
            .clone()
            .map(move |column| shape.owner(CellOffset { second_half, lane, column }))
    }
}

/// The instruction and its size, in one line each.
pub(super) fn headings(load: &TensorLoad) -> [String; 2] {
    let plural = |count, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let size = format!(
        "{} lanes × {}, {} for each of 32 threads",
        load.shape().lanes(),
        plural(load.columns(), "column"),
        plural(load.registers(), "register"),
    );
    let halves = if load.shape().halves() == 2 { "two halves, each " } else { "" };
    [load.to_string(), format!("{halves}{size}")]
}

/// The row of the table of shapes, in words: what bits of threads add, and what those of registers.
pub(super) fn steps(load: &TensorLoad) -> [String; 2] {
    let layout = load.shape().layout();
    let scaled = |step: &Step| match step {
        Step::Columns(columns) => Step::Columns(columns * width(load)).to_string(),
        other => other.to_string(),
    };
    let list = |steps: &[Step]| steps.iter().map(scaled).collect::<Vec<_>>().join(", ");
    let repeat = format!("{} for each repeat", scaled(&Step::Columns(layout.repeat_columns)));
    let registers = match layout.register {
        [] => repeat,
        steps => format!("{}, then {repeat}", list(steps)),
    };
    [
        format!("bits 0 to 4 of the thread move by: {}", list(&layout.thread)),
        format!("bits of the register move by: {registers}"),
    ]
}
