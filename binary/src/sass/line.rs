//! Classifies single lines of a SASS listing of any tool as a [`Shape`]. `listing` combines them into instructions.

use memchr::memmem;
use warpload_encoding::{Control, Sm, parse_control_prefix};

use super::code::CodeUnit;
use super::error::ListingErrorKind as Kind;

/// Classifies a line of a listing. `unit` is the unit of its code, if it is known.
pub(super) fn classify(text: &str, unit: Option<CodeUnit>) -> Read<Shape<'_>> {
    // A byte order mark may precede the first line.
    let rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let start = text.len() - rest.len();
    let rest = rest.trim_end();
    if !rest.starts_with("/*")
        && let Some(row) = row(text, start)
    {
        return row;
    }
    match rest.as_bytes() {
        [] => Ok(Shape::Blank),
        [b'/', b'*', ..] => commented(text, start, unit),
        [b'.', ..] => Ok(directive(rest)),
        [b'#', ..] => Ok(maxas_header(rest)),
        [b'<', ..] => Ok(block(rest)),
        [b'[', b'B' | b'b', ..] if rest.contains(':') => noted(text, start, unit),
        [b'P', b'A', b'S', b'S', b' ', ..] | [b'F', b'A', b'I', b'L', b' ', ..] => {
            opcode(text, start + "PASS ".len())
        }
        _ if is_maxas_notation(rest) => noted(text, start, unit),
        _ => Ok(titled(rest)),
    }
}

/// Whether this line ends a block of maxas.
pub(super) fn ends_block(text: &str, name: &str) -> bool {
    let rest = text.trim_start().strip_prefix("</").and_then(|rest| rest.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with('>'))
}

/// Classifies a line that begins with a comment: an offset and an instruction, a word alone, or only a
/// comment.
fn commented(text: &str, start: usize, unit: Option<CodeUnit>) -> Read<Shape<'_>> {
    let (content, end) = comment(text, start);
    if is_word(content) {
        let word = word(text, start, content, end)?;
        return match end.map(|end| skip_space(text, end)) {
            Some(end) if !ends_line(&text[end..]) => fault(end, Kind::TrailingText),
            _ => Ok(Shape::Word(word)),
        };
    }
    // Offsets are padded with zeroes to four digits, which distinguishes them from comments such as `a` or `be`.
    let like_offset = content.starts_with(|c: char| c.is_ascii_digit()) && !content.contains(' ')
        || content.len() >= 4 && is_hexadecimal(content);
    let Some(end) = end else {
        let cut = like_offset || content.is_empty();
        return if cut { fault(start, Kind::UnclosedComment) } else { Ok(Shape::Other) };
    };
    if !like_offset {
        return Ok(Shape::Other);
    }
    let offset = offset(text, start, content)?;
    instruction(text, end, Some((offset, unit)), None)
}

/// Classifies a row of `warpload decode` of SM 5.x or 6.x: `[* ][FILE  ]FUNCTION  0xOFFSET  0xWORD  [CONTROL  ]TEXT` and
/// possibly a source line, or that the word is illegal; `None` for other lines.
fn row(text: &str, start: usize) -> Option<Read<Shape<'_>>> {
    let digits = |column: &str, count| {
        let digits = column.trim_end().strip_prefix("0x")?;
        hexadecimal(digits).filter(|_| (4..=count).contains(&digits.len()))
    };
    let (mut function, mut at) = (None, start);
    let (function, offset) = loop {
        let (column, rest) = text[at..].split_once("  ")?;
        if let (Some(function), Some(offset)) = (function, digits(column, 16)) {
            at = text.len() - rest.len();
            break (function, offset);
        }
        function = Some(column.trim_start_matches("* "));
        at = text.len() - rest.len();
    };
    let word = text[at..].get(..18)?;
    let word = digits(word, 16).filter(|_| word.trim_end().len() == 18)?;
    at += 18;
    if !text[at..].is_empty() && !text[at..].starts_with("  ") {
        return None;
    }
    let (control, length) = match parse_control_prefix(&text[at..]) {
        Ok(prefix) => prefix,
        Err(error) => return Some(fault(at + error.span.start, Kind::Control(error))),
    };
    let begin = skip_space(text, at + length);
    let mut body = text[begin..].trim_end();
    if body.starts_with("illegal (") || body.starts_with("// ") {
        body = "";
    }
    body = body.find("  // ").map_or(body, |end| &body[..end]);
    body = body.find("  (relocated").map_or(body, |end| &body[..end]).trim_end();
    Some(Ok(Shape::Instruction(InstructionLine {
        function: Some(function),
        offset: Some(offset),
        text: body,
        start: begin,
        word: Some(word),
        control,
        closes_pair: false,
        end: begin + body.len(),
    })))
}

