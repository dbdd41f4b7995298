//! [`Line`]: one line of CUTracer's NDJSON.

use super::json::{Json, Read};
use crate::import::logs::LaunchId;
use warpload::lane::LANES;
use warpload::text::parse_hexadecimal;

/// The maximum number of words in a value. Of a 32-byte access the tool keeps only the first 16 bytes.
const MAX_WORDS: usize = 4;

/// The kind of a line, with its contents.
pub(super) enum Line {
    /// A kernel's names, shape and instructions, still to be parsed.
    Kernel,
    /// A warp's memory access; the rest is in [`Fields`].
    Memory(AccessRecord),
    /// A line without a memory access.
    Other(Type),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Metadata,
    Addresses,
    Values,
    /// A known type that is skipped.
    Passed,
    Unknown,
}

impl Type {
    fn of(name: &str) -> Self {
        match name {
            "kernel_metadata" => Self::Metadata,
            // CUTracer renamed `mem_trace` to `mem_addr_trace` on 2026-02-02.
            "mem_addr_trace" | "mem_trace" => Self::Addresses,
            "mem_value_trace" => Self::Values,
            "reg_trace" | "opcode_only" | "tma_trace" | "kernel_launch" | "callstack_def" => {
                Self::Passed
            }
            _ => Self::Unknown,
        }
    }
}

/// A memory access, apart from the lists in [`Fields`].
#[derive(Clone, Copy)]
pub(super) struct AccessRecord {
    pub(super) launch: LaunchId,
    pub(super) cta: [u32; 3],
    /// The warp's number in the grid.
    pub(super) warp: u32,
    pub(super) pc: u32,
    pub(super) opcode: Opcode,
    /// NVBit's number of the memory space.
    pub(super) memory_space: Option<u64>,
    /// The access size in bytes, if the access has values.
    pub(super) size: Option<u32>,
}

/// The instruction's opcode or number, with its place in the line.
#[derive(Clone, Copy)]
pub(super) enum Opcode {
    /// By its text.
    Sass(usize),
    /// By its number in the table of the kernel.
    Number(u32, usize),
}

/// The lists of a line. Reused, because they are large.
pub(super) struct Fields {
    pub(super) addresses: [u64; LANES],
    /// The words of lane 0, then of lane 1, and so on.
    values: [u32; LANES * MAX_WORDS],
    /// The number of words per lane.
    words: usize,
}

impl Default for Fields {
    fn default() -> Self {
        Self { addresses: [0; LANES], values: [0; LANES * MAX_WORDS], words: 0 }
    }
}

/// A key's value or its error, which counts only if the line's type needs the key.
type Value<T> = Option<Read<T>>;

/// The keys of a record.
#[derive(Default)]
struct Keys {
    name: Value<Type>,
    size: Value<u32>,
    addresses: Value<()>,
    values: Value<()>,
    context: Value<Option<u64>>,
    launch: Value<u64>,
    cta: Value<[u32; 3]>,
    warp: Value<u32>,
    pc: Value<u32>,
    number: Value<u32>,
    number_at: usize,
    sass: Value<usize>,
    memory_space: Value<u64>,
}

impl Fields {
    pub(super) fn read(&mut self, text: &str) -> Read<Line> {
        let (mut json, mut keys) = (Json::new(text), Keys::default());
        if json.passes(0) {
            json.at -= 1;
            return json
                .wrong("a byte of zeros in the text, which some versions of CUTracer wrote");
        }
        let start = json;
        json.object(|json, key| match key {
            b"type" => value(json, key, &mut keys.name, |json| Ok(Type::of(&json.text()?))),
            b"addrs" => value(json, key, &mut keys.addresses, |json| self.read_addresses(json)),
            b"access_size" => value(json, key, &mut keys.size, size),
            b"values" => {
                let size = keys.size.as_ref().and_then(|size| size.as_ref().ok()).copied();
                value(json, key, &mut keys.values, |json| self.read_values(json, size))
            }
            b"grid_launch_id" => value(json, key, &mut keys.launch, Json::number),
            b"cta" => value(json, key, &mut keys.cta, three),
            b"warp" => value(json, key, &mut keys.warp, small),
            b"pc" => value(json, key, &mut keys.pc, program_counter),
            b"opcode_id" => {
                keys.number_at = json.at;
                value(json, key, &mut keys.number, small)
            }
            b"sass" => value(json, key, &mut keys.sass, |json| {
                let at = json.at;
                json.skip().map(|()| at)
            }),
            b"ctx" => value(json, key, &mut keys.context, context),
            b"mem_space" => value(json, key, &mut keys.memory_space, Json::number),
            _ => json.skip(),
        })?;
        json.end()?;
        let Some(name) = keys.name.take() else { return start.wrong("no key `type`") };
        match name? {
            Type::Metadata => Ok(Line::Kernel),
            name @ (Type::Addresses | Type::Values) => {
                self.access(keys, name == Type::Values, start).map(Line::Memory)
            }
            other => Ok(Line::Other(other)),
        }
    }

