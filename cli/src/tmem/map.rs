//! `tmem map`: which thread and register each cell goes to.

use std::io::stdout;
use std::path::PathBuf;

use anstream::{AutoStream, ColorChoice};
use warpload::lane::LANES;
use warpload_ptx::tensor::{CellOffset, Form, Shape, TensorLoad};

use super::drawing::memory_columns;
use super::{grid, picture};
use crate::diagnostic;
use crate::io::{self, Output};
use crate::options::Format;
use crate::output_file::Target;
use crate::status::Status;

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
    name.parse().map_err(|_| format!("expected one of {}", Shape::ALL.map(Shape::name).join(", ")))
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
