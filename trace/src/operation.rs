//! [`MemoryOperation`]: the effect of a memory instruction, derived from its opcode's text.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warpload_encoding::{
    ConstantMode, Instruction, OpcodeFacts, OpcodeKind, OpcodeMatrices, OpcodeSpace, Sm,
    parse_opcode,
};

use warpload::load::{ExecuteError, LoadOp, MatrixLoad};
use warpload::memory::{AddressSpace, Width};

/// The constant space. Traces do not name the bank, so it is always 0.
const CONSTANT: AddressSpace = AddressSpace::Constant { bank: 0 };

/// The address spaces of a trace's instructions.
pub(super) const SPACES: [AddressSpace; 5] = [
    AddressSpace::Generic,
    AddressSpace::Global,
    AddressSpace::Local,
    AddressSpace::Shared,
    CONSTANT,
];

/// The JSON name of an address space. All constant banks share one.
pub(super) fn space_name(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Generic => "generic",
        AddressSpace::Global => "global",
        AddressSpace::Local => "local",
        AddressSpace::Shared => "shared",
        AddressSpace::Constant { .. } => "constant",
    }
}

/// The effect of a memory instruction, apart from lanes and addresses. All instructions with the same opcode share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryOperation {
    /// The opcode with its modifiers, as the trace writes it.
    pub opcode: Arc<str>,
    /// The replay's treatment of it.
    pub kind: OperationKind,
    /// The address space of its addresses. The constant bank is always 0, because traces do not name it.
    pub space: AddressSpace,
    /// The access size of each lane; for matrix loads, of a row. Meaningless for [`OperationKind::Transfer`] and
    /// [`OperationKind::Other`]; see [`Self::bytes`].
    pub width: Width,
    /// Whether a narrow value is sign-extended.
    pub signed: bool,
    /// Whether it is a load of the `.U.128` form (`LD`, `LDG`), which may take the broadcast path.
    pub uniform: bool,
    /// The matrices of an `LDSM`; `None` for other instructions.
    pub matrices: Option<OpcodeMatrices>,
    /// The SPA 5.0 instruction word; `None` if the trace does not have it.
    pub word: Option<u64>,
    /// The SPA 5.0 word of the opcode and its modifiers with all operands `RZ`, `PT` or 0. Present if the trace is of
    /// SM 5.x or 6.x, which have these instructions. The other fields then come from the instruction rather than from
    /// the opcode's text.
    pub opcode_word: Option<u64>,
}

/// The replay's treatment of a memory instruction.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum OperationKind {
    /// Executes it: `LD`, `LDG`, `LDL`, `LDS`, `LDC`, `LDSM`.
    #[default]
    Load,
    /// Counts its traffic: `ST`, `STG`, `STL`, `STS`.
    Store,
    /// Counts its traffic: `RED`, `REDG`, `ATOM`, `ATOMG`, `ATOMS`.
    Atomic,
    /// Counts it and its lanes: `LDGSTS`, which copies from global to shared memory.
    Copy,
    /// Counts the transfers and bytes that the trace states: `UTMALDG` and the other instructions of the Tensor Memory
    /// Accelerator, which move blocks of memory instead of lane values.
    Transfer,
    /// Counts it, by name if it reads memory.
    Other,
}

impl MemoryOperation {
    /// Returns the operation of a SPA 5.0 instruction, without its instruction word.
    ///
    /// # Errors
    /// Returns [`ExecuteError`] if the instruction cannot be executed.
    pub fn of(instruction: &Instruction) -> Result<Self, ExecuteError> {
        let op = LoadOp::try_from(instruction)?;
        let space = if let AddressSpace::Constant { .. } = op.space { CONSTANT } else { op.space };
        Ok(Self::new(instruction.opcode().as_str(), OperationKind::Load, LoadOp { space, ..op }))
    }

    pub(crate) fn new(
        opcode: impl Into<Arc<str>>,
        kind: OperationKind,
        LoadOp { space, width, signed, uniform }: LoadOp,
    ) -> Self {
        let opcode = opcode.into();
        let facts = OpcodeFacts::of(&opcode).filter(|_| kind == OperationKind::Load);
        let matrices = facts.and_then(OpcodeFacts::matrices);
        let (word, opcode_word) = (None, None);
        Self { opcode, kind, space, width, signed, uniform, matrices, word, opcode_word }
    }