    /// Assembles an access from its keys.
    fn access(&self, keys: Keys, is_valued: bool, start: Json<'_>) -> Read<AccessRecord> {
        needed(keys.addresses, start, "no key `addrs`")?;
        let size = if is_valued {
            needed(keys.values, start, "no key `values`")?;
            let size = needed(keys.size, start, "no key `access_size`")?;
            if self.words != words(size) {
                return start.wrong(format!(
                    "`values` has {} words a lane; expected {} for an `access_size` of {size}",
                    self.words,
                    words(size)
                ));
            }
            Some(size)
        } else {
            None
        };
        let number = keys.number.transpose()?.map(|number| Opcode::Number(number, keys.number_at));
        let sass = keys.sass.transpose()?.map(Opcode::Sass);
        let Some(opcode) = sass.or(number) else {
            return start.wrong("no key `opcode_id` and no `sass`");
        };
        Ok(AccessRecord {
            launch: LaunchId {
                context: keys.context.transpose()?.flatten(),
                number: needed(keys.launch, start, "no key `grid_launch_id`")?,
            },
            cta: needed(keys.cta, start, "no key `cta`")?,
            warp: needed(keys.warp, start, "no key `warp`")?,
            pc: needed(keys.pc, start, "no key `pc`")?,
            opcode,
            memory_space: keys.memory_space.transpose()?,
            size,
        })
    }

    pub(super) fn values(&self) -> &[u32] {
        self.values.get(..LANES * self.words).unwrap_or_default()
    }

    #[inline]
    fn read_addresses(&mut self, json: &mut Json<'_>) -> Read<()> {
        let (from, mut count) = (*json, 0);
        if json.numbers(&mut self.addresses) {
            return Ok(());
        }
        *json = from;
        json.array(|json, lane| {
            let address = json.number()?;
            count = lane + 1;
            match self.addresses.get_mut(lane) {
                Some(place) => *place = address,
                None => return json.wrong("more than 32 addresses"),
            }
            Ok(())
        })?;
        if count == LANES {
            return Ok(());
        }
        from.wrong(format!("{count} addresses; expected 32"))
    }

    /// Reads the values of an access of that size. Without a size, the first lane determines the number of words.
    fn read_values(&mut self, json: &mut Json<'_>, size: Option<u32>) -> Read<()> {
        let (from, mut expected, mut lanes) = (*json, size.map(words), 0);
        json.array(|json, lane| {
            if lane == LANES {
                return json.wrong("values of more than 32 lanes");
            }
            let (from, most, mut count) = (*json, expected.unwrap_or(MAX_WORDS), 0);
            json.array(|json, word| {
                let value = small(json)?;
                if let Some(place) = self.values.get_mut(lane * most + word) {
                    *place = value;
                }
                count = word + 1;
                Ok(())
            })?;
            let expected = *expected.get_or_insert(count.min(MAX_WORDS));
            if count != expected {
                return from.wrong(format!("a value of {count} words; expected {expected}"));
            }
            lanes = lane + 1;
            Ok(())
        })?;
        self.words = expected.unwrap_or_default();
        if lanes == LANES {
            return Ok(());
        }
        from.wrong(format!("values of {lanes} lanes; expected 32"))
    }
}

/// The number of words per lane in the values of an access of that many bytes.
pub(super) fn words(size: u32) -> usize {
    MAX_WORDS.min(size.div_ceil(4) as usize)
}

