//! [`Groups`]: the thread blocks of an Accel-Sim trace and their warps. A file that violates their grammar was cut off
//! or put together wrongly. Pieces of a file are parsed in any order, so their [`Mark`]s are checked in file order by
//! [`merge`].

use rustc_hash::FxHashSet;

use super::line::{Body, LineReader};
use super::pieces::{Claim, ParsedPiece, Piece};
use crate::binary::{Kernel, WarpPosition};
use crate::import::error::ImportError;
use crate::import::sink::Sink;
use warpload::lane::LANES;

/// A line that begins, ends or describes a group of instructions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// `#BEGIN_TB`
    Begin,
    /// `#END_TB`
    End,
    /// `thread block = x,y,z`
    Block([u32; 3]),
    /// `cluster id = x,y,z`
    Cluster([u32; 3]),
    /// `cluster cta = x,y,z`
    ClusterBlock,
    /// `cluster rank = n`
    ClusterRank,
    /// `warp = n`
    Warp(u64),
    /// `insts = k`
    Instructions(u64),
}

/// Whether a line without leading white space is an instruction: instructions begin with a hexadecimal digit.
#[inline]
pub(super) fn is_instruction(line: &[u8]) -> bool {
    // `c` is a hexadecimal digit as well.
    line.first().is_some_and(u8::is_ascii_hexdigit) && !line.starts_with(b"cluster ")
}

impl Mark {
    /// Reads a line outside the header that is not an instruction; `None` for an empty line or a comment.
    ///
    /// # Errors
    /// Returns the column, from 0, and the message.
    pub(super) fn read(text: &str) -> Result<Option<Self>, (usize, &'static str)> {
        const NUMBERS: &str = "expected `x,y,z`";
        let shown = text.trim();
        if let Some(name) = shown.strip_prefix('#') {
            return match name {
                "BEGIN_TB" => Ok(Some(Self::Begin)),
                "END_TB" => Ok(Some(Self::End)),
                _ => Ok(None),
            };
        }
        if shown.is_empty() {
            return Ok(None);
        }
        if let Some((key, value)) = text.split_once('=') {
            let at = text.len() - value.trim_start().len();
            let value = value.trim();
            let three = || {
                let numbers: Option<Vec<u32>> =
                    value.split(',').map(|number| number.trim().parse().ok()).collect();
                numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok()).ok_or((at, NUMBERS))
            };
            let number = |expected| value.parse().map_err(|_| (at, expected));
            match key.trim() {
                "thread block" => return Ok(Some(Self::Block(three()?))),
                "cluster id" => return Ok(Some(Self::Cluster(three()?))),
                "cluster cta" => return three().map(|_| Some(Self::ClusterBlock)),
                "cluster rank" => {
                    number("expected a rank in a cluster")?;
                    return Ok(Some(Self::ClusterRank));
                }
                "warp" => return Ok(Some(Self::Warp(number("expected a warp's number")?))),
                "insts" => {
                    let count = number("expected a number of instructions")?;
                    return Ok(Some(Self::Instructions(count)));
                }
                _ => {}
            }
        }
        Err((0, "expected a header line, a group line or an instruction"))
    }
}

/// The limits of a kernel's launch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    /// The thread blocks of the grid.
    grid: [u32; 3],
    /// The threads of a thread block.
    threads: u64,
}

/// The position of a reader in the groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) bounds: Bounds,
    /// The thread blocks so far.
    blocks: FxHashSet<[u32; 3]>,
    state: State,
    /// The thread block and the warp named last.
    place: WarpPosition,
    /// The warps of the current thread block so far.
    seen_warps: FxHashSet<u64>,
    /// A bit for each line so far about the current thread block's cluster.
    cluster_lines: u8,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Outside a thread block.
    #[default]
    Outside,
    /// After `#BEGIN_TB`.
    Begun,
    /// After `thread block =`, or after all instructions of a warp.
    Block,
    /// After `warp =`.
    Warp,
    /// After `insts =`: that many more instructions.
    Instructions(u64),
}

type Grammar = Result<(), String>;

impl Groups {
    pub(super) fn of(kernel: &Kernel) -> Self {
        Self { bounds: Bounds::of(kernel), ..Self::default() }
    }

