//! The contents of the sample: its kernels, load by load.

use warpload::encoding::Size;
use warpload::lane::{LANES, LaneMask};
use warpload_suite::random::Random;

use super::image::{ALL, FAR, FIRST, GLOBAL, LOCAL_HIGH, LOCAL_LOW, NEXT, Region, SHARED};

/// The form in which a record stores its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Uniform,
    Stride,
    Deltas,
    List,
    /// The shortest possible one.
    Shortest,
}

/// The addresses that the lanes of a load read.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// In one region, aligned, as the form requires.
    Region(Region),
    /// Aligned, each lane in a random one of these regions.
    Regions(&'static [Region]),
    /// In one region, misaligned.
    Misaligned(Region),
    /// In one region, all rounded down to the same aligned address.
    OneRounded(Region),
    /// One address with one Plg for all lanes, by an instruction without a base register.
    Absolute(u32, bool),
    /// One address with one Plg for every third lane; the others in [`NEXT`].
    Third(u64, bool),
    /// One address for all lanes; Plg is true in every other lane.
    Both(u64),
}

/// An address and its Plg.
type Lane = (u64, bool);

impl Place {
    /// Whether it needs 64-bit addresses.
    pub(super) fn is_far(self) -> bool {
        match self {
            Self::Region(region) | Self::Misaligned(region) | Self::OneRounded(region) => {
                region.base >> 32 != 0
            }
            Self::Regions(regions) => regions.iter().any(|region| region.base >> 32 != 0),
            Self::Third(address, _) | Self::Both(address) => address >> 32 != 0,
            Self::Absolute(..) => false,
        }
    }

    /// Whether Plg has the values that a compiled `LEA` computes: false in the shared window.
    pub(super) fn is_compiled(self) -> bool {
        !matches!(self, Self::Absolute(..) | Self::Third(..) | Self::Both(_))
    }

    /// Draws the lanes of one load of `bytes` bytes; the `i`-th is for the `i`-th active lane.
    pub(super) fn draw(self, random: &mut Random, bytes: u64, form: Form) -> [Lane; LANES] {
        let slot = |random: &mut Random, region: Region| {
            let (first, count) = region.slots(bytes);
            (first + bytes * random.below(count), region.plg())
        };
        match self {
            Self::Region(region) => match form {
                Form::Uniform => [slot(random, region); LANES],
                Form::Stride => strided(random, region, bytes),
                _ => std::array::from_fn(|_| slot(random, region)),
            },
            Self::Regions(regions) => std::array::from_fn(|_| {
                // `regions` is never empty.
                let region = random.pick(regions).unwrap_or(NEXT);
                slot(random, region)
            }),
            Self::Misaligned(region) => std::array::from_fn(|_| {
                let (address, plg) = slot(random, region);
                (address + 1 + random.below(bytes - 1), plg)
            }),
            Self::OneRounded(region) => {
                let (address, plg) = slot(random, region);
                std::array::from_fn(|_| (address + random.below(bytes), plg))
            }
            Self::Absolute(address, plg) => [(u64::from(address), plg); LANES],
            Self::Third(address, plg) => {
                std::array::from_fn(
                    |i| {
                        if i % 3 == 0 { (address, plg) } else { slot(random, NEXT) }
                    },
                )
            }
            Self::Both(address) => std::array::from_fn(|i| (address, i % 2 == 0)),
        }
    }
}

/// Draws evenly spaced addresses, ascending or descending, with a random stride that fits.
fn strided(random: &mut Random, region: Region, bytes: u64) -> [Lane; LANES] {
    let (first, count) = region.slots(bytes);
    let steps = LANES as u64 - 1;
    let stride = bytes * (1 + random.below((count - 1) / steps));
    let last = first + stride * steps;
    let is_down = random.one_in(4);
    std::array::from_fn(|i| {
        let distance = stride * i as u64;
        (if is_down { last - distance } else { first + distance }, region.plg())
    })
}

/// One load instruction of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) size: Size,
    pub(super) place: Place,
    pub(super) form: Form,
    /// Drawn at random if `None`.
    pub(super) mask: Option<LaneMask>,
}

impl Case {
    fn new(size: Size, place: Place, form: Form) -> Self {
        Self { size, place, form, mask: None }
    }
}

/// One kernel. Each of `warps` warps executes all its loads.
pub(super) struct Plan {
    pub(super) name: &'static str,
    pub(super) warps: u32,
    pub(super) cases: Vec<Case>,
}