    /// Returns the operation of an opcode of SM 5.x or 6.x. Loads are decoded as instructions instead of by their text.
    #[must_use]
    pub fn of_spa5(opcode: &str) -> Self {
        let exact = parse_opcode(opcode, Sm::SPA5).ok().and_then(|instruction| {
            let opcode_word = Some(instruction.bits() as u64);
            let operation = Self::of(&instruction).ok()?;
            Some(Self { opcode: opcode.into(), opcode_word, ..operation })
        });
        exact.unwrap_or_else(|| Self::of_opcode(opcode))
    }

    /// Returns the operation of an instruction with a memory operand, by the text of its opcode
    /// (docs/trace-inputs.md).
    #[must_use]
    pub fn of_opcode(opcode: &str) -> Self {
        if let Some(operation) = Self::of_ptx(opcode) {
            return operation;
        }
        let facts = OpcodeFacts::of(opcode);
        let (kind, space) = match facts {
            Some(facts) if is_refused(opcode, facts) => {
                (OperationKind::Other, kind_and_space(facts).1)
            }
            Some(facts) => kind_and_space(facts),
            // An opcode of an unknown SM.
            None if opcode.starts_with("ATOM") => (OperationKind::Atomic, AddressSpace::Generic),
            None => (OperationKind::Other, AddressSpace::Generic),
        };
        let width = match facts {
            Some(facts) if facts.kind() == OpcodeKind::MatrixLoad => MatrixLoad::ROWS.width,
            Some(facts) if is_of_lanes(facts.kind()) => {
                facts.lane_bytes().and_then(Width::from_bytes).unwrap_or(Width::Bytes4)
            }
            _ => Width::Bytes4,
        };
        let signed = facts.is_some_and(OpcodeFacts::is_signed);
        let uniform = kind == OperationKind::Load
            && width == Width::Bytes16
            && facts.is_some_and(|facts| facts.has("U"))
            && reaches_global(space);
        Self::new(opcode, kind, LoadOp { space, width, signed, uniform })
    }

    /// Reads an opcode of PTX, such as `ld.global.v4.f32`; `None` for others. They are in lower case, unlike those of SASS.
    /// The size of `cp.async`, which PTX has as an operand, is the last part: `cp.async.cg.shared.global.16`.
    fn of_ptx(opcode: &str) -> Option<Self> {
        let mut parts = opcode.split('.');
        let head = parts.next()?;
        let kind = match head {
            "ld" | "ldu" | "ldmatrix" => OperationKind::Load,
            "st" | "stmatrix" => OperationKind::Store,
            "atom" | "red" => OperationKind::Atomic,
            "cp" => OperationKind::Copy,
            _ => return None,
        };
        let (mut space, mut count, mut bytes, mut signed) = (AddressSpace::Generic, 1, 4, false);
        for part in parts {
            match part {
                // Both sides of a copy have one operation, so its addresses are generic.
                _ if kind == OperationKind::Copy => bytes = part.parse().unwrap_or(bytes),
                "global" => space = AddressSpace::Global,
                "local" => space = AddressSpace::Local,
                "const" => space = CONSTANT,
                _ if part.starts_with("shared") => space = AddressSpace::Shared,
                "v2" | "v4" | "v8" => count = u32::from(part.as_bytes()[1] - b'0'),
                _ => {
                    let Some(size) = ptx_type_bytes(part) else { continue };
                    (bytes, signed) = (size, part.starts_with('s'));
                }
            }
        }
        // Each lane has the address of a row of a matrix.
        let bytes = if head.ends_with("matrix") { 16 } else { bytes.checked_mul(count)? };
        let width = Width::from_bytes(bytes)?;
        Some(Self::new(opcode, kind, LoadOp { space, width, signed, uniform: false }))
    }