/// Classifies a line that begins with the control notation of maxas or CuAssembler. CuAssembler writes an offset after
/// it.
fn noted(text: &str, start: usize, unit: Option<CodeUnit>) -> Read<Shape<'_>> {
    let (control, length) = parse_control_prefix(&text[start..])
        .map_err(|error| Fault { at: start + error.span.start, kind: Kind::Control(error) })?;
    let at = skip_space(text, start + length);
    if !text[at..].starts_with("/*") {
        return instruction(text, at, None, control);
    }
    let (content, end) = comment(text, at);
    let Some(end) = end else { return fault(at, Kind::UnclosedComment) };
    let offset = offset(text, at, content)?;
    instruction(text, end, Some((offset, unit)), control)
}

/// Whether the line begins with a notation such as `--:-:-:-:1`: two digits or dashes, and more than one colon. Accepts
/// mistyped ones, so that they are reported rather than skipped.
fn is_maxas_notation(line: &str) -> bool {
    let first = line.split_ascii_whitespace().next().unwrap_or_default();
    let digit = |byte: u8| byte == b'-' || byte.is_ascii_hexdigit();
    let [high, low, b':', rest @ ..] = first.as_bytes() else { return false };
    digit(*high) && digit(*low) && rest.contains(&b':')
}

/// The kind of a line, with its content.
#[derive(Debug, PartialEq)]
pub(super) enum Shape<'l> {
    /// Only white space.
    Blank,
    /// Skipped: comments, directives, data.
    Other,
    /// A label, without its colon.
    Label(&'l str),
    /// A function begins; `None` for a section that is not one.
    Function(Option<&'l str>),
    /// The registers per thread of the function.
    Registers(u8),
    /// The SM version of the code.
    Sm(NamedSm),
    /// `.headerflags`: the SM version without its letter, which can be in another line.
    Flags(NamedSm),
    /// `.target`: the SM version, unless the directive belongs to PTX.
    Target(NamedSm),
    /// PTX begins.
    Ptx,
    /// A block of maxas without instructions begins.
    Block(&'l str),
    /// A word alone in a line: a control word, or all or half of the word of the instruction above.
    Word(u64),
    /// An instruction.
    Instruction(InstructionLine<'l>),
}

/// An SM version in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedSm {
    /// Ten times the major number plus the minor number.
    pub(super) number: u32,
    /// `None` if it is unknown.
    pub(super) known: Option<Sm>,
}

/// The parts of a line with an instruction.
#[derive(Debug, PartialEq)]
pub(super) struct InstructionLine<'l> {
    /// The function, if the line names it: `-` for none.
    pub(super) function: Option<&'l str>,
    pub(super) offset: Option<u64>,
    pub(super) text: &'l str,
    /// The byte of the line at which the text begins.
    pub(super) start: usize,
    /// The word, or the first half of it.
    pub(super) word: Option<u64>,
    pub(super) control: Option<Control>,
    /// A dual-issued pair ends here, so its word is in a line of its own.
    pub(super) closes_pair: bool,
    /// The byte of the line after the instruction, where its word is expected.
    pub(super) end: usize,
}

/// A syntax error, with the byte of the line.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

pub(super) type Read<T> = Result<T, Fault>;

pub(super) fn fault<T>(at: usize, kind: Kind) -> Read<T> {
    Err(Fault { at, kind })
}

/// The trimmed content of the comment at `start`, and the byte after it; `None` for an unterminated one.
pub(super) fn comment(text: &str, start: usize) -> (&str, Option<usize>) {
    let content = &text[start + 2..];
    match memmem::find(content.as_bytes(), b"*/") {
        Some(length) => (content[..length].trim(), Some(start + 2 + length + 2)),
        None => (content.trim(), None),
    }
}

fn is_word(content: &str) -> bool {
    content.starts_with("0x") || content.starts_with("0X")
}

/// Parses the word in a comment that begins with `0x`.
pub(super) fn word(text: &str, start: usize, content: &str, end: Option<usize>) -> Read<u64> {
    let at = skip_space(text, start + 2);
    if end.is_none() {
        return fault(start, Kind::UnclosedComment);
    }
    parse_word(content).ok_or(Fault { at, kind: Kind::BadWord })
}

fn parse_word(text: &str) -> Option<u64> {
    hexadecimal(text.get(2..).filter(|digits| digits.len() == 16)?)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Parses digits alone: `from_str_radix` would accept a sign too.
fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal(digits))
}

