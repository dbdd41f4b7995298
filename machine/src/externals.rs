//! Calls of functions without a body.
//!
//! `__assertfail`, `vprintf`, `malloc` and `free` are parts of every CUDA program, and do here what the CUDA C++
//! Programming Guide says. All other functions are not executed: their results become unknown, and so does the memory
//! that their arguments point to. A new function is a row of [`KNOWN`] and a method of [`Caller`].

use std::collections::HashSet;

use crate::code::{CallOp, Op, Passed};
use crate::engine::Engine;
use crate::fault::{Assertion, FaultKind, MachineFaultKind, PrintfFault};
use crate::launch::LaunchOptions;
use crate::memory::{AllocationUse, FreeError, UNKNOWN, UNWRITTEN};
use crate::printf::{Amount, Conversion, Piece, Printed, Wanted, pieces};
use crate::registers::Origin;
use crate::warp::{Path, Warp, lanes};
use warpload::memory::AddressSpace;

/// The longest text that is read from memory, in bytes.
const MAX_TEXT: usize = 1 << 16;

/// The longest part of an assertion's text that a fault keeps, in bytes. A launch may have a thousand of them.
const MAX_ASSERTED: usize = 1 << 10;

/// The values that a call of `printf` can have; a further conversion is printed as it is written.
const MAX_VALUES: i32 = 32;

/// The text in place of a value that is not known.
const NOT_KNOWN: &[u8] = b"<not known>";

/// A function without a body.
#[derive(Clone, Copy, Debug)]
pub struct External {
    kind: ExternalKind,
    /// Whether its calls do not return.
    is_noreturn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExternalKind {
    AssertFail,
    Printf,
    Malloc,
    Free,
    Unknown,
}

/// The functions that are executed: the name, and the sizes of results and parameters in bytes.
const KNOWN: [(&str, &[u64], &[u64], ExternalKind); 4] = [
    ("__assertfail", &[], &[8, 8, 4, 8, 8], ExternalKind::AssertFail),
    ("vprintf", &[4], &[8, 8], ExternalKind::Printf),
    ("malloc", &[8], &[8], ExternalKind::Malloc),
    ("free", &[], &[8], ExternalKind::Free),
];

impl External {
    /// The function with this name, if the sizes of its results and parameters in bytes are what that name has.
    #[must_use]
    pub fn of(name: &str, returns: &[u64], parameters: &[u64], is_noreturn: bool) -> Self {
        let known =
            KNOWN.iter().find(|known| (known.0, known.1, known.2) == (name, returns, parameters));
        let kind = known.map_or(ExternalKind::Unknown, |known| known.3);
        Self { kind, is_noreturn }
    }
}

impl External {
    /// Whether it takes or gives back memory of the heap.
    pub(crate) fn allocates(self) -> bool {
        matches!(self.kind, ExternalKind::Malloc | ExternalKind::Free)
    }
}

/// Executes a call of a function without a body in the lanes of a mask. Returns the lanes that end.
pub(crate) fn call(
    warp: &mut Warp,
    path: &Path,
    (op, call): (&Op, &CallOp),
    external: External,
    exec: u32,
    engine: &mut Engine<'_>,
) -> u32 {
    let mut frames = Vec::new();
    let mut next = Some(path.frame);
    while let Some(at) = next {
        let frame = &warp.frames[at];
        frames.push((frame.local_base, at));
        next = frame.caller.map(|caller| caller.1);
    }
    frames.reverse();
    let mut caller = Caller { warp, path, op, call, engine, frames };
    let mut ended = 0;
    if external.kind == ExternalKind::Unknown {
        caller.not_executed(exec);
    } else {
        for lane in lanes(exec) {
            let goes_on = match external.kind {
                ExternalKind::AssertFail => caller.assert_fail(lane),
                ExternalKind::Printf => caller.printf(lane),
                ExternalKind::Malloc => caller.malloc(lane),
                ExternalKind::Free => caller.free(lane),
                ExternalKind::Unknown => true,
            };
            ended |= u32::from(!goes_on) << lane;
        }
    }
    if external.is_noreturn { exec } else { ended }
}

/// The reason why bytes in memory have no value.
#[derive(Clone, Copy, Debug)]
enum Lack {
    /// They are in no allocation, or beyond the end of the one where they should be.
    Outside,
    /// They are unknown, or nothing has written them.
    Unknown,
    /// There are too many of them.
    TooLong,
}

struct Caller<'a, 'w, 'e> {
    warp: &'w mut Warp,
    path: &'a Path,
    op: &'a Op,
    call: &'a CallOp,
    engine: &'w mut Engine<'e>,
    /// The frames of the calls around this one, the kernel's first, with the beginning of each in local memory.
    frames: Vec<(u64, usize)>,
}

