//! `tmem map`: the thread and register of each cell.

use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context, anyhow, ensure};
use warpload::encoding::{Instruction, Sm};
use warpload::lane::LANES;
use warpload::text::parse_number;
use warpload_binary::word::{is_word, ptx_opcode};
use warpload_ptx::tensor::{
    CellOffset, Form, SassTensorLoad, Shape, TensorInstruction, TensorLoad,
};
use warpload_report::TensorMapDrawing;

use super::run::illegal;
use super::sass;
use crate::destination::{self, Destination, SVG};
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
    /// 16x64b, 16x128b, 16x256b, 32x32b or 16x32bx2; or an instruction, as `tmem run` takes it: in PTX, or with --sm the
    /// word or text of an LDTM
    #[arg(value_name = "SHAPE|INSTRUCTION")]
    shape: String,

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

/// The load of a shape, or of an instruction of PTX or SASS; with the instruction, if it is of SASS.
type Drawn = (TensorLoad, Option<(Instruction, SassTensorLoad)>);

fn read_drawn(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Result<Drawn, Status>> {
    let Arguments { shape: text, num, pack, sm, .. } = arguments;
    let shape: Result<Shape, _> = text.strip_prefix('.').unwrap_or(text).parse();
    let is_sass = shape.is_err() && (text.trim().starts_with(['@', 'L']) || is_hexadecimal(text));
    if ptx_opcode(text).is_some() {
        ensure!(num.is_none() && !pack && sm.is_none(), "the instruction says all of its form");
        return match TensorInstruction::parse(text) {
            Ok(instruction) => Ok(Ok((instruction.load, None))),
            Err(error) => {
                illegal(text, &error, Format::Text, output)?;
                Ok(Err(output.raise(Status::Unreadable)))
            }
        };
    }
    if is_sass {
        let sm = sm.with_context(|| {
            format!("{text:?} is an instruction of SASS; give its SM: `--sm 100`")
        })?;
        let read = sass::read(text, sm, output)?;
        return Ok(read.map(|(instruction, tensor)| (tensor.load, Some((instruction, tensor)))));
    }
    let shapes = || Shape::ALL.map(Shape::name).join(", ");
    let shape = shape.map_err(|_| {
        anyhow!("{text:?} is not a shape or an instruction; a shape is one of {}", shapes())
    })?;
    ensure!(sm.is_none(), "--sm is only valid with the word or text of an LDTM, not with a shape");
    let num = num.context("a shape needs its repeat: x1, x2, x4 and so on up to x128")?;
    // The offset of the second half does not change the picture.
    let split = (shape == Shape::S16x32bx2).then_some(0);
    let load = TensorLoad::new(Form { pack: *pack, split, ..Form::plain(shape, num) })?;
    Ok(Ok((load, None)))
}

/// Whether a text is meant as a word. A misspelt shape begins with a digit, too.
fn is_hexadecimal(text: &str) -> bool {
    is_word(text) && !text.contains(['x', 'b']) || text.trim().starts_with("0x")
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    arguments.svg.as_deref().map_or(Ok(()), |file| destination::check_name(file, SVG))?;
    let (load, sass) = match read_drawn(&arguments, output)? {
        Ok(drawn) => drawn,
        Err(status) => return Ok(status),
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