/// Parses the offset in a comment.
pub(super) fn offset(text: &str, start: usize, content: &str) -> Read<u64> {
    let at = skip_space(text, start + 2);
    let offset = hexadecimal(content).filter(|_| (4..=16).contains(&content.len()));
    offset.ok_or(Fault { at, kind: Kind::BadOffset })
}

/// Whether the rest of the line is empty or a line comment.
fn ends_line(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with("//") || rest.starts_with('#')
}

fn skip_space(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

/// Classifies `code for sm_50` and `Function : NAME` of cuobjdump.
fn titled(line: &str) -> Shape<'_> {
    if let Some(sm) = line.strip_prefix("code for sm_") {
        return named_sm(sm).map_or(Shape::Other, Shape::Sm);
    }
    let name = line.strip_prefix("Function").and_then(|rest| rest.trim_start().strip_prefix(':'));
    name.map_or_else(|| label(line), |name| named(name.trim()))
}

/// Classifies a line that may be a label.
fn label(line: &str) -> Shape<'_> {
    match line.strip_suffix(':') {
        Some(name) if !name.is_empty() && !name.contains(char::is_whitespace) => Shape::Label(name),
        _ => Shape::Other,
    }
}

fn named(name: &str) -> Shape<'_> {
    if name.is_empty() { Shape::Other } else { Shape::Function(Some(name)) }
}

/// Classifies the header of a kernel of maxas.
fn maxas_header(line: &str) -> Shape<'_> {
    let Some((key, value)) = line[1..].split_once(':') else { return Shape::Other };
    let value = value.trim();
    match key.trim() {
        "Kernel" => named(value),
        "Arch" => value.strip_prefix("sm_").and_then(named_sm).map_or(Shape::Other, Shape::Sm),
        "RegCnt" => value.parse().map_or(Shape::Other, Shape::Registers),
        _ => Shape::Other,
    }
}

/// Classifies the tag of a maxas block. Blocks of register names, constant names and Perl contain no
/// instructions.
pub(super) fn block(line: &str) -> Shape<'_> {
    let name = &line[1..];
    let name = name.split_once('>').map_or(name, |(name, _)| name);
    let skipped = ["CODE", "REGISTER_MAPPING", "CONSTANT_MAPPING"];
    let closes_here = line.contains("</");
    if skipped.iter().any(|known| name.starts_with(known)) && !closes_here {
        Shape::Block(name)
    } else {
        Shape::Other
    }
}

