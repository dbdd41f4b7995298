//! [`OpcodeFacts`]: kind, memory and size of every memory instruction of every SM, by the text of its opcode.
//!
//! The other modules read and write loads. Traces, statistics and listings also name stores, atomics, copies and cache
//! controls; the table here has one row for each. Its mnemonics, SMs and modifiers are complete for nvdisasm 12.8 and
//! 13.5, which print no others for words with random fields.

use crate::sm::{Group, Sm};
use crate::table::row::Groups;

/// The role of a memory instruction in the traffic between registers and memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OpcodeKind {
    /// Memory to registers. Each lane has its own address, or the warp has one if [`OpcodeFacts::is_uniform`].
    Load,
    /// Rows of matrices in shared memory to registers of the whole warp: `LDSM`.
    MatrixLoad,
    /// Tensor Memory to registers of the whole warp: `LDTM`.
    TensorLoad,
    /// Values of several GPUs at one address, reduced to registers: `LDGMC`.
    ReducingLoad,
    /// Texels, filtered or not, to registers: `TEX` and its siblings.
    Sample,
    /// Registers to memory. Each lane has its own address, or the warp has one if [`OpcodeFacts::is_uniform`].
    Store,
    /// Registers of the whole warp to rows of matrices in shared memory: `STSM`.
    MatrixStore,
    /// Registers of the whole warp to Tensor Memory: `STTM`.
    TensorStore,
    /// Changes memory and returns the old value: `ATOM` and its siblings.
    Atomic,
    /// Changes memory without returning a value: `RED` and its siblings.
    Reduction,
    /// Memory to memory without registers: `LDGSTS` for each lane, `UTCCP` and `UTCSHIFT` once.
    Copy,
    /// Copies a block of memory, or reduces it into another: `UTMALDG`, `UBLKCP` and their siblings. The operands give
    /// its size, not the opcode.
    Transfer,
    /// Fetches a block of memory into a cache: `UTMAPF`, `UBLKPF`.
    Prefetch,
    /// Fetches, writes back or drops lines of a cache: `CCTL` and its siblings.
    CacheControl,
    /// Synchronizes threads and copies through an object in shared memory: `SYNCS` and its siblings.
    Barrier,
    /// Orders accesses, or waits for the end of copies: `MEMBAR`, `FENCE`, `LDGDEPBAR`. There is no address.
    Fence,
    /// Queries a property of an address, a texture or a surface instead of memory itself: `QSPC`, `TXQ`, `SUQUERY`.
    Query,
}

/// The memory that an opcode names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OpcodeSpace {
    /// Selected by the address, through the address windows.
    Generic,
    /// Global memory.
    Global,
    /// The lane's local memory.
    Local,
    /// The thread block's shared memory; for a transfer, also another thread block's in the cluster.
    Shared,
    /// Shared memory of any thread block of the cluster.
    DistributedShared,
    /// A constant bank.
    Constant,
    /// Tensor Memory.
    Tensor,
    /// A texture.
    Texture,
    /// A surface.
    Surface,
    /// The attributes of vertices and pixels.
    Attribute,
}

/// The modifiers that give the bytes per lane.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bytes {
    /// No modifier: the operands give the bytes, or the instruction moves none.
    Unstated,
    /// The size of a register, `U8` to `256`.
    Size,
    /// The type of the numbers of an atomic or a reduction.
    Number,
    /// The size, if the surface is addressed in bytes (`.D`); otherwise the surface's format decides.
    SurfaceSize,
    /// The type, on the same condition.
    SurfaceNumber,
    /// Shape and number of matrices.
    Matrices,
    /// Shape and repetitions in Tensor Memory.
    Tensor,
}

const ALL: Groups = Groups::from(Group::Spa5);
const SM_5X: Groups = Groups::of(Group::Spa5);
const SM_70: Groups = Groups::from(Group::Volta);
const SM_75: Groups = Groups::from(Group::Turing);
const SM_80: Groups = Groups::from(Group::Ampere);
const SM_90: Groups = Groups::from(Group::Hopper);
const SM_100: Groups = Groups::from(Group::Blackwell100);
const SM_107: Groups = Groups::of(Group::Blackwell107);
/// SM 10.x and 11.0, which have Tensor Memory.
const SM_10X: Groups = SM_100.without(Groups::from(Group::Blackwell120));

