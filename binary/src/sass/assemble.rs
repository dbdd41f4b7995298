//! [`assemble`]: the code of a listing of SM 5.0 to 6.2, with its control words.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use warpload_encoding::control::BUNDLE_BYTES;
use warpload_encoding::{
    Bits, Bundle, Control, MachineWord, ParseError, Sm, Spa5Instruction, Spa5Line, Spa5TextError,
    parse_line,
};

use super::code::SassInstruction;
use super::error::SassError;
use super::{Sass, names_a_load, sm_of, without_relocations};

/// The code of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssembledFunction {
    /// The name; `None` if the listing has none.
    pub name: Option<Arc<str>>,
    /// The bundles, the last one filled with `NOP`.
    pub bundles: Vec<Bundle>,
}

impl AssembledFunction {
    /// Returns the bytes of the code.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.bundles.iter().flat_map(|bundle| bundle.to_bytes()).collect()
    }
}

/// Why a listing could not be assembled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The listing could not be read.
    #[error(transparent)]
    Listing(#[from] SassError),
    /// An instruction could not be assembled.
    #[error("line {line}, column {column} (byte offset {offset}): {kind}")]
    Instruction {
        /// The line, from 1.
        line: u64,
        /// The column in bytes, from 1.
        column: usize,
        /// The offset in the input, in bytes.
        offset: u64,
        /// The text of the instruction.
        text: String,
        /// The reason.
        kind: Box<AssembleErrorKind>,
    },
    /// The listing has no instruction.
    #[error("no instruction to assemble")]
    Empty,
}

/// The kinds of errors in an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleErrorKind {
    /// The code is of another SM.
    #[error("code of SM {0}; whole programs are assembled for SM 5.0 to 6.2 only")]
    Sm(Sm),
    /// An instruction is missing before this one, or its offset is wrong.
    #[error("expected the instruction at offset {expected:#06x} here")]
    Offset {
        /// The offset of the next instruction.
        expected: u64,
    },
    /// There is neither a control word nor a notation.
    #[error("no scheduling: neither a control word before it nor a notation of it")]
    NoScheduling,
    /// There is neither a text nor a word.
    #[error("neither a text nor a word")]
    Nothing,
    /// No line of the function has the label.
    #[error("no label or symbol `{name}` in this function")]
    UnknownLabel {
        /// The label.
        name: String,
    },
    /// The text is no instruction.
    #[error(transparent)]
    Text(Spa5TextError),
    /// The text is of a load, and wrong.
    #[error("{0}")]
    Load(ParseError),
}

/// Assembles a listing. The text of an instruction decides; its word, if the listing has it, supplies what the text does
/// not show, and is taken for an instruction without text. `sm` is for listings that do not name theirs.
///
/// ```
/// use warpload_binary::sass::{Format, assemble, read};
///
/// let listing = "\
/// .text.loop:
/// .L_1:
/// --:-:-:-:1  IADD R0, R0.reuse, R1;
/// --:-:-:Y:5  @P0 BRA `(.L_1);
/// ";
/// let functions = assemble(read(listing.as_bytes(), Format::Detect)?, "61".parse().ok())?;
/// let words = functions[0].bundles[0].to_words();
/// assert_eq!(words[1..3], [0x5c10000000170000, 0xe2400ffffe80000f]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`AssembleError`] with the place of the first mistake.
pub fn assemble<R: BufRead>(
    listing: Sass<R>,
    sm: Option<Sm>,
) -> Result<Vec<AssembledFunction>, AssembleError> {
    let mut functions: Vec<Vec<SassInstruction>> = Vec::new();
    for instruction in listing {
        let mut instruction = instruction?;
        instruction.sm = instruction.sm.or(sm);
        let last = functions.last_mut().filter(|function| {
            let before = function.last().map(|last| (&last.function, last.offset));
            before.is_some_and(|(name, offset)| {
                *name == instruction.function
                    && instruction.offset.is_none_or(|at| offset.is_none_or(|last| last < at))
            })
        });
        match last {
            Some(function) => function.push(instruction),
            None => functions.push(vec![instruction]),
        }
    }
    if functions.is_empty() {
        return Err(AssembleError::Empty);
    }
    functions.iter().map(|function| assemble_function(function)).collect()
}

