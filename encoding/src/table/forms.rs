//! The forms, one row each: opcode, SMs, fields, text, meaning and illegal words.

use super::grammar::Modifier::{Field as M, Shown};
use super::grammar::*;
use super::row::Slot as S;
use super::row::*;
use super::{constant, memory, other, spa5};
use crate::eight::Eight;

/// Bits that make a word of the form illegal.
#[derive(Clone, Copy)]
pub(crate) struct IllegalBits {
    pub(crate) groups: Groups,
    pub(crate) mask: u128,
    pub(crate) value: u128,
    pub(crate) reason: &'static str,
}

/// The memory of a form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormSpace {
    Generic,
    Global,
    Local,
    Shared,
    Constant,
    Tensor,
    Undocumented,
}

/// The destination of a form's values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormDestination {
    Registers,
    /// 256 bits in two groups of four registers.
    Halves,
    Uniform,
    UniformHalves,
    SharedMemory,
}

/// The size of a form's load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormSize {
    /// Given by the size field.
    Field,
    Bits256,
    Matrices,
    /// Tensor Memory: shape times repetition.
    Tensor,
}

/// Whether the executors execute a form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Execution {
    Executed,
    /// Only the text of the named part is public.
    TextOnly(&'static str),
    /// Left to another executor, for this reason.
    Elsewhere(&'static str),
}

/// One form of an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) name: &'static str,
    /// The first bytes of the name, for fast comparison.
    pub(crate) first: Eight,
    pub(crate) opcode: u16,
    pub(crate) groups: Groups,
    /// Blocks of rows, most significant first.
    pub(crate) rows: &'static [&'static [Row]],
    pub(crate) modifiers: &'static [Modifier],
    pub(crate) operands: &'static [Operand],
    pub(crate) space: FormSpace,
    pub(crate) destination: FormDestination,
    pub(crate) size: FormSize,
    pub(crate) execution: Execution,
    /// The invalid schedules: bit n of entry b is schedule n beside the batch hint b.
    pub(crate) no_schedules: &'static [u32; 8],
    pub(crate) illegal: &'static [IllegalBits],
}

/// A form that loads general registers, with a size field.
const fn form(
    name: &'static str,
    opcode: u16,
    groups: Groups,
    space: FormSpace,
    rows: &'static [&'static [Row]],
    modifiers: &'static [Modifier],
    operands: &'static [Operand],
) -> Form {
    Form {
        name,
        first: Eight::upper_of(name),
        opcode,
        groups,
        rows,
        modifiers,
        operands,
        space,
        destination: FormDestination::Registers,
        size: FormSize::Field,
        execution: Execution::Executed,
        no_schedules: if groups.contains(crate::sm::Group::Spa5) { &[0; 8] } else { &NO_SCHEDULES },
        illegal: &[],
    }
}

impl Form {
    const fn to(self, destination: FormDestination) -> Self {
        Self { destination, ..self }
    }

    const fn loading(self, size: FormSize) -> Self {
        Self { size, ..self }
    }

    const fn text_only(self, what: &'static str) -> Self {
        Self { execution: Execution::TextOnly(what), ..self }
    }

    const fn elsewhere(self, reason: &'static str) -> Self {
        Self { execution: Execution::Elsewhere(reason), ..self }
    }

    const fn scheduled_but(self, no_schedules: &'static [u32; 8]) -> Self {
        Self { no_schedules, ..self }
    }

    const fn illegal(self, illegal: &'static [IllegalBits]) -> Self {
        Self { illegal, ..self }
    }
}

static NO_SCHEDULES: [u32; 8] = {
    let never = 1 << 16 | 0xf << 28;
    // Beside a batch hint, schedule 0 is invalid, too.
    [never, never | 1, never | 1, never | 1, never | 1, never | 1, u32::MAX, u32::MAX]
};