pub(super) fn plans() -> [Plan; 3] {
    [
        Plan { name: "sizes_spaces_and_forms", warps: 2, cases: sizes_spaces_and_forms() },
        Plan { name: "faults", warps: 1, cases: faults() },
        Plan { name: "uniform_and_mixed", warps: 2, cases: uniform_and_mixed() },
    ]
}

/// Every size in every space in every form, and empty masks.
fn sizes_spaces_and_forms() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, size) in Size::ALL.into_iter().enumerate() {
        for form in [Form::Uniform, Form::Stride, Form::Deltas, Form::List] {
            let global = match form {
                // Too far apart to be deltas.
                Form::List => Place::Regions(&GLOBAL),
                _ => Place::Region(GLOBAL[i % GLOBAL.len()]),
            };
            let local = [LOCAL_LOW, LOCAL_HIGH][i % 2];
            for place in [global, Place::Region(SHARED), Place::Region(local)] {
                cases.push(Case::new(size, place, form));
            }
        }
    }
    for form in [Form::Uniform, Form::Stride, Form::List] {
        let mask = Some(LaneMask::NONE);
        cases.push(Case { mask, ..Case::new(Size::B32, Place::Region(FIRST), form) });
    }
    cases
}

/// Every fault of a lane, in every space in which it occurs.
fn faults() -> Vec<Case> {
    const BEYOND: u64 = 1 << 40;
    let mut cases = Vec::new();
    let outside = [
        // outside_window: the wrong Plg, or an address that is too high.
        (SHARED.base, true),
        (SHARED.base + 0xff_fff0, true),
        (FIRST.base, false),
        (LOCAL_LOW.base, false),
        (BEYOND, true),
        (BEYOND, false),
        (u64::MAX - 15, true),
        // outside_allocation, global: between allocations, at both ends, on a border.
        (0, true),
        (FIRST.base - 16, true),
        (NEXT.base + NEXT.size, true),
        (BEYOND - 16, true),
        // Shared, and between the parts of local memory.
        (SHARED.base + SHARED.size, false),
        (SHARED.base + 0xff_fff0, false),
        (LOCAL_LOW.base + 0x210, true),
    ];
    for (i, (address, plg)) in outside.into_iter().enumerate() {
        let size = Size::ALL[i % Size::ALL.len()];
        cases.push(Case::new(size, Place::Third(address, plg), Form::Shortest));
        // Also misaligned.
        cases.push(Case::new(Size::B64, Place::Third(address + 3, plg), Form::Shortest));
    }
    // Half in one allocation, half in its neighbour or outside.
    for (address, size) in [
        (FIRST.base + 0x3f0, Size::B64),
        (FIRST.base + 0x3f0, Size::B128),
        (LOCAL_LOW.base + 0x200, Size::B128),
        (LOCAL_HIGH.base - 8, Size::U128),
    ] {
        cases.push(Case::new(size, Place::Third(address, true), Form::Shortest));
    }
    for size in [Size::U16, Size::S16, Size::B32, Size::B64, Size::B128, Size::U128] {
        for region in [FIRST, SHARED, LOCAL_LOW] {
            cases.push(Case::new(size, Place::Misaligned(region), Form::Shortest));
        }
    }
    cases
}

/// `.U.128` with all inputs that decide its path, and loads with lanes in all regions.
fn uniform_and_mixed() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut uniform = |place, form| cases.push(Case::new(Size::U128, place, form));
    for region in [FIRST, FAR, SHARED, LOCAL_LOW, LOCAL_HIGH] {
        uniform(Place::Region(region), Form::Uniform);
        uniform(Place::OneRounded(region), Form::Shortest);
    }
    uniform(Place::Region(NEXT), Form::Stride);
    uniform(Place::Region(SHARED), Form::Deltas);
    uniform(Place::Both(SHARED.base + 0x20), Form::Uniform);
    uniform(Place::Both(FIRST.base + 0x20), Form::Uniform);
    let bases = [(FIRST, 0x40), (FIRST, 0x3f0), (SHARED, 0x40), (LOCAL_HIGH, 8)];
    for (region, offset) in bases {
        uniform(Place::Absolute(region.base as u32 + offset, region.plg()), Form::Uniform);
    }
    uniform(Place::Absolute(SHARED.base as u32, true), Form::Uniform);
    for mask in [LaneMask::NONE, LaneMask::from_bits(1 << 31)] {
        let case = Case::new(Size::U128, Place::Region(SHARED), Form::Uniform);
        cases.push(Case { mask: Some(mask), ..case });
    }
    for size in Size::ALL {
        cases.push(Case::new(size, Place::Regions(&ALL), Form::Shortest));
    }
    cases
}