fn assemble_function(function: &[SassInstruction]) -> Result<AssembledFunction, AssembleError> {
    let mut labels = BTreeMap::new();
    for (instruction, address) in function.iter().zip(addresses()) {
        // Jumps to the first instruction of a bundle go to its control word.
        let is_first = address % BUNDLE_BYTES as u64 == 8;
        let target = if is_first { address - 8 } else { address };
        labels.extend(instruction.labels.iter().map(|name| (&**name, target)));
    }
    let mut bundles: Vec<Bundle> = Vec::with_capacity(function.len().div_ceil(3));
    for (n, (instruction, address)) in function.iter().zip(addresses()).enumerate() {
        let place = |(at, kind): Mistake| AssembleError::Instruction {
            line: instruction.line.unwrap_or(1),
            column: instruction.column.unwrap_or(1) + at,
            offset: instruction.input_offset.unwrap_or(0) + at as u64,
            text: instruction.text.clone().unwrap_or_default(),
            kind: Box::new(kind),
        };
        let (word, control) = one(instruction, address, &labels).map_err(place)?;
        if n % 3 == 0 {
            bundles.push(Bundle::nops());
        }
        if let Some(bundle) = bundles.last_mut() {
            (bundle.words[n % 3], bundle.control[n % 3]) = (word, control);
        }
    }
    let name = function.first().and_then(|first| first.function.clone());
    Ok(AssembledFunction { name, bundles })
}

/// The addresses of instructions: each bundle begins with its control word.
fn addresses() -> impl Iterator<Item = u64> {
    (0_u64..).step_by(8).filter(|address| !address.is_multiple_of(BUNDLE_BYTES as u64))
}

/// A mistake, with the byte of the text.
type Mistake = (usize, AssembleErrorKind);

fn one(
    instruction: &SassInstruction,
    address: u64,
    labels: &BTreeMap<&str, u64>,
) -> Result<(u64, Control), Mistake> {
    let start = |kind| (0, kind);
    let sm = sm_of(instruction).filter(|sm| !sm.has_wide_words());
    let sm = sm.ok_or(start(AssembleErrorKind::Sm(instruction.sm.unwrap_or(Sm::SPA5))))?;
    if instruction.offset.is_some_and(|offset| offset != address) {
        return Err(start(AssembleErrorKind::Offset { expected: address }));
    }
    let word = instruction.word.and_then(MachineWord::narrow);
    let Some(text) = instruction.text.as_deref() else {
        let word = word.ok_or(start(AssembleErrorKind::Nothing))?;
        let control = instruction.control.ok_or(start(AssembleErrorKind::NoScheduling))?;
        return Ok((word, control));
    };
    let known = word.and_then(|word| Spa5Instruction::decode(word, sm));
    let printed = known.map(|known| known.text_at(address).to_string());
    let is_known = |line: &Spa5Line| {
        printed.as_ref().is_some_and(|text| line.instruction.text_at(address).to_string() == *text)
    };
    let parse = |text: &str| Spa5Instruction::parse_line(text, sm, address);
    let line = match Symbol::find(text) {
        None => parse(text).map_err(|error| (error.at, error)),
        Some(symbol) => {
            let label = labels.get(symbol.name).copied();
            let printed = printed.as_deref().unwrap_or_default();
            let of_word = symbol.of_word(printed, label).map(|text| parse(&text));
            let of_word = of_word.flatten().find(is_known);
            // The word decides about a symbol that is no label. Labels begin with a dot.
            let of_word = of_word.filter(|_| label.is_some() || !symbol.name.starts_with('.'));
            match (of_word, label) {
                (Some(line), _) => Ok(line),
                (None, Some(label)) => {
                    let replaced = format!("{}{label:#x}{}", symbol.before, symbol.after);
                    parse(&replaced).map_err(|error| (error.at.min(symbol.before.len()), error))
                }
                (None, None) => {
                    let name = symbol.name.to_owned();
                    return Err((symbol.before.len(), AssembleErrorKind::UnknownLabel { name }));
                }
            }
        }
    };
    let (word, control, reuse) = match line {
        Ok(line) => {
            let word = word.filter(|_| is_known(&line)).unwrap_or(line.instruction.word());
            let control = instruction.control.or(line.control);
            // Flags that no text of this instruction shows stay.
            let shown = line.instruction.shown_reuse().get();
            let others = control.map_or(0, |control| control.reuse.get()) & !shown;
            (word, control, others | line.reuse.get())
        }
        // The parser of loads reads more, and explains more.
        Err((at, error)) if names_a_load(text, sm) => {
            let load = parse_line(text, sm)
                .map_err(|error| (error.span.start, AssembleErrorKind::Load(error)))?;
            let word = load.instruction.word().narrow();
            let word = word.ok_or((at, AssembleErrorKind::Text(error)))?;
            let control = instruction.control.or(load.control);
            (word, control, control.map_or(0, |control| control.reuse.get()))
        }
        Err((at, error)) => return Err((at, AssembleErrorKind::Text(error))),
    };
    let control = control.ok_or(start(AssembleErrorKind::NoScheduling))?;
    Ok((word, Control { reuse: Bits::from_bits(reuse.into()), ..control }))
}

