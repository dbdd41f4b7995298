//! [`Groups`]: thread blocks in an Accel-Sim trace, and their warps. A file that breaks their grammar
//! was cut off or put together wrongly. Pieces of a file are read in any order; their [`Mark`]s are
//! checked in the file's.

use rustc_hash::FxHashSet;

use crate::trace::binary::{Kernel, Place};

/// A line that groups instructions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// `#BEGIN_TB`
    Begin,
    /// `#END_TB`
    End,
    /// `thread block = x,y,z`
    Block([u32; 3]),
    /// `warp = n`
    Warp(u64),
    /// `insts = k`
    Instructions(u64),
}

/// What a kernel has room for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    /// Thread blocks of the grid, and warps of a block; `None` if the header does not say.
    grid: Option<[u32; 3]>,
    warps: Option<u64>,
}

/// The position of a reader in the groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) bounds: Bounds,
    /// The thread blocks so far.
    blocks: FxHashSet<[u32; 3]>,
    state: State,
    /// The thread block and the warp that were named last.
    place: Place,
    /// The warps so far of the current thread block.
    seen_warps: FxHashSet<u64>,
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
    /// Returns the groups of a kernel. Zeros in its grid or block mean that these are unknown.
    pub(super) fn of(&Kernel { grid, block, .. }: &Kernel) -> Self {
        let threads = block.into_iter().map(u64::from).try_fold(1, u64::checked_mul);
        let bounds = Bounds {
            grid: (grid != [0; 3]).then_some(grid),
            warps: threads.filter(|threads| *threads > 0).map(|threads| threads.div_ceil(32)),
        };
        Self { bounds, ..Self::default() }
    }

    /// Returns whose the instructions after the last line are.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self.state, State::Outside)
    }

    /// Returns a note if the trace may be cut off after its last thread block.
    pub(super) fn unknown_end(&self) -> Option<&'static str> {
        match self.bounds.grid {
            None => Some("whether the source is whole is unknown: its header has no grid"),
            Some(grid) => {
                let blocks: u128 = grid.into_iter().map(u128::from).product();
                let is_whole = self.blocks.len() as u128 >= blocks;
                (!is_whole).then_some(
                    "whether the source is whole is unknown: thread blocks of its grid are missing",
                )
            }
        }
    }

    /// Takes a line.
    pub(super) fn take(&mut self, mark: Mark) -> Grammar {
        match mark {
            Mark::Begin => self.begin(),
            Mark::End => self.end(),
            Mark::Block(place) => self.block(place),
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
            return Err(format!("thread block {x},{y},{z} for the second time"));
        }
        self.state = State::Block;
        self.place = Place { cta: Some(place), ..Place::default() };
        Ok(())
    }

    fn warp(&mut self, warp: u64) -> Grammar {
        self.close_warp()?;
        if !matches!(self.state, State::Block) {
            return Err("`warp = n` outside a thread block".to_owned());
        }
        self.bounds.check_warp(warp)?;
        if !self.seen_warps.insert(warp) {
            return Err(format!("warp {warp} for the second time in its thread block"));
        }
        self.state = State::Warp;
        let warp = u32::try_from(warp).ok();
        self.place = Place { warp, index: Some(0), ..self.place };
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
    /// Returns how many of them come before the first wrong one, and what is wrong.
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
            return Err((room, "more instructions than `insts` promised"));
        }
        Ok(())
    }

    /// Checks that all instructions of the current warp were read.
    fn close_warp(&mut self) -> Grammar {
        match self.state {
            State::Instructions(0) => self.state = State::Block,
            State::Instructions(missing) => {
                return Err(format!("{missing} more instructions were promised"));
            }
            State::Warp => return Err("a warp without `insts = k`".to_owned()),
            _ => {}
        }
        Ok(())
    }
}

impl Bounds {
    /// Checks the thread block and the warp of an instruction that is not grouped.
    #[inline]
    pub(super) fn check(&self, block: [u32; 3], warp: u64) -> Grammar {
        self.check_block(block).and_then(|()| self.check_warp(warp))
    }

    #[inline]
    fn check_block(&self, [x, y, z]: [u32; 3]) -> Grammar {
        match self.grid {
            Some([columns, rows, layers]) if x >= columns || y >= rows || z >= layers => {
                Err(format!(
                    "thread block {x},{y},{z} is outside the grid of {columns} x {rows} x {layers}"
                ))
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn check_warp(&self, warp: u64) -> Grammar {
        match self.warps {
            Some(warps) if warp >= warps => {
                Err(format!("warp {warp} is outside the thread block of {warps} warps"))
            }
            _ => Ok(()),
        }
    }
}
