//! Scheduling in text: `&req`, `&rd`, `&wr` and `?NAME` after an instruction, or the notations of maxas and CuAssembler
//! before it.

use super::cursor::{Cursor, LineSpan, Word, skip_blank};
use super::error::{Expected, ParseError, ParseErrorKind};
use super::operands::uniform_named;
use crate::control::{Control, Schedule, read_cuassembler, read_maxas};
use crate::hidden::HiddenDescriptor;
use crate::operand::{Scoreboard, WaitMask};

/// The annotations of a line; `None` if it lacks them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Annotations {
    pub(crate) wait: Option<WaitMask>,
    pub(crate) read: Option<Scoreboard>,
    pub(crate) write: Option<Scoreboard>,
    pub(crate) schedule: Option<Schedule>,
    /// The batch hint of a 128-bit word.
    pub(crate) batch: Option<u8>,
    /// The PM field of a 128-bit word.
    pub(crate) pm: Option<u8>,
    /// The descriptor that the text of a 128-bit load hides, and the place of its annotation.
    pub(crate) descriptor: Option<(HiddenDescriptor, LineSpan)>,
}

impl Annotations {
    /// Whether any of them affects issue or waiting; PM and the descriptor do not.
    pub(crate) fn schedules(&self) -> bool {
        let Self { wait, read, write, schedule, batch, pm: _, descriptor: _ } = self;
        wait.is_some() || read.is_some() || write.is_some() || schedule.is_some() || batch.is_some()
    }
}

impl Annotations {
    /// Fields without an annotation get their defaults.
    pub(crate) fn control(self) -> Control {
        let default = Control::default();
        let control = Control {
            wait: self.wait.unwrap_or(default.wait),
            read: self.read.unwrap_or(default.read),
            write: self.write.unwrap_or(default.write),
            ..default
        };
        control.with_schedule(self.schedule.unwrap_or(default.schedule()))
    }
}

/// The names of the batch hints from 1 on. `???3` is parsed separately.
pub(crate) const BATCHES: [&str; 5] =
    ["BATCH_START", "BATCH_START_TILE", "???3", "BATCH_END", "BARRIER_EXEMPT"];

impl Cursor<'_> {
    /// Reads annotations in any order; `None` if there are none. `is_wide` allows the annotations of 128-bit words.
    pub(crate) fn annotations(&mut self, is_wide: bool) -> Result<Option<Annotations>, ParseError> {
        let mut found = Annotations::default();
        let mut any = false;
        loop {
            let start = self.start();
            let twice = if self.eat(b'&') {
                let name = self.word(Expected::Annotation)?;
                match AnnotationName::read(name.text()) {
                    Some(AnnotationName::Wait) => {
                        self.expect(b'=')?;
                        found.wait.replace(self.wait_set()?).is_some()
                    }
                    Some(AnnotationName::Read(digits)) => {
                        found.read.replace(self.barrier(digits, name, is_wide)?).is_some()
                    }
                    Some(AnnotationName::Write(digits)) => {
                        found.write.replace(self.barrier(digits, name, is_wide)?).is_some()
                    }
                    None if is_wide && name.is("desc") => {
                        self.expect(b'=')?;
                        let word = self.word(Expected::UniformRegister)?;
                        let descriptor = match word.is("none") {
                            true => HiddenDescriptor::None,
                            false => HiddenDescriptor::Register(uniform_named(word)?),
                        };
                        let span = LineSpan { start, end: self.position() };
                        found.descriptor.replace((descriptor, span)).is_some()
                    }
                    None => return Err(name.error(ParseErrorKind::UnknownAnnotation)),
                }
            } else if self.eat(b'?') {
                self.question(is_wide, &mut found)?
            } else {
                break;
            };
            any = true;
            if twice {
                let span = LineSpan { start, end: self.position() };
                return Err(ParseError { kind: ParseErrorKind::AnnotationTwice, span });
            }
        }
        Ok(any.then_some(found))
    }

    /// Reads the name after `?`; returns whether the line already had one of its kind.
    fn question(&mut self, is_wide: bool, found: &mut Annotations) -> Result<bool, ParseError> {
        if is_wide {
            // `????3` is batch 3.
            let question_marks = (0..3).take_while(|_| self.eat(b'?')).count();
            let is_unknown = question_marks == 3;
            let word = self.word(Expected::Schedule)?;
            if !matches!(question_marks, 0 | 3) {
                return Err(word.error(ParseErrorKind::UnknownSchedule));
            }
            let named = BATCHES.iter().position(|name| word.is(name));
            let batch = if is_unknown { word.is("3").then_some(2) } else { named };
            if let Some(batch) = batch {
                return Ok(found.batch.replace(batch as u8 + 1).is_some());
            }
            let pm = ["PM1", "PM2", "PM3"].iter().position(|name| word.is(name));
            if let Some(pm) = pm.filter(|_| !is_unknown) {
                return Ok(found.pm.replace(pm as u8 + 1).is_some());
            }
            let schedule = Schedule::named(word.text()).filter(|_| !is_unknown);
            let schedule = schedule.ok_or(word.error(ParseErrorKind::UnknownSchedule))?;
            return Ok(found.schedule.replace(schedule).is_some());
        }
        Ok(found.schedule.replace(self.schedule()?).is_some())
    }

    fn schedule(&mut self) -> Result<Schedule, ParseError> {
        let name = self.word(Expected::Schedule)?;
        Schedule::named(name.text()).ok_or(name.error(ParseErrorKind::UnknownSchedule))
    }

    /// Reads `{0,2}`.
    fn wait_set(&mut self) -> Result<WaitMask, ParseError> {
        self.expect(b'{')?;
        let mut mask = 0u64;
        if !self.is_at(b'}') {
            loop {
                mask |= 1 << self.barrier_number()?;
                if !self.eat(b',') {
                    break;
                }
            }
        }
        self.expect(b'}')?;
        Ok(WaitMask::from_bits(mask))
    }

    /// Reads the number after `&rd` or `&wr`: `=N`, or the `digits` at the end of the name itself.
    fn barrier(
        &mut self,
        digits: &str,
        name: Word<'_>,
        is_wide: bool,
    ) -> Result<Scoreboard, ParseError> {
        let number = if digits.is_empty() {
            self.expect(b'=')?;
            let (number, span) = self.number()?;
            // The texts of 128-bit words also name barrier 6.
            if is_wide && number == Some(6) { 6 } else { small_barrier(number, span)? }
        } else {
            let LineSpan { end, .. } = name.span;
            let within = LineSpan { start: end - digits.len(), end };
            small_barrier(Word::of(name.line, within).number()?, within)?
        };
        Ok(Scoreboard::from_bits(number.into()))
    }

    fn barrier_number(&mut self) -> Result<u8, ParseError> {
        let (number, span) = self.number()?;
        small_barrier(number, span)
    }
}

