//! The memory of a draft: [`MemoryWishes`], and the layout that fulfils them. Memories are small, and within reach of
//! the load's addresses.

use warpload::lane::LANES;
use warpload::memory::{Space, Window};
use warpload_encoding::{LoadSize, MemorySpace};

use super::{Draft, align_up};

/// The wishes of recipes for the memory.
#[derive(Clone, Debug)]
pub(crate) struct MemoryWishes {
    /// The memory of the lanes' addresses, unless a recipe chooses another.
    pub(crate) main: Space,
    /// The lowest and the highest address that global memory may have.
    pub(crate) reach: (u64, u64),
    /// Whether the low and the high part of local memory are wanted.
    pub(crate) has_local: [bool; 2],
    /// Whether a second allocation begins where the first one ends.
    pub(crate) has_adjacent: bool,
    /// Whether the first allocation ends at 2^address_bits.
    pub(crate) is_at_top: bool,
    /// Whether the two parts of local memory fill its window. The window is then small.
    pub(crate) has_touching_parts: bool,
    /// Whether allocations end within an access.
    pub(crate) has_partial_ends: bool,
    /// Whether memory holds enough distinct words that each lane can load its own, none of them zero.
    pub(crate) has_distinct_words: bool,
    /// The base of the first allocation, if a recipe needs a certain one.
    pub(crate) base: Option<u64>,
    /// Whether allocations begin within an access.
    pub(crate) has_partial_starts: bool,
    /// Whether the windows do not touch, and global memory is below, between and above them.
    pub(crate) has_apart_windows: bool,
    /// Whether the constant bank is missing.
    pub(crate) lacks_bank: bool,
    /// Whether the constant bank has no bytes.
    pub(crate) has_empty_bank: bool,
}

impl Default for MemoryWishes {
    fn default() -> Self {
        Self {
            main: Space::Global,
            reach: (0, u64::MAX),
            has_local: [false; 2],
            has_adjacent: false,
            is_at_top: false,
            has_touching_parts: false,
            has_partial_ends: false,
            has_distinct_words: false,
            base: None,
            has_partial_starts: false,
            has_apart_windows: false,
            lacks_bank: false,
            has_empty_bank: false,
        }
    }
}

/// The bases of global memory: on both sides of the powers of two where offsets, registers and addresses of various
/// widths end.
const BASES: [u64; 12] = [
    0x1000,
    0x2_0000,
    0x7f_f000,
    0x80_1000,
    0xff_f000,
    0x1234_5000,
    0x7fff_f000,
    0x9000_0000,
    0x1_0000_1000,
    0x7f_ffff_0000,
    0x100_0000_1000,
    0x1_2345_6789_a000,
];

/// Small windows, apart and adjacent.
const WINDOWS: [(Window, Window); 4] = [
    (Window { base: 0x10_0000, size: 0x40 }, Window { base: 0x20_0000, size: 0x1000 }),
    (Window { base: 0x30_0040, size: 0x100 }, Window { base: 0x30_0000, size: 0x40 }),
    (Window { base: 0, size: 0x80 }, Window { base: 0x100, size: 0x80 }),
    (Window { base: 0x8000_0000, size: 0x40 }, Window { base: 0x8000_0040, size: 0x40 }),
];

/// Windows with addresses below, between and above them.
const APART: [(Window, Window); 2] = [
    (Window { base: 0x10_0000, size: 0x40 }, Window { base: 0x20_0000, size: 0x1000 }),
    (Window { base: 0x9_0000, size: 0x80 }, Window { base: 0x5_0000, size: 0x80 }),
];