/// Classifies a line that begins with a dot: directives of nvdisasm and CuAssembler, labels, PTX.
fn directive(line: &str) -> Shape<'_> {
    if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
        return Shape::Function(Some(name));
    }
    let (name, rest) = line.split_at(line.find(char::is_whitespace).unwrap_or(line.len()));
    let rest = rest.trim_start();
    match name {
        ".section" => {
            let name = rest.split_once([',', ' ', '\t']).map_or(rest, |(name, _)| name);
            Shape::Function(name.strip_prefix(".text."))
        }
        ".sectioninfo" => rest
            .split_once("SHI_REGISTERS=")
            .and_then(|(_, number)| u8::try_from(leading_number(number)?).ok())
            .map_or(Shape::Other, Shape::Registers),
        ".headerflags" => header_flags(rest).map_or(Shape::Other, Shape::Flags),
        ".target" => {
            let sm = rest.strip_prefix("sm_").and_then(named_sm);
            sm.map_or(Shape::Other, Shape::Target)
        }
        ".version" => Shape::Ptx,
        _ => label(line),
    }
}

fn header_flags(flags: &str) -> Option<NamedSm> {
    let flags = || flags.split(['"', ' ']);
    // EF_CUDA_VIRTUAL_SM(EF_CUDA_SM50) is the version of the PTX, not of the code.
    let sm = flags().find_map(|flag| flag.strip_prefix("EF_CUDA_SM").and_then(named_sm))?;
    let is_specific = flags().any(|flag| flag == "EF_CUDA_ACCELERATORS");
    if is_specific { named_sm(&format!("{}a", sm.number)) } else { Some(sm) }
}

/// Parses the SM at the start of `text`, with its letter: `90a`.
fn named_sm(text: &str) -> Option<NamedSm> {
    let number = leading_number(text)?;
    let name = text.find(|c: char| !c.is_ascii_alphanumeric()).map_or(text, |end| &text[..end]);
    Some(NamedSm { number, known: name.parse().ok().or_else(|| Sm::new(number)) })
}

fn leading_number(text: &str) -> Option<u32> {
    text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())].parse().ok()
}

/// Reads `PASS 0xWORD 0 0xDIFFERENCE 0 PREDICATE INSTRUCTION; CAPTURES`; `at` is after the first column.
pub(super) fn opcode(text: &str, at: usize) -> Read<Shape<'_>> {
    let at = skip_space(text, at);
    let column = |at: usize| text[at..].find(char::is_whitespace).map_or(text.len(), |l| at + l);
    if !is_word(&text[at..]) {
        return Ok(Shape::Other);
    }
    let word = parse_word(&text[at..column(at)]).ok_or(Fault { at, kind: Kind::BadWord })?;
    let mut start = at;
    for _ in 0..4 {
        start = skip_space(text, column(start));
    }
    let Some(length) = memchr::memchr(b';', &text.as_bytes()[start..]) else {
        return fault(text.trim_end().len(), Kind::MissingEnd);
    };
    let end = start + length + 1;
    let text = text[start..start + length].trim();
    if text.is_empty() {
        return fault(start, Kind::MissingInstruction);
    }
    Ok(Shape::Instruction(InstructionLine {
        function: None,
        offset: None,
        text,
        start,
        word: Some(word),
        control: None,
        closes_pair: false,
        end,
    }))
}

/// Reads `[{] INSTRUCTION ; [}] [/* 0xWORD */] [comment]`, or `INSTRUCTION }` at the end of a pair. Checks the offset
/// against the unit of the code, if that is known.
pub(super) fn instruction(
    text: &str,
    at: usize,
    offset: Option<(u64, Option<CodeUnit>)>,
    control: Option<Control>,
) -> Read<Shape<'_>> {
    let mut start = skip_space(text, at);
    if text[start..].starts_with('{') {
        start = skip_space(text, start + 1);
    }
    // nvdisasm gives offsets to data as well: `/*0004*/ .word 0x10`.
    if text[start..].starts_with('.') {
        return Ok(Shape::Other);
    }
    if let Some((offset, unit)) = offset {
        let is_valid = match unit {
            Some(unit) => unit.has_instruction_at(offset),
            None => offset.is_multiple_of(8),
        };
        if !is_valid {
            let at = text.find("/*").map_or(0, |at| at + 2);
            let unit = unit.unwrap_or(CodeUnit::Bundle);
            return fault(at, Kind::NoInstructionOffset { offset, unit });
        }
    }
    let has_pairs = offset.is_none_or(|(_, unit)| unit != Some(CodeUnit::Word));
    let stop = instruction_end(text, start);
    let mut body = text[start..stop].trim_end();
    let mut end = start + body.len();
    let ended = text[stop..].starts_with(';');
    let mut closes_pair = false;
    if ended {
        end = stop + 1;
    } else if let Some(inner) = body.strip_suffix('}').filter(|_| has_pairs) {
        (body, closes_pair) = (inner.trim_end(), true);
    } else if !body.is_empty() {
        return fault(end, Kind::MissingEnd);
    }
    body = without_slot(without_annotations(without_slot(body)));
    if body.is_empty() {
        return fault(start, Kind::MissingInstruction);
    }
    let Tail { word, has_brace } = tail(text, end, has_pairs && ended && !closes_pair)?;
    closes_pair |= has_brace;
    Ok(Shape::Instruction(InstructionLine {
        function: None,
        offset: offset.map(|(offset, _)| offset),
        text: body,
        start,
        word,
        control,
        closes_pair,
        end,
    }))
}