    /// The warp of the instructions that follow.
    pub(super) fn place(&self) -> WarpPosition {
        self.place
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self.state, State::Outside)
    }

    /// Whether every thread block of the grid was present, so that none can be cut off.
    pub(super) fn are_all_there(&self) -> bool {
        self.blocks.len() as u128 >= self.bounds.blocks()
    }

    pub(super) fn take(&mut self, mark: Mark) -> Grammar {
        match mark {
            Mark::Begin => self.begin(),
            Mark::End => self.end(),
            Mark::Block(place) => self.block(place),
            Mark::Cluster(place) => {
                self.cluster_line(0, "cluster id = x,y,z")?;
                self.place.cluster = Some(place);
                Ok(())
            }
            Mark::ClusterBlock => self.cluster_line(1, "cluster cta = x,y,z"),
            Mark::ClusterRank => self.cluster_line(2, "cluster rank = n"),
            Mark::Warp(warp) => self.warp(warp),
            Mark::Instructions(count) => self.instructions(count),
        }
    }

    fn begin(&mut self) -> Grammar {
        if self.is_open() {
            return Err("`#BEGIN_TB` inside a thread block".to_owned());
        }
        self.state = State::Begun;
        self.seen_warps.clear();
        Ok(())
    }

    fn end(&mut self) -> Grammar {
        self.close_warp()?;
        match std::mem::take(&mut self.state) {
            State::Outside => Err("`#END_TB` outside a thread block".to_owned()),
            State::Begun => Err("a thread block without `thread block = x,y,z`".to_owned()),
            _ => Ok(()),
        }
    }

    fn block(&mut self, place: [u32; 3]) -> Grammar {
        let [x, y, z] = place;
        if !matches!(self.state, State::Begun) {
            return Err("expected `thread block = x,y,z` once, after `#BEGIN_TB`".to_owned());
        }
        self.bounds.check_block(place)?;
        if !self.blocks.insert(place) {
            return Err(format!("duplicate thread block {x},{y},{z}"));
        }
        self.state = State::Block;
        self.cluster_lines = 0;
        self.place = WarpPosition { cta: Some(place), ..WarpPosition::default() };
        Ok(())
    }

    fn cluster_line(&mut self, number: u8, form: &str) -> Grammar {
        let is_new = self.cluster_lines & (1 << number) == 0;
        if !matches!(self.state, State::Block) || !self.seen_warps.is_empty() || !is_new {
            return Err(format!("expected `{form}` once, after `thread block = x,y,z`"));
        }
        self.cluster_lines |= 1 << number;
        Ok(())
    }

    fn warp(&mut self, warp: u64) -> Grammar {
        self.close_warp()?;
        if !matches!(self.state, State::Block) {
            return Err("`warp = n` outside a thread block".to_owned());
        }
        self.bounds.check_warp(warp)?;
        if !self.seen_warps.insert(warp) {
            return Err(format!("duplicate warp {warp} in its thread block"));
        }
        self.state = State::Warp;
        let warp = u32::try_from(warp).ok();
        self.place = WarpPosition { warp, index: Some(0), ..self.place };
        Ok(())
    }

    fn instructions(&mut self, count: u64) -> Grammar {
        if !matches!(self.state, State::Warp) {
            return Err("expected `insts = k` once, after `warp = n`".to_owned());
        }
        self.state = State::Instructions(count);
        Ok(())
    }

    /// Counts instructions.
    ///
    /// # Errors
    /// Returns the number of instructions before the first excess one, and the message.
    pub(super) fn count(&mut self, count: u64) -> Result<(), (u64, &'static str)> {
        let room = match &mut self.state {
            State::Instructions(left) => {
                let room = *left;
                *left = left.saturating_sub(count);
                room
            }
            _ => 0,
        };
        if count > room {
            return Err((room, "more instructions than `insts` announces"));
        }
        Ok(())
    }

    /// Checks that all instructions of the current warp were read.
    fn close_warp(&mut self) -> Grammar {
        match self.state {
            State::Instructions(0) => self.state = State::Block,
            State::Instructions(missing) => {
                return Err(format!("expected {missing} more instructions"));
            }
            State::Warp => return Err("a warp without `insts = k`".to_owned()),
            _ => {}
        }
        Ok(())
    }
}

impl Bounds {
    pub(super) fn of(&Kernel { grid, block, .. }: &Kernel) -> Self {
        let threads = block.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        Self { grid, threads }
    }