/// A label or another symbol in a text: `` `(NAME) ``, `32@lo(NAME)`, `32@hi(NAME)`.
struct Symbol<'t> {
    before: &'t str,
    name: &'t str,
    after: &'t str,
}

impl<'t> Symbol<'t> {
    fn find(text: &'t str) -> Option<Self> {
        let parts = ["`(", "32@lo(", "32@hi("].into_iter();
        let (before, rest) = parts.filter_map(|part| text.split_once(part)).next()?;
        let (name, after) = rest.split_once(')')?;
        Some(Self {
            before,
            name: name.trim_start_matches('('),
            after: after.trim_start_matches(')'),
        })
    }

    /// The texts with the numbers that the word of the instruction has in place of the symbol. The label of a control
    /// word is also that of the instruction behind it.
    fn of_word<'p>(
        &'p self,
        printed: &'p str,
        label: Option<u64>,
    ) -> impl Iterator<Item = String> + 'p {
        let is_of_number = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let tokens = printed.split(move |c| !is_of_number(c)).filter(|token| !token.is_empty());
        let is_label = move |token: &&str| {
            let number = token.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
            label.is_none_or(|label| {
                number.is_some_and(|number| {
                    let is_control_word = label.is_multiple_of(BUNDLE_BYTES as u64);
                    number == label || is_control_word && number == label + 8
                })
            })
        };
        let replaced = |token| format!("{}{token}{}", self.before, self.after);
        let whole = format!("{}`({}){}", self.before, self.name, self.after);
        let relocated = without_relocations(&whole).filter(|_| label.is_none());
        // An offset of 0 is not printed.
        let without = self.before.strip_suffix('+').map(|before| format!("{before}{}", self.after));
        tokens.filter(is_label).map(replaced).chain(relocated).chain(without)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::{Format, read};

    fn words(listing: &str) -> Result<Vec<u64>, String> {
        let sass = read(listing.as_bytes(), Format::Detect).map_err(|error| error.to_string())?;
        let functions = assemble(sass, "61".parse().ok()).map_err(|error| error.to_string())?;
        let bundles = functions.iter().flat_map(|function| &function.bundles);
        Ok(bundles.flat_map(|bundle| bundle.to_words()).collect())
    }

    const ROW: &str = "  f  0x0008  0x5c10000000270100  --:-:-:-:1  IADD R0, R1, R2\n";

    #[test]
    fn the_text_decides_and_the_word_supplies_the_rest() {
        let first = |row: &str| words(row).map(|words| words[1]);
        assert_eq!(first(ROW), Ok(0x5c10_0000_0027_0100));
        let unread = ROW.replace("0x5c10000000270100", "0x5c10040000270100");
        assert_eq!(first(&unread), Ok(0x5c10_0400_0027_0100));
        assert_eq!(first(&unread.replace("R2\n", "R3\n")), Ok(0x5c10_0000_0037_0100));
        // A word without text.
        let illegal = "* f  0x0008  0xffffffffffffffff  --:-:-:-:1  illegal (no)\n";
        assert_eq!(first(illegal), Ok(u64::MAX));
        // The parser of loads reads more.
        let load = "--:-:-:-:1  LD.64 R4, [R2 + 20], P0;";
        assert_eq!(first(load), Ok(0x80a0_0000_0147_0204));
    }
    #[test]
    fn scheduling_keeps_flags_that_no_text_shows() {
        // The first slot has all reuse flags but 20.
        let control = |text: &str| {
            let listing =
                format!("/* 0x00000000000efff1 */\n/*0008*/ {text} ; /* 0x5c10000000270100 */");
            words(&listing).map(|words| Control::slots(words[0])[0].pack())
        };
        assert_eq!(control("IADD R0, R1.reuse, R2.reuse"), Ok(0xefff1));
        assert_eq!(control("IADD R0, R1, R2.reuse"), Ok(0xcfff1));
        assert_eq!(control("IADD R0, R1, R3"), Ok(0x8fff1));
    }

    #[test]
    fn labels_are_addresses() {
        let jump = |text: &str, word: u64| {
            let (control, offset) = ("/* 0x001f8000fc0007e0 */", "/*0008*/");
            words(&format!(
                ".L_0:\n{control}\n{offset} NOP ; /* 0x50b0000000070f00 */\n\
                 /*0010*/ {text} ; /* {word:#018x} */\n.L_1:\n/*0018*/ NOP ; /* 0x50b0000000070f00 */"
            ))
            .map(|words| words[2])
        };
        let bra = 0xe240_0000_0007_000f_u64;
        let to = |offset: u64| bra | (offset & 0xff_ffff) << 20;
        // The word of an edited jump does not count.
        assert_eq!(jump("BRA `(.L_1)", bra), Ok(bra));
        assert_eq!(jump("BRA `(.L_0)", bra), Ok(to(0xff_ffe8)));
        assert_eq!(jump("BRA `(.L_1)", to(0xff_ffe8)), Ok(bra));
        // A jump behind the control word of a bundle.
        assert_eq!(jump("BRA `(.L_0)", to(0xff_fff0)), Ok(to(0xff_fff0)));
        // A symbol: the word has its number.
        assert_eq!(jump("CAL `(other)", 0xe260_0012_3000_0040), Ok(0xe260_0012_3000_0040));
        assert_eq!(
            jump("MOV32I R2, 32@lo(text)", 0x0100_0012_3007_f002),
            Ok(0x0100_0012_3007_f002)
        );
        assert_eq!(jump("JCAL `(other)", 0xe220_0000_0000_0040), Ok(0xe220_0000_0000_0040));
        let sts = 0xef5c_0000_0007_0003;
        assert_eq!(jump("STS [R0+`((tile + 0x8))], R3", sts), Ok(sts));
        assert_eq!(
            jump("BRA `(.L_2)", bra | 1 << 16),
            Err("line 4, column 14 (byte offset 84): no label or symbol `.L_2` in this function"
                .to_owned())
        );
    }

    #[test]
    fn mistakes_have_places() {
        let error = |listing: &str| words(listing).unwrap_err();
        let text = error("--:-:-:-:1  NOP;\n--:-:-:-:1  IADD R0, R1 R2;");
        assert_eq!(
            text,
            "line 2, column 24 (byte offset 40): no form of the instruction has this here, with what is before it"
        );
        assert!(error("/*0008*/ NOP ;").ends_with("of it"), "{}", error("/*0008*/ NOP ;"));
        let gap = ROW.replace("0x0008", "0x0018");
        assert_eq!(
            error(&gap),
            "line 1, column 46 (byte offset 45): expected the instruction at offset 0x0008 here"
        );
        let wide = error(
            "code for sm_80\n/*0000*/ NOP ; /* 0x0000000000007918 */\n/* 0x000fc00000000000 */",
        );
        assert!(wide.contains("code of SM 80; whole programs"), "{wide}");
        assert!(error("code for sm_61\n").starts_with("no instruction"));
        assert!(error("--:-:-:-:1  LD.E.64 R4, [R2 - -4];").contains("two minus signs"));
    }
}