    /// Returns the bytes that each lane accesses, or that it receives from a matrix load; `None` if the opcode does not
    /// say.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> Option<u32> {
        match self.kind {
            OperationKind::Load if self.matrices.is_some() => Some(4 * self.registers()),
            OperationKind::Load
            | OperationKind::Store
            | OperationKind::Atomic
            | OperationKind::Copy => Some(self.width.bytes()),
            OperationKind::Transfer | OperationKind::Other => None,
        }
    }

    /// Returns the number of 32-bit registers that each lane loads or stores.
    #[inline]
    #[must_use]
    pub fn registers(&self) -> u32 {
        self.matrices.map_or(self.width.registers(), |matrices| matrices.registers())
    }

    /// Returns the matrix load of an `LDSM`; `None` for other instructions, and for forms with an unpublished
    /// assignment of elements to lanes.
    #[inline]
    #[must_use]
    pub fn matrix_load(&self) -> Option<MatrixLoad> {
        let matrices = self.matrices?;
        MatrixLoad::new(matrices.count, matrices.transposed?)
    }

    /// Returns the name for counting an instruction that reads memory but is neither replayed nor counted otherwise,
    /// such as `LDTM`: the opcode before the first dot.
    #[must_use]
    pub fn not_replayed(&self) -> Option<&str> {
        let name = self.opcode.split('.').next()?;
        let reads = match OpcodeFacts::of(name) {
            Some(facts) => match facts.kind() {
                OpcodeKind::TensorLoad | OpcodeKind::ReducingLoad => true,
                OpcodeKind::Load | OpcodeKind::MatrixLoad => {
                    let is_refused = |whole| is_refused(&self.opcode, whole);
                    facts.is_uniform() || OpcodeFacts::of(&self.opcode).is_some_and(is_refused)
                }
                _ => false,
            },
            // An opcode of an unknown SM.
            None => name.starts_with("LD") || name.starts_with("ULD"),
        };
        (self.kind == OperationKind::Other && reads).then_some(name)
    }

    /// Returns the load operation for the executors.
    #[inline]
    #[must_use]
    pub fn load_op(&self) -> LoadOp {
        let Self { space, width, signed, uniform, .. } = *self;
        LoadOp { space, width, signed, uniform }
    }

    /// Returns the name of its address space: `generic`, `global`, `local`, `shared` or `constant`.
    #[must_use]
    pub fn space_name(&self) -> &'static str {
        space_name(self.space)
    }

    /// Returns whether it can reach global memory and therefore accesses sectors.
    #[must_use]
    pub fn reaches_global(&self) -> bool {
        reaches_global(self.space)
    }
}

/// The size of a type of PTX, such as `f32` or `bf16x2`; `None` for other words.
fn ptx_type_bytes(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("bf").or_else(|| word.strip_prefix(['b', 'u', 's', 'f']))?;
    let (bits, count) = match digits.strip_suffix("x2") {
        Some(bits) => (bits, 2),
        None => (digits, 1),
    };
    let bits: u32 = bits.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(bits / 8 * count)
}

/// Whether each lane has an access of its own, with a size that the opcode states.
fn is_of_lanes(kind: OpcodeKind) -> bool {
    use OpcodeKind::{MatrixStore, TensorLoad, TensorStore};
    !matches!(kind, MatrixStore | TensorLoad | TensorStore)
}

/// Kind and address space of an opcode. The space is generic if traces have none for it.
fn kind_and_space(facts: OpcodeFacts<'_>) -> (OperationKind, AddressSpace) {
    let kind = match facts.kind() {
        OpcodeKind::Transfer | OpcodeKind::Prefetch => {
            return (OperationKind::Transfer, AddressSpace::Global);
        }
        OpcodeKind::MatrixLoad => OperationKind::Load,
        OpcodeKind::Load if facts.is_uniform() => OperationKind::Other,
        _ if facts.is_uniform() => return (OperationKind::Other, AddressSpace::Generic),
        // Its shared and its global addresses are two records with the same opcode, so the space of each is unknown.
        OpcodeKind::Copy => return (OperationKind::Copy, AddressSpace::Generic),
        OpcodeKind::Load => OperationKind::Load,
        OpcodeKind::Store => OperationKind::Store,
        OpcodeKind::Atomic | OpcodeKind::Reduction => OperationKind::Atomic,
        _ => return (OperationKind::Other, AddressSpace::Generic),
    };
    match facts.space() {
        Some(OpcodeSpace::Generic) => (kind, AddressSpace::Generic),
        Some(OpcodeSpace::Global) => (kind, AddressSpace::Global),
        Some(OpcodeSpace::Local) => (kind, AddressSpace::Local),
        Some(OpcodeSpace::Shared) => (kind, AddressSpace::Shared),
        Some(OpcodeSpace::Constant) => (kind, CONSTANT),
        _ => (OperationKind::Other, AddressSpace::Generic),
    }
}