/// `ULDC` has no batch 3 and no batch beside a schedule above 15.
static NO_SCHEDULES_OF_ULDC: [u32; 8] = {
    let never = 1 << 16 | 0xf << 28;
    let batch = never | 1 | 0xffff_0000;
    [never, batch, batch, u32::MAX, batch, batch, u32::MAX, u32::MAX]
};

const SPA5: &[Modifier] = &[M(S::Extended), M(S::Cache), M(S::Size)];
const SPA5_LOCAL: &[Modifier] = &[M(S::Cache), M(S::Size)];
const SPA5_SHARED: &[Modifier] =
    &[M(S::UniformHint), Shown { slot: S::Size, beside: S::UniformHint }];
const LOAD: &[Modifier] = &[
    M(S::Extended),
    M(S::Evict),
    M(S::Prefetch),
    M(S::Size),
    M(S::Order),
    M(S::Scope),
    M(S::Private),
    M(S::Zd),
];
const E: Modifier = always("E", "`.E`");
const BITS_256: Modifier = always("256", "`.256`");
const LOAD_256: &[Modifier] =
    &[E, M(S::Evict), M(S::Policy), M(S::Prefetch), BITS_256, M(S::Order)];
const LOCAL: &[Modifier] = &[M(S::Evict), M(S::Size)];
const SHARED: &[Modifier] = &[M(S::UniformHint), M(S::Size), M(S::Zd)];
const CONSTANT: &[Modifier] = &[M(S::Size), M(S::Mode)];
const UNIFORM: &[Modifier] = &[M(S::Size)];
const UNIFORM_UNPACK: &[Modifier] = &[M(S::Size), M(S::Unpack)];
const UNIFORM_256: &[Modifier] = &[BITS_256];
const MATRICES: &[Modifier] = &[M(S::Size), M(S::Shape), M(S::Count)];
const COPY: &[Modifier] =
    &[E, M(S::Bypass), M(S::Evict), M(S::Prefetch), M(S::Size), M(S::ZeroFill), M(S::Order)];
const TENSOR: &[Modifier] = &[M(S::Shape), M(S::Count), M(S::Pack)];
const TENSOR_STAT: &[Modifier] = &[
    always("STAT", "`.STAT`"),
    M(S::Shape),
    M(S::Count),
    M(S::Statistic),
    M(S::StatisticType),
    M(S::Nan),
];

/// A descriptor needs a 64-bit base.
const DESCRIPTOR_32: IllegalBits = IllegalBits {
    groups: AHB,
    mask: 1 << 90 | 1 << 76,
    value: 1 << 76,
    reason: "a descriptor (bit 76) with a 32-bit base (bit 90)",
};
const DESCRIPTOR_32_OF_256: IllegalBits = IllegalBits {
    groups: ALL,
    mask: 1 << 75 | 1 << 76,
    value: 1 << 76,
    reason: "a descriptor (bit 76) with a 32-bit base (bit 75)",
};
const DESCRIPTOR_WITHOUT_BASE: IllegalBits = IllegalBits {
    groups: ALL,
    mask: 1 << 76 | 0xff << 24,
    value: 1 << 76 | 0xff << 24,
    reason: "a descriptor (bit 76) without a base register",
};
const SHARED_SIZE_7: IllegalBits =
    IllegalBits { groups: VT, mask: 7 << 73, value: 7 << 73, reason: "size 7" };

/// `LDGSTS` with a 32-bit base, on SMs where it is illegal.
const fn copy_32(groups: Groups, wide: u32, with: u128) -> IllegalBits {
    let (mask, value) = (1 << wide | with, with);
    IllegalBits { groups, mask, value, reason: "a 32-bit global base, where only 64 bits are" }
}

const LDCU_12: Groups = B12.or(B107);
const LDCU_10: Groups = Groups::of(crate::sm::Group::Blackwell100).or(B101);