    pub(super) fn blocks(&self) -> u128 {
        self.grid.into_iter().map(u128::from).product()
    }

    #[inline]
    pub(super) fn warps(&self) -> u64 {
        self.threads.div_ceil(LANES as u64)
    }

    /// Whether the last warp of a thread block has fewer threads than the others.
    pub(super) fn has_partial_warp(&self) -> bool {
        !self.threads.is_multiple_of(LANES as u64)
    }

    /// The number of threads in a warp.
    pub(super) fn threads_of(&self, warp: u64) -> u64 {
        let before = warp.saturating_mul(LANES as u64);
        self.threads.saturating_sub(before).min(LANES as u64)
    }

    #[inline]
    pub(super) fn check_block(&self, [x, y, z]: [u32; 3]) -> Grammar {
        let [columns, rows, layers] = self.grid;
        if x >= columns || y >= rows || z >= layers {
            return Err(format!(
                "thread block {x},{y},{z} is outside the grid of {columns} x {rows} x {layers}"
            ));
        }
        Ok(())
    }

    #[inline]
    pub(super) fn check_warp(&self, warp: u64) -> Grammar {
        let warps = self.warps();
        if warp >= warps {
            return Err(format!("warp {warp} is outside the thread block of {warps} warps"));
        }
        Ok(())
    }
}

/// Passes the parsed contents of the trace's next piece on to `sink`.
///
/// # Errors
/// Returns the first error in the piece, whether in its groups or in its instructions.
pub(super) fn merge(
    body: &Body<'_>,
    piece: &Piece,
    part: &mut ParsedPiece,
    groups: &mut Groups,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    check_marks(body, piece, part, groups)
        .map_err(|(line, message)| LineReader { body, line, warp: 0 }.error(0, message))?;
    match part.error.take() {
        Some(error) => Err(error),
        None => {
            sink.source_lines(&part.source_lines)?;
            sink.append(&part.segment)
        }
    }
}

/// Checks the groups of a piece and sets the warps of its instructions.
///
/// # Errors
/// Returns the first invalid line and the message.
fn check_marks(
    body: &Body<'_>,
    piece: &Piece,
    part: &mut ParsedPiece,
    groups: &mut Groups,
) -> Result<(), (u64, String)> {
    let mut after = piece.line;
    let mut instructions = 0;
    let mut claims = part.claims.iter().peekable();
    for mark in &part.marks {
        count(body, piece, groups, mark.instructions, after)?;
        while let Some(claim) = claims.next_if(|claim| claim.line < mark.line) {
            check_claim(claim, groups)?;
        }
        groups.take(mark.mark).map_err(|message| (mark.line, message))?;
        after = mark.line;
        // Fits, because a piece has fewer instructions than a segment can.
        instructions += mark.instructions as u32;
        if let Mark::Warp(_) = mark.mark {
            part.segment.place(instructions, groups.place());
        }
    }
    count(body, piece, groups, part.after_marks, after)?;
    claims.try_for_each(|claim| check_claim(claim, groups))
}

/// Checks that an instruction names the thread block and the warp of its group.
fn check_claim(claim: &Claim, groups: &Groups) -> Result<(), (u64, String)> {
    let WarpPosition { cta, warp, .. } = groups.place();
    if (claim.place.cta, claim.place.warp) == (cta, warp) {
        return Ok(());
    }
    let message = "an instruction of another thread block or warp than its group";
    Err((claim.line, message.to_owned()))
}

/// Counts a sequence of instructions that starts after line `after`.
fn count(
    body: &Body<'_>,
    piece: &Piece,
    groups: &mut Groups,
    count: u64,
    after: u64,
) -> Result<(), (u64, String)> {
    if !body.is_grouped || count == 0 {
        return Ok(());
    }
    groups.count(count).map_err(|(right, message)| {
        let lines = (piece.line..).zip(piece.text().split(|byte| *byte == b'\n'));
        let mut wrong =
            lines.filter(|(line, text)| *line >= after && is_instruction(text.trim_ascii_start()));
        let counted = wrong.nth(right as usize);
        debug_assert!(counted.is_some());
        let line = counted.map_or(after, |(line, _)| line);
        (line, message.to_owned())
    })
}