struct FactsRow {
    mnemonic: &'static str,
    groups: Groups,
    kind: OpcodeKind,
    /// The memory of the address; for copies and transfers, the source.
    space: Option<OpcodeSpace>,
    /// The memory that copies and transfers write.
    destination: Option<OpcodeSpace>,
    /// The first two modifiers are letters for destination and source.
    has_letters: bool,
    bytes: Bytes,
    is_uniform: bool,
}

const fn row(
    mnemonic: &'static str,
    groups: Groups,
    kind: OpcodeKind,
    space: OpcodeSpace,
    bytes: Bytes,
) -> FactsRow {
    FactsRow {
        mnemonic,
        groups,
        kind,
        space: Some(space),
        destination: None,
        has_letters: false,
        bytes,
        is_uniform: false,
    }
}

/// A row for a fence, which has no address.
const fn fence(mnemonic: &'static str, groups: Groups) -> FactsRow {
    let row = row(mnemonic, groups, OpcodeKind::Fence, OpcodeSpace::Generic, Bytes::Unstated);
    FactsRow { space: None, ..row }
}

/// A row for an instruction on a block of memory, which the warp executes once.
const fn block(
    mnemonic: &'static str,
    groups: Groups,
    kind: OpcodeKind,
    space: OpcodeSpace,
) -> FactsRow {
    row(mnemonic, groups, kind, space, Bytes::Unstated).uniform()
}

impl FactsRow {
    const fn to(self, destination: OpcodeSpace) -> Self {
        Self { destination: Some(destination), ..self }
    }

    const fn letters(self) -> Self {
        Self { has_letters: true, ..self }
    }

    const fn uniform(self) -> Self {
        Self { is_uniform: true, ..self }
    }
}

