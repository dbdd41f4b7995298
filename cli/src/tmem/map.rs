//! `tmem map`: the thread and register of each cell.

use std::ops::Range;
use std::path::PathBuf;

use anyhow::Context;
use warpload::encoding::Sm;
use warpload::lane::LANES;
use warpload::text::parse_number;
use warpload_ptx::tensor::{CellOffset, Form, IllegalLoadError, Shape, TensorLoad};
use warpload_report::TensorMapDrawing;

use super::sass;
use crate::destination::Destination;
use crate::io::Output;
use crate::options::{Format, write_drawing};
use crate::process::Status;

/// Draw the thread and register that each cell of a load goes to
///
/// Lanes and columns count from the load's address; with .16x32bx2, the second half counts from the address plus the
/// half offset. Colours distinguish threads: four in a row share a hue.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload tmem map 16x256b x4
  warpload tmem map 16x64b x2 --pack --svg packed.svg
  warpload tmem map --sm 100 'LDTM.16dp256bit.x4 R4, tmem[UR4]'")]
pub(crate) struct Arguments {
    /// 16x64b, 16x128b, 16x256b, 32x32b or 16x32bx2; with --sm, the word or text of an LDTM
    #[arg(value_parser = read_drawn)]
    shape: Drawn,

    /// Number of repetitions: x1, x2, x4 and so on up to x128
    #[arg(value_parser = read_num)]
    num: Option<u32>,

    /// Pack two neighbouring 16-bit columns into one register: .pack::16b
    #[arg(long)]
    pack: bool,

    /// SM of the word or text that is given instead of a shape, such as 100 or 103a
    #[arg(long, value_name = "SM", conflicts_with_all = ["num", "pack"])]
    sm: Option<Sm>,

    /// Draw a picture instead, light or dark as its reader prefers; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    svg: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The subject of the drawing: a PTX shape, or a SASS instruction.
#[derive(Clone)]
enum Drawn {
    Shape(Shape),
    /// A word or a text. It is parsed later, when its SM is known.
    Instruction(String),
}

fn read_drawn(text: &str) -> Result<Drawn, String> {
    let name = text.strip_prefix('.').unwrap_or(text);
    let is_shape = name.parse().map(Drawn::Shape);
    // No shape begins with these characters.
    let is_instruction = text.trim().starts_with(['@', 'L']);
    match is_shape {
        Ok(shape) => Ok(shape),
        Err(_) if is_instruction || is_hexadecimal(text.trim()) => {
            Ok(Drawn::Instruction(text.to_owned()))
        }
        Err(_) => Err(format!("expected one of {}", Shape::ALL.map(Shape::name).join(", "))),
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.starts_with("0x")
        || text.starts_with("0X")
        || text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn read_num(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('.').unwrap_or(text);
    let number = number.strip_prefix('x').unwrap_or(number);
    let number = parse_number(number).and_then(|number| number.try_into().ok());
    number.ok_or_else(|| "expected a repeat such as x4".to_owned())
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
    let (load, sass) = match (&arguments.shape, arguments.sm) {
        (Drawn::Shape(shape), None) => match of_shape(*shape, &arguments)? {
            Ok(load) => (load, None),
            Err(illegal) => {
                return Ok(output.fail(Status::Failed, illegal)?);
            }
        },
        (Drawn::Instruction(text), Some(sm)) => match sass::read(text, sm) {
            Some((instruction, tensor)) => (tensor.load, Some((instruction, tensor))),
            None => return Ok(output.raise(Status::Failed)),
        },
        (Drawn::Shape(_), Some(_)) => {
            anyhow::bail!("--sm is only valid with the word or text of an LDTM, not with a shape")
        }
        (Drawn::Instruction(text), None) => anyhow::bail!(
            "{text:?} is no shape; for an instruction of SASS, give its SM: `--sm 100`"
        ),
    };
    let half = sass.as_ref().and_then(|(_, tensor)| tensor.half);
    let drawing = TensorMapDrawing::new(&load, half);
    match (arguments.svg, arguments.format) {
        (Some(file), _) => {
            Destination::new(Some(&file))?.text(&drawing.svg(), output)?;
        }
        (None, Format::Text) => {
            if let Some((instruction, tensor)) = &sass {
                let (address, first) = (tensor.shown_address(), tensor.destination);
                output.line(format_args!(
                    "{instruction}: address {address}, register 0 is {first}"
                ))?;
            }
            write_drawing(output, |is_coloured| drawing.text(is_coloured))?;
        }
        (None, Format::Json) => {
            let threads = sass.map_or(0..LANES, |(_, tensor)| tensor.threads());
            json(&load, threads, output)?;
        }
    }
    Ok(Status::Done)
}

fn of_shape(
    shape: Shape,
    arguments: &Arguments,
) -> anyhow::Result<Result<TensorLoad, IllegalLoadError>> {
    let num = arguments.num.context("a shape needs its repeat: x1, x2, x4 and so on up to x128")?;
    // The offset of the second half does not change the picture.
    let split = (shape == Shape::S16x32bx2).then_some(0);
    Ok(TensorLoad::new(Form { pack: arguments.pack, split, ..Form::plain(shape, num) }))
}

fn json(load: &TensorLoad, threads: Range<usize>, output: &mut Output) -> std::io::Result<()> {
    for thread in threads {
        for register in 0..load.registers() {
            let CellOffset { second_half, lane, column } = load.shape().cell(thread, register);
            let columns = load.memory_columns(column).collect();
            let half = usize::from(second_half);
            output.json(&RegisterJson { thread, register, half, lane, columns })?;
        }
    }
    Ok(())
}