/// Whether the executors refuse a load by its opcode: its bank and offset are not documented, or a modifier is invalid. A
/// trace of it is counted by name.
fn is_refused(opcode: &str, facts: OpcodeFacts<'_>) -> bool {
    let modes = ConstantMode::ALL.into_iter().filter(|mode| *mode != ConstantMode::Direct);
    let is_undocumented = facts.space() == Some(OpcodeSpace::Constant)
        && modes.into_iter().any(|mode| facts.has(mode.name()));
    let is_invalid = |part: &str| part.starts_with("INVALID") || part.starts_with("???");
    let is_load = matches!(facts.kind(), OpcodeKind::Load | OpcodeKind::MatrixLoad);
    is_load && (is_undocumented || opcode.split('.').any(is_invalid))
}

/// Whether an opcode belongs to the Tensor Memory Accelerator and moves blocks of memory.
pub(super) fn is_transfer(opcode: &str) -> bool {
    let kind = OpcodeFacts::of(opcode).map(OpcodeFacts::kind);
    matches!(kind, Some(OpcodeKind::Transfer | OpcodeKind::Prefetch))
}

/// Whether loads of a space can reach global memory. Exactly these, `LD` and `LDG`, have a `.U.128` form.
fn reaches_global(space: AddressSpace) -> bool {
    matches!(space, AddressSpace::Generic | AddressSpace::Global)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(opcode: &str) -> (OperationKind, AddressSpace, u32, bool, bool) {
        let MemoryOperation { kind, space, width, signed, uniform, .. } =
            MemoryOperation::of_opcode(opcode);
        (kind, space, width.bytes(), signed, uniform)
    }

    fn load(opcode: &str) -> (AddressSpace, u32, bool, bool) {
        let (kind, space, bytes, signed, uniform) = read(opcode);
        assert_eq!(kind, OperationKind::Load);
        (space, bytes, signed, uniform)
    }

    #[test]
    fn the_head_is_compared_whole() {
        assert_eq!(load("LDG.E"), (AddressSpace::Global, 4, false, false));
        assert_eq!(load("LD"), (AddressSpace::Generic, 4, false, false));
        assert_eq!(load("LDC.64"), (CONSTANT, 8, false, false));
        let kind = |opcode| MemoryOperation::of_opcode(opcode).kind;
        for (opcode, name) in [
            ("REDUX.SUM", None),
            ("CCTL.IVALL", None),
            ("MOV", None),
            ("ULDC.64", Some("ULDC")),
            ("LDCU", Some("LDCU")),
            ("LDTM.x64", Some("LDTM")),
            ("LDX.64", Some("LDX")),
            ("STSM.16.M88", None),
            ("STAS.64", None),
            ("SULD.D.1D", None),
            ("USTGR.E", None),
        ] {
            assert_eq!(kind(opcode), OperationKind::Other, "{opcode}");
            assert_eq!(MemoryOperation::of_opcode(opcode).not_replayed(), name);
        }
        assert_eq!(MemoryOperation::of_opcode("LDG.E").not_replayed(), None);
        assert_eq!(kind("LDGSTS.E.128"), OperationKind::Copy);
        for transfer in ["UTMALDG.2D", "UBLKCP.S.G", "UTMAPF.L2.3D"] {
            assert_eq!(kind(transfer), OperationKind::Transfer, "{transfer}");
        }
    }

    #[test]
    fn matrices_are_loaded_from_shared_memory() {
        for (opcode, count, rows, bytes, is_public) in [
            ("LDSM.16.M88", 1, 8, 4, true),
            ("LDSM.16.MT88.2", 2, 8, 8, true),
            ("LDSM.16.M88.4", 4, 8, 16, true),
            ("LDSM.8.MT1616.2", 2, 16, 16, false),
            ("LDSM.U4x16P64TO8.M816.4", 4, 8, 16, false),
        ] {
            assert_eq!(load(opcode), (AddressSpace::Shared, 16, false, false), "{opcode}");
            let operation = MemoryOperation::of_opcode(opcode);
            let matrices = operation.matrices.expect("matrices");
            assert_eq!((matrices.count, matrices.rows), (count, rows), "{opcode}");
            assert_eq!(operation.bytes(), Some(bytes), "{opcode}");
            assert_eq!(operation.matrix_load().is_some(), is_public, "{opcode}");
        }
        assert_eq!(MemoryOperation::of_opcode("STSM.16.M88").matrices, None);
    }

    #[test]
    fn stores_and_atomics_have_sizes() {
        use AddressSpace::{Generic, Global, Local, Shared};
        for (opcode, kind, space, bytes) in [
            ("ST.E", OperationKind::Store, Generic, 4),
            ("STG.E.64", OperationKind::Store, Global, 8),
            ("STL.128", OperationKind::Store, Local, 16),
            ("STS.U8", OperationKind::Store, Shared, 1),
            ("STG.E.U64", OperationKind::Store, Global, 4),
            ("ATOM.ADD", OperationKind::Atomic, Generic, 4),
            ("ATOMG.E.ADD.F64", OperationKind::Atomic, Global, 8),
            ("ATOMS.CAS.U64", OperationKind::Atomic, Shared, 8),
            ("RED.E.ADD.S64", OperationKind::Atomic, Generic, 8),
            ("ATOMG.E.CAS.STRONG.GPU.64", OperationKind::Atomic, Global, 8),
            ("ATOMS.POPC.INC.32", OperationKind::Atomic, Shared, 4),
        ] {
            assert_eq!(read(opcode), (kind, space, bytes, false, false), "{opcode}");
            assert_eq!(MemoryOperation::of_opcode(opcode).bytes(), Some(bytes));
        }
    }

    #[test]
    fn opcodes_of_ptx_have_their_effect() {
        use AddressSpace::{Generic, Global, Local, Shared};
        use OperationKind::{Atomic, Copy, Load, Store};
        for (opcode, kind, space, bytes, signed) in [
            ("ld.global.nc.L1::evict_last.v4.f32", Load, Global, 16, false),
            ("ld.shared::cta.s8", Load, Shared, 1, true),
            ("ld.const.u64", Load, CONSTANT, 8, false),
            ("ld.v2.bf16x2", Load, Generic, 8, false),
            ("ld.relaxed.sys.global.b128", Load, Global, 16, false),
            ("ld.global.v8.b32", Load, Global, 32, false),
            ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", Load, Shared, 16, false),
            ("st.local.s16", Store, Local, 2, true),
            ("atom.global.add.noftz.f16x2", Atomic, Global, 4, false),
            ("red.relaxed.gpu.global.add.v4.f32", Atomic, Global, 16, false),
            ("cp.async.cg.shared.global.16", Copy, Generic, 16, false),
        ] {
            assert_eq!(read(opcode), (kind, space, bytes, signed, false), "{opcode}");
        }
        for opcode in ["mov.b32", "ld.v8.b128", "LD.global"] {
            assert!(MemoryOperation::of_ptx(opcode).is_none(), "{opcode}");
        }
    }

    /// As ptxas 12.9 chooses them for sm_90, sm_100 and sm_120, and nvdisasm 13.5 prints them.
    #[test]
    fn wide_accesses_of_sm_9x_and_later_have_sizes() {
        use AddressSpace::{Generic, Global, Shared};
        for (opcode, kind, space, bytes) in [
            ("LDG.E.ENL2.256", OperationKind::Load, Global, 32),
            ("LDG.E.EL.ENL2.256.CONSTANT", OperationKind::Load, Global, 32),
            ("STG.E.EFL2.256", OperationKind::Store, Global, 32),
            ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", OperationKind::Atomic, Global, 4),
            ("REDG.E.ADD.64.STRONG.GPU", OperationKind::Atomic, Global, 8),
            ("REDG.E.MAX.S64.STRONG.GPU", OperationKind::Atomic, Global, 8),
            ("REDG.E.ADD.F64.RN.STRONG.GPU", OperationKind::Atomic, Global, 8),
            ("REDG.E.ADD.F32x2.FTZ.RN.STRONG.GPU", OperationKind::Atomic, Global, 8),
            ("RED.E.ADD.F32x4.RN.STRONG.GPU", OperationKind::Atomic, Generic, 16),
            ("ATOMG.E.ADD.F16x2.RN.STRONG.GPU", OperationKind::Atomic, Global, 4),
            ("ATOMG.E.MIN.F16x4.RN.STRONG.GPU", OperationKind::Atomic, Global, 8),
            ("ATOMG.E.MAX.BF16x8.RN.STRONG.GPU", OperationKind::Atomic, Global, 16),
            ("RED.E.ADD.BF16_V2.RN.STRONG.GPU", OperationKind::Atomic, Generic, 4),
            ("ATOM.E.EXCH.128.STRONG.GPU", OperationKind::Atomic, Generic, 16),
            ("ATOMS.CAST.SPIN.64", OperationKind::Atomic, Shared, 8),
            // Nonexistent forms.
            ("REDG.E.ADD.F32x8", OperationKind::Atomic, Global, 32),
            ("REDG.E.ADD.F64x2", OperationKind::Atomic, Global, 4),
            ("REDG.E.ADD.F16x3", OperationKind::Atomic, Global, 4),
        ] {
            assert_eq!(read(opcode), (kind, space, bytes, false, false), "{opcode}");
        }
        assert_eq!(MemoryOperation::of_opcode("REDUX.SUM").kind, OperationKind::Other);
        assert_eq!(MemoryOperation::of_opcode("REDAS.ADD.64").kind, OperationKind::Other);
    }

    /// The text and the instruction agree; only the latter knows the cache operator and `.E`.
    #[test]
    fn refused_modes_are_not_replayed() {
        for opcode in ["LDC.IL", "LDC.IS.64", "LDC.ISL.U8", "LDS.INVALIDSIZE7"] {
            for operation in [MemoryOperation::of_opcode(opcode), MemoryOperation::of_spa5(opcode)]
            {
                assert_eq!(operation.kind, OperationKind::Other, "{opcode}");
                assert_eq!(operation.not_replayed(), opcode.split('.').next(), "{opcode}");
            }
        }
        assert_eq!(MemoryOperation::of_opcode("LDC.64").kind, OperationKind::Load);
    }

    #[test]
    fn loads_of_sm_6x_are_exact() {
        for opcode in [
            "LDG.E.64",
            "LDG.E.CI.U8",
            "LDL.LU.S16",
            "LDS.U.64",
            "LDS.U.32",
            "LDC.U16",
            "LD.E.U.128",
        ] {
            let exact = MemoryOperation::of_spa5(opcode);
            let word = exact.opcode_word.expect("an instruction of SPA 5.0");
            let instruction = Instruction::decode(word, Sm::SPA5).load().expect("a load");
            assert_eq!(instruction.opcode().as_str(), opcode);
            let told = MemoryOperation::of_opcode(opcode);
            assert_eq!(told, MemoryOperation { opcode_word: None, ..exact });
        }
        // Not of SPA 5.0, or not executable: classified by its text.
        for opcode in ["LDG.E.64.SYS", "LDC.IL", "LDS.INVALIDSIZE7", "STG.E"] {
            assert_eq!(MemoryOperation::of_spa5(opcode), MemoryOperation::of_opcode(opcode));
        }
    }

    #[test]
    fn sizes_and_uniformity() {
        assert_eq!(load("LDG.E.S16.SYS"), (AddressSpace::Global, 2, true, false));
        assert_eq!(load("LDG.E.LTC128B.64"), (AddressSpace::Global, 8, false, false));
        assert_eq!(load("LD.E.U.128"), (AddressSpace::Generic, 16, false, true));
        assert_eq!(load("LDG.E.U.128"), (AddressSpace::Global, 16, false, true));
        // The `.U` of LDS has no observable effect.
        assert_eq!(load("LDS.U"), (AddressSpace::Shared, 4, false, false));
        assert_eq!(load("LDS.U.128"), (AddressSpace::Shared, 16, false, false));
        assert_eq!(load("LDG.E.U8"), (AddressSpace::Global, 1, false, false));
    }
}