const BINDLESS: &str = "a constant bank that a register names, `cx[UR]`,";
const UNIFORM_MEMORY: &str = "`[UR+offset]` of a uniform load";
const COPIES: &str = "LDGSTS writes shared memory, no register";
const TENSOR_MEMORY: &str = "LDTM loads Tensor Memory, which lanes do not address";

use FormDestination::{Halves, SharedMemory, Uniform, UniformHalves};
use FormSize::{Bits256, Matrices, Tensor};
use FormSpace::{Constant, Generic, Global, Local, Shared, Undocumented};

/// Every form: mnemonic, opcode, SMs, memory, fields, modifiers, operands. Forms of one opcode are adjacent, because
/// bit 91 and the SM choose among them.
#[rustfmt::skip]
pub(crate) static FORMS: &[Form] = &[
    form("LD", 0b100, P, Generic, spa5::LD, SPA5, &[RD, ADDRESS, PLG]),
    form("LDG", 0xeed0 >> 3, P, Global, spa5::LDG, SPA5, &[RD, ADDRESS]),
    form("LDL", 0xef40 >> 3, P, Local, spa5::LDL, SPA5_LOCAL, &[RD, ADDRESS]),
    form("LDS", 0xef48 >> 3, P, Shared, spa5::LDS, SPA5_SHARED, &[RD, ADDRESS]),
    form("LDC", 0xef90 >> 3, P, Constant, spa5::LDC, CONSTANT, &[RD, SPA5_BANK]),
    form("LD", 0x980, BITS_128, Generic, memory::LD_IMMEDIATE, LOAD, &[PD_OF_ZD, RD, ADDRESS, PIN]),
    form("LD", 0x980, TAHB, Generic, memory::LD_UNIFORM, LOAD, &[PD_OF_ZD, RD, GLOBAL, PIN])
        .illegal(&[DESCRIPTOR_32]),
    form("LDG", 0x381, BITS_128, Global, memory::LDG_IMMEDIATE, LOAD, &[PD, RD, ADDRESS, PIN]),
    form("LDG", 0x981, TAHB, Global, memory::LDG_UNIFORM, LOAD, &[PD, RD, GLOBAL, PIN])
        .illegal(&[DESCRIPTOR_32]),
    form("LDG", 0x97e, ADA.or(B), Global, memory::LDG_256, LOAD_256, &[HIGH, RD, GLOBAL_256, MASK, PIN])
        .to(Halves).loading(Bits256).illegal(&[DESCRIPTOR_32_OF_256, DESCRIPTOR_WITHOUT_BASE]),
    form("LDL", 0x983, BITS_128, Local, memory::LDL_IMMEDIATE, LOCAL, &[RD, LOCAL_ADDRESS]),
    form("LDL", 0x983, TAHB, Local, memory::LDL_UNIFORM, LOCAL, &[RD, LOCAL_UNIFORM]),
    form("LDS", 0x984, BITS_128, Shared, memory::LDS_IMMEDIATE, SHARED, &[PD_OF_ZD, RD, SCALED])
        .illegal(&[SHARED_SIZE_7]),
    form("LDS", 0x984, TAHB, Shared, memory::LDS_UNIFORM, SHARED, &[PD_OF_ZD, RD, SCALED_UNIFORM])
        .illegal(&[SHARED_SIZE_7]),
    form("LDC", 0xb82, BITS_128, Constant, constant::LDC_BANK, CONSTANT, &[RD, BANK]),
    form("LDC", 0x582, TAHB, Undocumented, constant::LDC_HANDLE, CONSTANT, &[RD, BINDLESS_BASE])
        .text_only(BINDLESS),
    form("ULDC", 0xab9, TAH, Constant, constant::ULDC_BANK, UNIFORM, &[RD, BANK_ALONE]).to(Uniform)
        .scheduled_but(&NO_SCHEDULES_OF_ULDC),
    form("ULDC", 0xab9, TAH, Undocumented, constant::ULDC_HANDLE, UNIFORM, &[RD, BINDLESS_ALONE]).to(Uniform)
        .text_only(BINDLESS).scheduled_but(&NO_SCHEDULES_OF_ULDC),
    form("ULDC", 0xabb, TAH, Constant, constant::ULDC_INDEXED, UNIFORM, &[RD, BANK_INDEXED]).to(Uniform)
        .scheduled_but(&NO_SCHEDULES_OF_ULDC),
    form("ULDC", 0x8b8, TAH, Undocumented, constant::ULDC_MEMORY, UNIFORM, &[RD, UNIFORM_ALONE, PIN_OF_BASE])
        .to(Uniform).text_only(UNIFORM_MEMORY).scheduled_but(&NO_SCHEDULES_OF_ULDC),
    form("LDCU", 0x7ac, B, Constant, constant::LDCU_BANK, UNIFORM_UNPACK, &[RD, BANK_UR]).to(Uniform),
    form("LDCU", 0xbac, LDCU_10, Undocumented, constant::LDCU_HANDLE, UNIFORM_UNPACK, &[RD, BINDLESS_UNKNOWN])
        .to(Uniform).text_only(BINDLESS),
    form("LDCU", 0xbac, LDCU_12, Undocumented, constant::LDCU_HANDLE_READ, UNIFORM_UNPACK, &[RD, BINDLESS_UR])
        .to(Uniform).text_only(BINDLESS),
    form("LDCU", 0x9ac, B, Undocumented, constant::LDCU_MEMORY, UNIFORM_UNPACK, &[RD, UNIFORM_UR, PIN_ALWAYS])
        .to(Uniform).text_only(UNIFORM_MEMORY),
    form("LDCU", 0xdac, LDCU_12, Constant, constant::LDCU_256_BANK, UNIFORM_256, &[HIGH, RD, BANK_UR, MASK])
        .to(UniformHalves).loading(Bits256),
    form("LDCU", 0x5ac, LDCU_12, Undocumented, constant::LDCU_256_HANDLE, UNIFORM_256, &[HIGH, RD, BINDLESS_UR, MASK])
        .to(UniformHalves).loading(Bits256).text_only(BINDLESS),
    form("LDCU", 0x3ac, LDCU_12, Undocumented, constant::LDCU_256_MEMORY, UNIFORM_256,
        &[HIGH, RD, UNIFORM_UR, MASK, PIN_ALWAYS])
        .to(UniformHalves).loading(Bits256).text_only(UNIFORM_MEMORY),
    form("LDSM", 0x83b, TAHB, Shared, other::LDSM_IMMEDIATE, MATRICES, &[RD, MATRIX_ADDRESS]).loading(Matrices),
    form("LDSM", 0x83b, TAHB, Shared, other::LDSM_UNIFORM, MATRICES, &[RD, MATRIX_UNIFORM]).loading(Matrices),
    form("LDGSTS", 0xfae, AHB, Global, other::LDGSTS, COPY, &[COPY_TO, COPY_FROM_UNIFORM, PIN])
        .to(SharedMemory).elsewhere(COPIES).illegal(&[copy_32(AH, 70, 1 << 76), copy_32(B, 83, 1 << 76)]),
    form("LDGSTS", 0xdae, AHB, Global, other::LDGSTS, COPY, &[COPY_TO_UNIFORM, COPY_FROM, PIN])
        .to(SharedMemory).elsewhere(COPIES).illegal(&[copy_32(AH, 70, 0), copy_32(B, 83, 0)]),
    form("LDTM", 0x9ee, B10, FormSpace::Tensor, other::LDTM, TENSOR, &[RD, TMEM]).loading(Tensor)
        .elsewhere(TENSOR_MEMORY),
    form("LDTM", 0x5ee, B101.or(B107), FormSpace::Tensor, other::LDTM_STAT, TENSOR_STAT, &[HIGH, RD, TMEM])
        .loading(Tensor).elsewhere(TENSOR_MEMORY),
];