/// The rows, sorted by mnemonic for the binary search (`tests/it/facts.rs` checks it).
#[rustfmt::skip]
const ROWS: &[FactsRow] = {
    use Bytes::{Matrices, Number, Size, SurfaceNumber, SurfaceSize, Unstated};
    use OpcodeKind::{Atomic, Barrier, CacheControl, Copy, Load, MatrixLoad, MatrixStore, Prefetch, Query, ReducingLoad, Reduction, Sample, Store, TensorLoad, TensorStore, Transfer};
    use OpcodeSpace::{Attribute, Constant, DistributedShared, Generic, Global, Local, Shared, Surface, Tensor, Texture};
    const GRAPHICS: Groups = ALL.without(SM_107);
    &[
        row("ALD", GRAPHICS, Load, Attribute, Size),
        row("ARRIVES", SM_80, Barrier, Shared, Unstated),
        row("AST", GRAPHICS, Store, Attribute, Size),
        row("ATOM", ALL, Atomic, Generic, Number),
        row("ATOMG", SM_70, Atomic, Global, Number),
        row("ATOMS", ALL, Atomic, Shared, Number),
        row("CCTL", ALL, CacheControl, Generic, Unstated),
        row("CCTLL", ALL, CacheControl, Local, Unstated),
        row("CCTLT", GRAPHICS, CacheControl, Texture, Unstated),
        fence("ERRBAR", SM_70),
        fence("FENCE", SM_90),
        row("IPA", GRAPHICS, Load, Attribute, Unstated),
        row("ISBERD", GRAPHICS, Load, Attribute, Unstated),
        row("ISBEWR", SM_75.without(SM_107), Store, Attribute, Unstated),
        row("LD", ALL, Load, Generic, Size),
        row("LDC", ALL, Load, Constant, Size),
        row("LDCU", SM_100, Load, Constant, Size).uniform(),
        row("LDG", ALL, Load, Global, Size),
        fence("LDGDEPBAR", SM_80),
        row("LDGMC", SM_90, ReducingLoad, Global, Number),
        row("LDGSTS", SM_80, Copy, Global, Size).to(Shared),
        row("LDL", ALL, Load, Local, Size),
        row("LDS", ALL, Load, Shared, Size),
        row("LDSM", SM_75, MatrixLoad, Shared, Matrices),
        row("LDTM", SM_10X, TensorLoad, Tensor, Bytes::Tensor),
        row("LDTRAM", SM_75.without(SM_107), Load, Attribute, Unstated),
        fence("MEMBAR", ALL),
        row("QSPC", SM_70, Query, Generic, Unstated),
        row("RED", ALL.without(SM_90), Reduction, Generic, Number),
        row("REDAS", SM_90, Reduction, DistributedShared, Number),
        row("REDG", SM_90, Reduction, Global, Number),
        row("ST", ALL, Store, Generic, Size),
        row("STAS", SM_90, Store, DistributedShared, Size),
        row("STG", ALL, Store, Global, Size),
        row("STL", ALL, Store, Local, Size),
        row("STS", ALL, Store, Shared, Size),
        row("STSM", SM_90, MatrixStore, Shared, Matrices),
        row("STTM", SM_10X, TensorStore, Tensor, Bytes::Tensor),
        row("SUATOM", GRAPHICS, Atomic, Surface, SurfaceNumber),
        row("SULD", GRAPHICS, Load, Surface, SurfaceSize),
        // Of this group, 8.6 to 8.8 have it, but 8.0 does not.
        row("SUQUERY", SM_80.without(SM_107), Query, Surface, Unstated),
        row("SURED", GRAPHICS, Reduction, Surface, SurfaceNumber),
        row("SUST", GRAPHICS, Store, Surface, SurfaceSize),
        row("SYNCS", SM_90, Barrier, Shared, Unstated),
        row("SYNCSU", SM_107, Barrier, Shared, Unstated),
        row("TEX", GRAPHICS, Sample, Texture, Unstated),
        row("TEXS", SM_5X, Sample, Texture, Unstated),
        row("TLD", GRAPHICS, Sample, Texture, Unstated),
        row("TLD4", GRAPHICS, Sample, Texture, Unstated),
        row("TLD4S", SM_5X, Sample, Texture, Unstated),
        row("TLDS", SM_5X, Sample, Texture, Unstated),
        row("TXD", GRAPHICS, Sample, Texture, Unstated),
        row("TXQ", GRAPHICS, Query, Texture, Unstated),
        block("UBLKCP", SM_90, Transfer, Global).to(Shared).letters(),
        block("UBLKL2CCTL", SM_107, CacheControl, Global),
        block("UBLKPF", SM_90.without(SM_107), Prefetch, Global),
        block("UBLKRED", SM_90, Transfer, Shared).to(Global).letters(),
        row("ULDC", SM_75.without(SM_100), Load, Constant, Size).uniform(),
        row("UMEMSETS", SM_100, Store, Shared, Size).uniform(),
        row("UREDGR", SM_10X, Reduction, Global, Number).uniform(),
        row("USTGR", SM_10X, Store, Global, Size).uniform(),
        row("USYNCS", SM_107, Barrier, Shared, Unstated).uniform(),
        row("UTCBAR", SM_10X, Barrier, Shared, Unstated).uniform(),
        block("UTCCP", SM_10X, Copy, Shared).to(Tensor).letters(),
        block("UTCSHIFT", SM_10X, Copy, Tensor).to(Tensor),
        block("UTMACCTL", SM_90, CacheControl, Generic),
        fence("UTMACMDFLUSH", SM_90).uniform(),
        block("UTMAL2CCTL", SM_107, CacheControl, Global),
        block("UTMALDG", SM_90, Transfer, Global).to(Shared),
        block("UTMAPF", SM_90.without(SM_107), Prefetch, Global),
        block("UTMAREDG", SM_90, Transfer, Shared).to(Global),
        block("UTMASTG", SM_90, Transfer, Shared).to(Global),
    ]
};