impl Caller<'_, '_, '_> {
    fn fault(&mut self, kind: MachineFaultKind, lane: usize, address: u64) {
        self.engine.fault(kind, self.op, self.warp.number, lane as u32, address);
    }

    /// The value of an argument, or the reason why it is unknown.
    fn argument(&self, number: usize, lane: usize) -> Result<u64, Option<Origin>> {
        let frame = &self.warp.frames[self.path.frame];
        match *self.call.arguments.get(number).ok_or(None)? {
            Passed::Local { offset, bytes } => {
                let at = self.warp.local.place(lane, frame.local_base + offset);
                let place = at..at + bytes.min(8) as usize;
                let values = self.warp.local.bytes.values.get(place.clone()).ok_or(None)?;
                let flags = self.warp.local.bytes.flags(place);
                match self.engine.origins.of(flags) {
                    Some(origin) => Err(Some(origin)),
                    // Nothing has written the argument.
                    None if flags != 0 => Err(None),
                    None => Ok(little_endian(values)),
                }
            }
            Passed::Register { slot, rows } => match frame.registers.unknown(slot) >> lane & 1 {
                0 => Ok(frame.registers.lane(slot, rows, lane) as u64),
                _ => Err(Some(frame.registers.origin(slot))),
            },
            Passed::Nothing => Err(None),
        }
    }

    /// [`Self::argument`], with a fault if it is unknown.
    fn needed(&mut self, what: &'static str, number: usize, lane: usize) -> Option<u64> {
        let value = self.argument(number, lane);
        if let Err(origin) = value {
            let kind = match origin {
                Some(origin) => FaultKind::UnknownValue { what, cause: origin },
                None => FaultKind::Uninitialized,
            };
            let address = self.argument_address(number);
            self.fault(kind, lane, if origin.is_some() { 0 } else { address });
        }
        value.ok()
    }

    /// The generic address of an argument in local memory.
    fn argument_address(&self, number: usize) -> u64 {
        let base =
            self.engine.memory.map().local().base + self.warp.frames[self.path.frame].local_base;
        match self.call.arguments.get(number) {
            Some(Passed::Local { offset, .. }) => base + offset,
            _ => base,
        }
    }

    /// Writes the result of the call in a lane; `None` makes it unknown.
    fn give(&mut self, value: Option<u64>, lane: usize) {
        let origin = Origin::NotExecuted(self.op.site);
        let lost = self.engine.origins.flags(origin);
        for result in &self.call.returns {
            let frame = &mut self.warp.frames[self.path.frame];
            match *result {
                Passed::Local { offset, bytes } => {
                    let at = self.warp.local.place(lane, frame.local_base + offset);
                    let region = &mut self.warp.local.bytes;
                    let known = bytes.min(8) as usize;
                    if let (Some(value), Some(to)) = (value, region.values.get_mut(at..at + known))
                    {
                        to.copy_from_slice(&value.to_le_bytes()[..known]);
                    }
                    region.mark(at..at + bytes as usize, if value.is_some() { 0 } else { lost });
                }
                Passed::Register { slot, rows } => match value {
                    Some(value) => {
                        frame.registers.set_lane(slot, rows, lane, value.into());
                        frame.registers.know(slot, 1 << lane);
                    }
                    None => frame.registers.forget(slot, 1 << lane, origin),
                },
                Passed::Nothing => {}
            }
        }
    }

    // Memory.

    /// Reads bytes at a generic address.
    fn read(&mut self, address: u64, size: u32, lane: usize) -> Result<u64, Lack> {
        let (mut memories, _) = crate::access::parts(self.warp, self.path, self.engine);
        let found = memories.find(AddressSpace::Generic, address, size, lane);
        let (region, offset) = memories.at(found.map_err(|_| Lack::Outside)?);
        let place = offset..offset + size as usize;
        if region.flags(place.clone()) & (UNKNOWN | UNWRITTEN) != 0 {
            return Err(Lack::Unknown);
        }
        Ok(little_endian(region.values.get(place).unwrap_or_default()))
    }

    /// Reads a text up to its NUL.
    fn text(&mut self, address: u64, lane: usize) -> Result<Vec<u8>, Lack> {
        let mut text = Vec::new();
        loop {
            let byte = self.read(address.wrapping_add(text.len() as u64), 1, lane)?;
            if byte == 0 {
                self.engine.copied(text.len() as u64);
                return Ok(text);
            }
            if text.len() == MAX_TEXT {
                return Err(Lack::TooLong);
            }
            text.push(byte as u8);
        }
    }

    /// The places of the variable of local memory that contains a generic address: its first byte and its end.
    fn local_variable(&self, address: u64) -> Option<(u64, u64)> {
        let window = self.engine.memory.map().local();
        let offset = address.wrapping_sub(window.base);
        if offset >= window.size {
            return None;
        }
        let at = self.frames.partition_point(|known| known.0 <= offset).checked_sub(1)?;
        let (base, frame) = *self.frames.get(at)?;
        let inside = offset - base;
        let locals = &self.engine.code.functions[self.warp.frames[frame].function].locals;
        let place = locals.partition_point(|known| known.0 <= inside).checked_sub(1)?;
        let (start, bytes) = *locals.get(place)?;
        let first = window.base + base + start;
        (inside - start < bytes).then_some((first, first + bytes))
    }

    // Functions.

    /// `__assertfail(expression, file, line, function, size of a character)`. Returns false, because the thread
    /// ends.
    fn assert_fail(&mut self, lane: usize) -> bool {
        let is_of_bytes = self.argument(4, lane).map_or(true, |size| size == 1);
        let mut text = |number: usize| {
            let address = self.argument(number, lane).ok().filter(|_| is_of_bytes)?;
            let mut text = self.text(address, lane).ok()?;
            let is_cut = text.len() > MAX_ASSERTED;
            text.truncate(MAX_ASSERTED);
            let text = String::from_utf8_lossy(&text);
            Some(if is_cut { format!("{text}…") } else { text.into_owned() })
        };
        let (expression, file, function) = (text(0), text(1), text(3));
        let line = self.argument(2, lane).ok().map(|line| line as u32);
        let assertion = Assertion { expression, file, line, function };
        self.fault(FaultKind::Assertion(Box::new(assertion)), lane, 0);
        false
    }

    /// `malloc(bytes)`. Returns false if the lane ends, because the size is not known.
    fn malloc(&mut self, lane: usize) -> bool {
        let Some(bytes) = self.needed("the size of `malloc`", 0, lane) else { return false };
        let LaunchOptions { heap_bytes, checks, .. } = *self.engine.options;
        let allocated =
            self.engine.memory.allocate_on_heap(bytes, heap_bytes, checks.uninitialized);
        if let (Some(races), Some(address)) = (&mut self.engine.races, allocated) {
            races.forget(address, bytes);
        }
        // A heap that is exhausted has no memory: the null pointer.
        self.give(Some(allocated.unwrap_or(0)), lane);
        true
    }

    /// `free(pointer)`. Returns false if the lane ends.
    fn free(&mut self, lane: usize) -> bool {
        let Some(address) = self.needed("the pointer of `free`", 0, lane) else { return false };
        // Of the null pointer, nothing.
        let freed = if address == 0 { Ok(()) } else { self.engine.memory.free_on_heap(address) };
        match freed {
            Ok(()) => {}
            Err(FreeError::Twice) => self.fault(FaultKind::DoubleFree, lane, address),
            Err(FreeError::NotAllocated) => self.fault(FaultKind::InvalidFree, lane, address),
        }
        true
    }

    /// `vprintf(format, buffer)`. The buffer has the values at multiples of their sizes. Returns false if the lane ends.
    fn printf(&mut self, lane: usize) -> bool {
        let Some(format) = self.needed("the format of `vprintf`", 0, lane) else { return false };
        let result = if format == 0 { Some(-1) } else { self.print(format, lane) };
        self.give(result.map(|values| u64::from(values.cast_unsigned())), lane);
        true
    }

    /// Prints, and returns the number of values; `None` if it is not known.
    fn print(&mut self, address: u64, lane: usize) -> Option<i32> {
        let format = match self.text(address, lane) {
            Ok(format) => format,
            Err(lack) => {
                let fault = match lack {
                    Lack::Outside => PrintfFault::NoFormat,
                    Lack::Unknown => PrintfFault::UnknownFormat,
                    Lack::TooLong => PrintfFault::TooLong,
                };
                self.fault(FaultKind::Printf(Box::new(fault)), lane, address);
                return None;
            }
        };
        let mut out = Vec::new();
        let mut values = Values { buffer: None, offset: 0, count: 0, lane };
        let mut result = Ok(());
        let mut has_stars = false;
        for piece in pieces(&format) {
            result = match piece {
                Piece::Text(text) => {
                    out.extend_from_slice(text);
                    Ok(())
                }
                Piece::Wrong(text) => {
                    Err((PrintfFault::Conversion { conversion: shortened(text) }, 0))
                }
                Piece::Conversion(of) if values.count >= MAX_VALUES => {
                    out.extend_from_slice(of.text);
                    Ok(())
                }
                Piece::Conversion(of) => {
                    has_stars |= [of.width, of.precision].contains(&Some(Amount::Argument));
                    self.print_value(&of, &mut values, &mut out)
                }
            };
            if result.is_err() {
                break;
            }
        }
        self.engine.print(&out);
        if let Err((fault, address)) = result {
            // The rest of the buffer cannot be told apart, so the text ends here.
            self.fault(FaultKind::Printf(Box::new(fault)), lane, address);
            return None;
        }
        // Whether the sizes of `*` count as values is not documented.
        (!has_stars).then_some(values.count)
    }

    /// Prints one value.
    fn print_value(
        &mut self,
        of: &Conversion<'_>,
        values: &mut Values,
        out: &mut Vec<u8>,
    ) -> Result<(), (PrintfFault, u64)> {
        let mut amounts = [None; 2];
        let mut is_known = true;
        for (amount, written) in amounts.iter_mut().zip([of.width, of.precision]) {
            if written == Some(Amount::Argument) {
                match self.next_value(values, 4, of)? {
                    Some(bits) if Conversion::fits(bits as i32) => *amount = Some(bits as i32),
                    Some(_) => {
                        return Err((
                            PrintfFault::Conversion { conversion: shortened(of.text) },
                            0,
                        ));
                    }
                    None => is_known = false,
                }
            }
        }
        let [width, precision] = amounts;
        let size = match of.wants() {
            Wanted::Integer { bytes } => bytes,
            Wanted::Float | Wanted::Text => 8,
        };
        let value = self.next_value(values, size, of)?.filter(|_| is_known);
        match value {
            Some(address) if of.wants() == Wanted::Text => match self.text(address, values.lane) {
                Ok(text) => of.write(Printed::Text(&text), width, precision, out),
                Err(Lack::TooLong) => return Err((PrintfFault::TooLong, address)),
                Err(lack) => {
                    out.extend_from_slice(NOT_KNOWN);
                    let conversion = shortened(of.text);
                    let fault = match lack {
                        Lack::Unknown => PrintfFault::UnknownValue { conversion },
                        _ => PrintfFault::NoText { conversion },
                    };
                    self.fault(FaultKind::Printf(Box::new(fault)), values.lane, address);
                }
            },
            Some(bits) => of.write(Printed::Bits(bits), width, precision, out),
            None => out.extend_from_slice(NOT_KNOWN),
        }
        Ok(())
    }

    /// Reads the next value of a buffer. `None` if it is not known, which is a fault already.
    fn next_value(
        &mut self,
        values: &mut Values,
        size: u32,
        of: &Conversion<'_>,
    ) -> Result<Option<u64>, (PrintfFault, u64)> {
        let conversion = || shortened(of.text);
        values.count += 1;
        values.offset = values.offset.next_multiple_of(size.into());
        let buffer = match values.buffer {
            Some(buffer) => buffer,
            None => {
                let buffer = self.needed("the buffer of `vprintf`", 1, values.lane);
                let buffer = buffer
                    .ok_or_else(|| (PrintfFault::UnknownValue { conversion: conversion() }, 0))?;
                *values.buffer.insert(buffer)
            }
        };
        let address = buffer.wrapping_add(values.offset);
        values.offset += u64::from(size);
        // In local memory, the bytes after the variable belong to others.
        let is_inside = self.local_variable(buffer).is_none_or(|(first, end)| {
            address >= first && address.checked_add(size.into()).is_some_and(|last| last <= end)
        });
        let read =
            if is_inside { self.read(address, size, values.lane) } else { Err(Lack::Outside) };
        match read {
            Ok(value) => Ok(Some(value)),
            Err(Lack::Unknown) => {
                let fault = PrintfFault::UnknownValue { conversion: conversion() };
                self.fault(FaultKind::Printf(Box::new(fault)), values.lane, address);
                Ok(None)
            }
            Err(_) => {
                Err((PrintfFault::NoValue { conversion: conversion(), bytes: size }, address))
            }
        }
    }

    /// A function that is not known: its results, and what its arguments point to, become unknown.
    fn not_executed(&mut self, exec: u32) {
        self.engine.not_executed(self.op);
        let mut lost = HashSet::new();
        for lane in lanes(exec) {
            for argument in &self.call.arguments {
                self.lose_pointed(*argument, lane, &mut lost);
            }
            self.give(None, lane);
        }
    }

    /// Makes the memory unknown that the words of an argument point to. `lost` has the memories that this call has made
    /// unknown already, by lane if they are the lane's own: all words of a large argument may point to the same one.
    fn lose_pointed(
        &mut self,
        argument: Passed,
        lane: usize,
        lost: &mut HashSet<(Option<usize>, u64)>,
    ) {
        let frame = &self.warp.frames[self.path.frame];
        let mut words = Vec::new();
        match argument {
            Passed::Local { offset, bytes } => {
                let at = self.warp.local.place(lane, frame.local_base + offset);
                let bytes = self.warp.local.bytes.values.get(at..at + bytes as usize);
                let chunks = bytes.unwrap_or_default().as_chunks().0;
                words.extend(chunks.iter().map(|word| u64::from_le_bytes(*word)));
            }
            Passed::Register { slot, rows } if rows >= 2 => {
                words.push(frame.registers.lane(slot, rows, lane) as u64);
            }
            Passed::Register { .. } | Passed::Nothing => {}
        }
        let (shared, local) = (self.engine.memory.map().shared(), self.engine.memory.map().local());
        let origin = Origin::NotExecuted(self.op.site);
        let flags = self.engine.origins.flags(origin);
        let mut marked = words.len() * size_of::<u64>();
        for word in words {
            if let Some((first, end)) = self.local_variable(word) {
                if lost.insert((Some(lane), first)) {
                    let at = self.warp.local.place(lane, first - local.base);
                    let size = (end - first) as usize;
                    self.warp.local.bytes.mark(at..at + size, flags);
                    marked += size;
                }
            } else if word.wrapping_sub(shared.base) < shared.size {
                if lost.insert((None, shared.base)) {
                    let size = self.engine.block.shared.values.len();
                    self.engine.block.shared.mark(0..size, flags);
                    marked += size;
                }
            } else if let Some(known) = self.engine.memory.allocation_around(word)
                && known.purpose != AllocationUse::Parameters
                && lost.insert((None, known.base))
            {
                let size = known.bytes.values.len();
                known.bytes.mark(0..size, flags);
                marked += size;
            }
        }
        self.engine.copied(marked as u64);
    }
}

/// The values of a call of `printf`.
struct Values {
    /// The address of the buffer, once it is needed.
    buffer: Option<u64>,
    offset: u64,
    count: i32,
    lane: usize,
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

/// A conversion for a message.
fn shortened(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(32)]).into_owned()
}