impl Draft<'_> {
    /// Draws the wishes before recipes change them.
    pub(super) fn draw_wishes(&mut self) {
        let main = match self.form.parts.space {
            MemorySpace::Local => Space::Local,
            MemorySpace::Shared => Space::Shared,
            MemorySpace::Constant { bank, .. } => Space::Constant { bank: bank.get() },
            MemorySpace::Generic { .. } => {
                let spaces = [Space::Global, Space::Global, Space::Shared, Space::Local];
                self.random.pick(&spaces).unwrap_or(Space::Global)
            }
            _ => Space::Global,
        };
        self.layout.main = main;
        // Local memory is 32 times as large, so wide loads from it get no partial ends.
        let is_large = self.form.is_local() && self.form.bytes() >= 16;
        self.layout.has_partial_ends = !is_large && self.random.one_in(2);
        self.layout.has_adjacent = self.random.one_in(4);
        if self.form.parts.space == MemorySpace::Local {
            let part = self.random.one_in(3);
            self.layout.has_local = [!part, part];
        }
        self.bank = self.random.below(32) as u8;
    }

    /// Moves the windows away from their defaults.
    pub(crate) fn move_windows(&mut self) {
        if let Some((shared, local)) = self.random.pick(&WINDOWS) {
            (self.state.shared_window, self.state.local_window) = (shared, local);
        }
    }

    pub(super) fn lay_out(&mut self) {
        if self.layout.has_apart_windows
            && let Some((shared, local)) = self.random.pick(&APART)
        {
            (self.state.shared_window, self.state.local_window) = (shared, local);
        }
        if self.layout.has_touching_parts {
            // A window of one access, filled by both parts.
            self.state.local_window.size = 16;
            self.layout.has_local = [true; 2];
        }
        if self.layout.main == Space::Local && self.layout.has_local == [false; 2] {
            let part = self.random.one_in(2);
            self.layout.has_local = [!part, part];
        }
        match self.form.parts.space {
            MemorySpace::Constant { .. } => self.lay_out_banks(),
            MemorySpace::Local => self.lay_out_local(),
            MemorySpace::Shared => self.lay_out_shared(),
            MemorySpace::Global => self.lay_out_global(),
            _ => {
                self.lay_out_global();
                self.lay_out_shared();
                self.lay_out_local();
            }
        }
        self.lay_out_decoy();
    }

    /// A random size of a few accesses, or the size that distinct words need.
    fn some_size(&mut self) -> usize {
        let bytes = self.form.bytes();
        if self.layout.has_distinct_words {
            let accesses = match self.form.size {
                _ if self.form.fills_uniform() => 1,
                LoadSize::Matrices { count, .. } => 8 * u64::from(count),
                _ => LANES as u64,
            };
            return (bytes * accesses) as usize;
        }
        let partial = if self.layout.has_partial_ends && bytes > 1 {
            1 + self.random.below(bytes - 1)
        } else {
            0
        };
        let least = if self.layout.has_partial_starts { 2 } else { 1 };
        (bytes * (least + self.random.below(4)) + partial) as usize
    }

    fn some_bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            (0..count.div_ceil(8)).flat_map(|_| self.random.next().to_le_bytes()).collect();
        bytes.truncate(count);
        if self.layout.has_distinct_words && self.form.bytes() == 1 {
            // All values differ up to 255 bytes, because 11 and 255 are coprime.
            let first = self.random.below(255);
            let distinct = (0..).map(|i| 1 + ((first + 11 * i) % 255) as u8);
            bytes.iter_mut().zip(distinct).for_each(|(byte, distinct)| *byte = distinct);
        }
        bytes
    }

    fn lay_out_global(&mut self) {
        let size = self.some_size();
        let contents = self.some_bytes(size);
        // The highest address rather than its end, because 2^64 does not fit into `u64`.
        let end = (1u128 << self.state.address_bits) - 1;
        let highest = if self.form.is_wide() { end as u64 } else { u32::MAX.into() };
        let reach = (self.layout.reach.0, self.layout.reach.1.min(highest));
        if self.layout.has_apart_windows {
            self.lay_out_around_windows();
            return;
        }
        let base = if self.layout.is_at_top {
            (end as u64).wrapping_sub(size as u64 - 1)
        } else if let Some(base) = self.layout.base {
            base
        } else {
            let bases: Vec<u64> =
                BASES.into_iter().filter(|base| (reach.0..=reach.1).contains(base)).collect();
            self.random.pick(&bases).unwrap_or(align_up(reach.0, 32))
        };
        let base = if self.layout.has_partial_starts && self.form.bytes() > 1 {
            base + 1 + self.random.below(self.form.bytes() - 1)
        } else {
            base
        };
        self.state.memory.global.push((base, contents));
        if self.layout.has_adjacent {
            let next_size = self.some_size();
            let contents = self.some_bytes(next_size);
            // An allocation at the top has its neighbour before it.
            let is_at_top = self.layout.is_at_top;
            let (at, next) = if is_at_top {
                (0, base.wrapping_sub(next_size as u64))
            } else {
                (1, base.wrapping_add(size as u64))
            };
            self.state.memory.global.insert(at, (next, contents));
        }
    }

    /// Lays out global memory on both sides of each window.
    fn lay_out_around_windows(&mut self) {
        let (shared, local) = (self.state.shared_window, self.state.local_window);
        let (low, high) = if shared.base < local.base { (shared, local) } else { (local, shared) };
        let size = 2 * self.form.bytes();
        for base in [low.base - size, low.base + low.size, high.base - size, high.base + high.size]
        {
            let contents = self.some_bytes(size as usize);
            self.state.memory.global.push((base, contents));
        }
    }

    fn lay_out_shared(&mut self) {
        let size = self.some_size().min(self.state.shared_window.size as usize);
        self.state.memory.shared = self.some_bytes(size);
    }

    fn lay_out_local(&mut self) {
        let window = self.state.local_window.size as usize;
        let bytes = self.form.bytes() as usize;
        let more = if self.layout.has_partial_ends {
            1 + self.random.below(bytes.min(4) as u64)
        } else {
            0
        };
        let size = bytes + more as usize;
        let sizes = if self.layout.has_touching_parts {
            // Odd, so that an aligned access of any size above 1 crosses the border.
            let low = 1 + 2 * self.random.below(window as u64 / 2) as usize;
            [low, window - low]
        } else {
            self.layout.has_local.map(|is_wanted| if is_wanted { size.min(window / 2) } else { 0 })
        };
        self.state.memory.local = sizes.map(|size| self.some_bytes(LANES * size));
    }

    fn lay_out_banks(&mut self) {
        let size = if self.layout.has_empty_bank { 0 } else { self.some_size() };
        let contents = self.some_bytes(size);
        let bank = if self.layout.lacks_bank { (self.bank + 1) % 32 } else { self.bank };
        self.state.memory.constant.push((bank, contents));
    }

    /// Fills a memory that the load does not read, so that an emulator that confuses the two is found.
    fn lay_out_decoy(&mut self) {
        if !self.random.one_in(3) {
            return;
        }
        let contents = self.some_bytes(16);
        match self.form.parts.space {
            MemorySpace::Global => self.state.memory.shared = contents,
            MemorySpace::Local | MemorySpace::Shared => {
                self.state.memory.global.push((0x40, contents));
            }
            MemorySpace::Constant { .. } => {
                let other = (self.bank + 7) % 32;
                self.state.memory.constant.push((other, contents));
            }
            _ => {}
        }
    }
}