/// Facts about a memory instruction, read from its opcode with modifiers.
///
/// The table lists mnemonics, not words. The facts follow from the modifiers as given, even if no instruction has this
/// combination.
///
/// ```
/// use warpload_encoding::{OpcodeFacts, OpcodeKind, OpcodeSpace, Sm};
///
/// let facts = OpcodeFacts::of("ATOMG.E.ADD.F16x2.RN.STRONG.GPU").ok_or("no memory instruction")?;
/// assert_eq!((facts.kind(), facts.space()), (OpcodeKind::Atomic, Some(OpcodeSpace::Global)));
/// assert_eq!(facts.lane_bytes(), Some(4));
/// assert!(facts.is_of("70".parse()?) && !facts.is_of(Sm::SPA5));
///
/// let copy = OpcodeFacts::of("UBLKCP.S.G").ok_or("no memory instruction")?;
/// assert_eq!((copy.kind(), copy.lane_bytes()), (OpcodeKind::Transfer, None));
/// assert_eq!(copy.destination(), Some(OpcodeSpace::Shared));
///
/// assert!(OpcodeFacts::of("FADD.FTZ").is_none());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct OpcodeFacts<'a> {
    row: &'static FactsRow,
    /// The text after the first dot.
    modifiers: &'a str,
}

impl<'a> OpcodeFacts<'a> {
    /// Returns the facts about an opcode such as `LDG.E.64`; `None` if no memory instruction has its mnemonic.
    #[must_use]
    pub fn of(opcode: &'a str) -> Option<Self> {
        let (mnemonic, modifiers) = opcode.split_once('.').unwrap_or((opcode, ""));
        let at = ROWS.binary_search_by(|row| row.mnemonic.cmp(mnemonic)).ok()?;
        Some(Self { row: ROWS.get(at)?, modifiers })
    }

    /// Returns the facts about every memory instruction, without modifiers, sorted by mnemonic.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| Self { row, modifiers: "" })
    }

    /// Returns the mnemonic, without modifiers.
    #[must_use]
    pub fn mnemonic(self) -> &'static str {
        self.row.mnemonic
    }

    /// Returns whether the SM has the instruction.
    #[must_use]
    pub fn is_of(self, sm: Sm) -> bool {
        self.row.groups.contains(sm.group())
    }

    /// Returns the kind of the instruction.
    #[must_use]
    pub fn kind(self) -> OpcodeKind {
        self.row.kind
    }

    /// Returns the memory of the address; for copies and transfers, the source. `None` if there is no address, or if
    /// the opcode lacks the letter that names its memory.
    #[must_use]
    pub fn space(self) -> Option<OpcodeSpace> {
        if self.row.has_letters { self.letter(1) } else { self.row.space }
    }

    /// Returns the memory that a copy or a transfer writes; `None` for other kinds.
    #[must_use]
    pub fn destination(self) -> Option<OpcodeSpace> {
        if self.row.has_letters { self.letter(0) } else { self.row.destination }
    }

    /// Returns whether the warp executes the instruction once, with uniform registers, instead of once per lane.
    #[must_use]
    pub fn is_uniform(self) -> bool {
        self.row.is_uniform
    }

    /// Returns whether the opcode has this modifier.
    #[must_use]
    pub fn has(self, modifier: &str) -> bool {
        self.modifiers().any(|present| present == modifier)
    }

    /// Returns the bytes that each lane reads, writes or changes; for [`is_uniform`](Self::is_uniform) instructions the
    /// warp's bytes, and for matrices and Tensor Memory the bytes in each lane's registers. `None` if the opcode does
    /// not state them.
    #[must_use]
    pub fn lane_bytes(self) -> Option<u32> {
        match self.row.bytes {
            Bytes::Unstated => None,
            Bytes::SurfaceSize | Bytes::SurfaceNumber if !self.has("D") => None,
            Bytes::Size | Bytes::SurfaceSize => {
                Some(self.modifiers().find_map(register_bytes).unwrap_or(4))
            }
            Bytes::Number | Bytes::SurfaceNumber => {
                let bytes = |modifier| register_bytes(modifier).or_else(|| number_bytes(modifier));
                Some(self.modifiers().find_map(bytes).unwrap_or(4))
            }
            Bytes::Matrices => self.matrices().map(|matrices| 4 * matrices.registers()),
            Bytes::Tensor => {
                let repeat = self.modifiers().find_map(|modifier| {
                    modifier.strip_prefix('x')?.parse().ok().filter(|count: &u8| *count <= 128)
                });
                let bytes = match () {
                    () if self.has("16dp128bit") => 8,
                    () if self.has("16dp256bit") => 16,
                    () => 4,
                };
                Some(bytes * u32::from(repeat.unwrap_or(1)))
            }
        }
    }

    /// Returns the matrices that the warp loads or stores; `None` for other instructions.
    #[must_use]
    pub fn matrices(self) -> Option<OpcodeMatrices> {
        let Bytes::Matrices = self.row.bytes else { return None };
        let count = self.modifiers().find_map(|modifier| match modifier {
            "2" => Some(2),
            "4" => Some(4),
            _ => None,
        });
        let transposed = match () {
            () if !self.has("16") => None,
            () if self.has("M88") => Some(false),
            () if self.has("MT88") => Some(true),
            () => None,
        };
        let rows = if self.has("MT1616") { 16 } else { 8 };
        Some(OpcodeMatrices { count: count.unwrap_or(1), rows, transposed })
    }

    /// Returns whether a value narrower than a register is sign-extended.
    #[must_use]
    pub fn is_signed(self) -> bool {
        let sizes = |modifier: &&str| register_bytes(modifier).is_some();
        let is_sized = matches!(self.row.bytes, Bytes::Size | Bytes::SurfaceSize);
        is_sized && self.modifiers().find(sizes).is_some_and(|size| size.starts_with('S'))
    }

    fn modifiers(self) -> impl Iterator<Item = &'a str> {
        self.modifiers.split('.')
    }

    fn letter(self, number: usize) -> Option<OpcodeSpace> {
        match self.modifiers().nth(number)? {
            "G" => Some(OpcodeSpace::Global),
            "S" => Some(OpcodeSpace::Shared),
            "T" => Some(OpcodeSpace::Tensor),
            _ => None,
        }
    }
}