/// Removes `SLOT 0` or `SLOT 1` from the end. nvdisasm marks the halves of some dual-issued pairs with it.
fn without_slot(body: &str) -> &str {
    let rest = body.strip_suffix(" SLOT 0").or_else(|| body.strip_suffix(" SLOT 1"));
    rest.map_or(body, str::trim_end)
}

/// Removes annotations such as `(*"SpillRefill"*)` and `(*"BRANCH_TARGETS .L_x_1"*)` from the end, because they are
/// nvdisasm's comments on the instruction. Version 13.5 marks spills by default, so loads can have annotations too.
fn without_annotations(body: &str) -> &str {
    let is_annotated = body.ends_with(ANNOTATION_END);
    let start =
        is_annotated.then(|| memmem::find(body.as_bytes(), ANNOTATION.as_bytes())).flatten();
    start.map_or(body, |start| body[..start].trim_end())
}

const ANNOTATION: &str = "(*\"";
const ANNOTATION_END: &str = "\"*)";

/// The rest of a line after an instruction.
struct Tail {
    word: Option<u64>,
    has_brace: bool,
}

/// Reads `[}] [/* 0xWORD */] [comment]` in any order; the brace only if a pair may end.
fn tail(text: &str, end: usize, may_close: bool) -> Read<Tail> {
    let mut found = Tail { word: None, has_brace: false };
    let mut rest = skip_space(text, end);
    while !ends_line(&text[rest..]) {
        if text[rest..].starts_with("/*") {
            let (content, comment_end) = comment(text, rest);
            if is_word(content) {
                let value = word(text, rest, content, comment_end)?;
                if found.word.replace(value).is_some() {
                    return fault(rest, Kind::TrailingText);
                }
            }
            let Some(comment_end) = comment_end else {
                return fault(rest, Kind::UnclosedComment);
            };
            rest = skip_space(text, comment_end);
        } else if text[rest..].starts_with('}') && may_close && !found.has_brace {
            found.has_brace = true;
            rest = skip_space(text, rest + 1);
        } else {
            return fault(rest, Kind::TrailingText);
        }
    }
    Ok(found)
}

/// The end of the instruction that begins at `start`: a `;`, a comment, or the end of the line. Annotations are
/// skipped, because they can contain any of these.
fn instruction_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(length) =
        bytes.get(at..).and_then(|rest| memchr::memchr3(b';', b'/', b'(', rest))
    {
        at += length;
        at += match bytes[at] {
            b'(' => annotation_length(&bytes[at..]).unwrap_or(1),
            b'/' if !matches!(bytes.get(at + 1), Some(b'*' | b'/')) => 1,
            _ => return at,
        };
    }
    bytes.len()
}

/// The length of the annotation at the start of `bytes`.
fn annotation_length(bytes: &[u8]) -> Option<usize> {
    let content = bytes.strip_prefix(ANNOTATION.as_bytes())?;
    let length = memmem::find(content, ANNOTATION_END.as_bytes())?;
    Some(ANNOTATION.len() + length + ANNOTATION_END.len())
}