fn small_barrier(number: Option<u64>, span: LineSpan) -> Result<u8, ParseError> {
    match number {
        Some(number @ 0..=5) => Ok(number as u8),
        _ => Err(ParseError { kind: ParseErrorKind::BarrierTooHigh, span }),
    }
}

/// The word after `&`, with the number in it, if any.
enum AnnotationName<'t> {
    Wait,
    Read(&'t str),
    Write(&'t str),
}

impl<'t> AnnotationName<'t> {
    fn read(name: &'t str) -> Option<Self> {
        if name.eq_ignore_ascii_case("req") {
            return Some(Self::Wait);
        }
        let (head, digits) = name.split_at_checked(2)?;
        if digits.starts_with(|first: char| !first.is_ascii_digit()) {
            return None;
        }
        if head.eq_ignore_ascii_case("rd") {
            Some(Self::Read(digits))
        } else if head.eq_ignore_ascii_case("wr") {
            Some(Self::Write(digits))
        } else {
            None
        }
    }
}

/// Parses the annotations of SM 5.x or 6.x from a byte to the end of a line; `None` if there are none.
pub(crate) fn parse_annotations(text: &str, from: usize) -> Result<Option<Control>, ParseError> {
    let mut cursor = Cursor::new(text, from);
    let found = cursor.annotations(false)?.map(Annotations::control);
    if !cursor.is_at_end() && !cursor.eat(b';') {
        return Err(cursor.error(ParseErrorKind::Expected(Expected::End)));
    }
    Ok(found)
}

/// Parses the notation of maxas or CuAssembler before an instruction. Returns the scheduling, or `None` if there is
/// none, and the byte offset of the rest of the line, which is not checked.
///
/// The notations are unambiguous, because no instruction begins with `[` or contains a `:`, and no notation begins with
/// `@` or `L`.
///
/// ```
/// use warpload_encoding::parse_control_prefix;
///
/// let line = "01:-:1:Y:d  @P0 LD R0, [R2];";
/// let (control, start) = parse_control_prefix(line)?;
/// assert_eq!(control.unwrap_or_default().stall.get(), 13);
/// assert_eq!(line[start..].trim_start(), "@P0 LD R0, [R2];");
/// assert_eq!(parse_control_prefix("LD R0, [R2];")?, (None, 0));
/// # Ok::<(), warpload_encoding::ParseError>(())
/// ```
///
/// # Errors
/// Returns [`ParseErrorKind::BadControl`] if the notation is neither, and [`ParseErrorKind::UnclosedComment`] if a
/// comment before it has no end.
pub fn parse_control_prefix(text: &str) -> Result<(Option<Control>, usize), ParseError> {
    let start = skip_blank(text.as_bytes(), 0)
        .map_err(|span| ParseError { kind: ParseErrorKind::UnclosedComment, span })?;
    let rest = &text[start..];
    // Most lines begin with a guard or a load, and no notation does.
    if let [b'@' | b'L' | b'l', ..] = rest.as_bytes() {
        return Ok((None, start));
    }
    let (length, control) = if rest.starts_with('[') {
        // The notation has no spaces, so without its `]` it ends before the first one.
        let end = rest.find(|c: char| c.is_whitespace() || c == ']').unwrap_or(rest.len());
        let length = end + usize::from(rest[end..].starts_with(']'));
        (length, read_cuassembler(&rest[..length]))
    } else {
        // `/` begins a comment, which may follow without a space.
        let length = rest.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(rest.len());
        let word = &rest[..length];
        if !word.contains(':') {
            return Ok((None, start));
        }
        (length, read_maxas(word))
    };
    let span = LineSpan { start, end: start + length };
    match control {
        Some(control) => Ok((Some(control), span.end)),
        None => Err(ParseError { kind: ParseErrorKind::BadControl, span }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_not_digits() {
        assert!(parse_control_prefix("0f:-:-:-:1 NOP").is_ok());
        for notation in ["+f:-:-:-:1", "01:-:+1:-:1", "[B------:R+1:W-:-:S01]"] {
            let error = parse_control_prefix(notation).expect_err(notation);
            assert_eq!(error.kind, ParseErrorKind::BadControl, "{notation}");
        }
    }
}