/// The matrices of `LDSM` or `STSM`. A row has 16 bytes and takes its address from a lane of its own, lane 0 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct OpcodeMatrices {
    /// The number of matrices: 1, 2 or 4.
    pub count: u32,
    /// Rows per matrix: 8, or 16 for `MT1616`.
    pub rows: u32,
    /// Whether lanes hold transposed elements, for matrices of 8 by 8 elements of 16 bits (`M88`, `MT88`). `None` for
    /// other shapes and sizes, because the lanes that hold their elements are not public.
    pub transposed: Option<bool>,
}

impl OpcodeMatrices {
    /// Returns the number of lanes that provide row addresses, starting at lane 0: at most 32.
    #[must_use]
    pub fn address_lanes(self) -> u32 {
        (self.count * self.rows).min(32)
    }

    /// Returns the number of 32-bit registers per lane: a lane holds a thirty-second of each matrix.
    #[must_use]
    pub fn registers(self) -> u32 {
        self.count * self.rows / 8
    }
}

impl core::fmt::Debug for OpcodeFacts<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let dot = if self.modifiers.is_empty() { "" } else { "." };
        write!(f, "{}{dot}{}", self.row.mnemonic, self.modifiers)
    }
}

/// The bytes of a register size. 32 bits have no modifier, although `LDS.U.32` and a few others print one.
fn register_bytes(modifier: &str) -> Option<u32> {
    match modifier {
        "U8" | "S8" => Some(1),
        "U16" | "S16" => Some(2),
        "64" => Some(8),
        "96" => Some(12),
        "128" => Some(16),
        "256" => Some(32),
        _ => None,
    }
}

/// The bytes of an atomic's type: a number of 64 or 128 bits, or a vector such as `F32x4`, `F16x2` or, in the spelling
/// of CUDA 11, `BF16_V2`. `None` for 32-bit numbers and other modifiers.
fn number_bytes(modifier: &str) -> Option<u32> {
    let (number, count) = match modifier {
        "U64" | "S64" | "F64" | "SD64" => return Some(8),
        "U128" => return Some(16),
        _ => modifier.split_once('x').or_else(|| modifier.split_once("_V"))?,
    };
    let bytes = match number {
        "E4M3" | "E5M2" => 1,
        "F16" | "BF16" => 2,
        "F32" => 4,
        _ => return None,
    };
    match count {
        "2" => Some(2 * bytes),
        "4" => Some(4 * bytes),
        "8" => Some(8 * bytes),
        "16" => Some(16 * bytes),
        _ => None,
    }
}