/// Reads a key's value. Skips an invalid value or a second one and stores the error, which may not matter for the line.
#[inline]
fn value<'t, T>(
    json: &mut Json<'t>,
    key: &[u8],
    to: &mut Value<T>,
    read: impl FnOnce(&mut Json<'t>) -> Read<T>,
) -> Read<()> {
    let from = *json;
    if to.is_some() {
        *to = Some(twice(&from, key));
        return json.skip();
    }
    let read = read(json);
    if read.is_err() {
        *json = from;
        if json.skip().is_err() {
            return read.map(drop);
        }
    }
    *to = Some(read);
    Ok(())
}

/// The error for a repeated key.
#[cold]
pub(super) fn twice<T>(json: &Json<'_>, key: &[u8]) -> Read<T> {
    json.wrong(format!("duplicate key `{}`", String::from_utf8_lossy(key)))
}

/// Reads a context; `None` if its form differs from CUTracer's.
fn context(json: &mut Json<'_>) -> Read<Option<u64>> {
    let from = *json;
    json.skip()?;
    let digits =
        from.until(json).trim().strip_prefix("\"0x").and_then(|text| text.strip_suffix('"'));
    Ok(digits.and_then(parse_hexadecimal))
}

fn needed<T>(value: Value<T>, start: Json<'_>, message: &'static str) -> Read<T> {
    value.unwrap_or_else(|| start.wrong(message))
}

/// Reads a whole number of at most 32 bits.
#[inline]
fn small(json: &mut Json<'_>) -> Read<u32> {
    let from = *json;
    match u32::try_from(json.number()?) {
        Ok(number) => Ok(number),
        Err(_) => from.wrong("a number of more than 32 bits"),
    }
}

fn size(json: &mut Json<'_>) -> Read<u32> {
    let from = *json;
    match json.number()? {
        size @ (1 | 2 | 4 | 8 | 16 | 32) => Ok(size as u32),
        _ => from.wrong("expected 1, 2, 4, 8, 16 or 32 bytes"),
    }
}

/// Reads an array of three numbers.
pub(super) fn three(json: &mut Json<'_>) -> Read<[u32; 3]> {
    let (from, mut numbers, mut count) = (*json, [0; 3], 0);
    json.array(|json, i| {
        let number = small(json)?;
        count = i + 1;
        numbers.iter_mut().skip(i).take(1).for_each(|place| *place = number);
        Ok(())
    })?;
    if count == 3 { Ok(numbers) } else { from.wrong("expected three numbers") }
}

fn program_counter(json: &mut Json<'_>) -> Read<u32> {
    let from = *json;
    let text = json.text()?;
    let number = text.strip_prefix("0x").and_then(parse_hexadecimal);
    match number.and_then(|number| u32::try_from(number).ok()) {
        Some(pc) => Ok(pc),
        None => from.wrong("expected a hexadecimal number of at most 32 bits, as \"0x1f0\""),
    }
}

/// The opcode in an instruction's text: the first word after the guards.
pub(super) fn opcode(sass: &str) -> Option<&str> {
    let mut words = sass.split_whitespace();
    let word = words.find(|word| !word.starts_with('@'))?.trim_end_matches(';');
    word.starts_with(|first: char| first.is_ascii_uppercase()).then_some(word)
}

/// Whether the first register in an instruction's text is `RZ`, so that the loaded value is dropped.
pub(super) fn keeps_nothing(sass: &str) -> bool {
    let mut operands = sass.split([',', ' ', ';']);
    operands.find(|operand| register(operand)).is_some_and(|operand| operand.starts_with("RZ"))
}

/// Whether an operand is a register rather than an opcode or an address.
fn register(operand: &str) -> bool {
    let name = operand.strip_prefix('R').unwrap_or_default();
    name.starts_with(|first: char| first == 'Z' || first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_come_after_guards() {
        for (sass, word, is_void) in [
            ("LDG.E R4, [R2.64] ;", Some("LDG.E"), false),
            ("@!P1 LDG.E.64 RZ, desc[UR4][R2.64] ;", Some("LDG.E.64"), true),
            ("@P0 @UP0 RED.E.ADD [RZ], R3", Some("RED.E.ADD"), false),
            ("EXIT;", Some("EXIT"), false),
            ("@P0 ;", None, false),
            ("@P0 [R9], R2 ;", None, false),
            ("- R4", None, false),
            ("", None, false),
        ] {
            assert_eq!((opcode(sass), keeps_nothing(sass)), (word, is_void), "{sass}");
        }
    }
}
