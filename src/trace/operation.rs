//! [`Operation`] and [`Class`]: what an opcode of a trace does, by its text.

use std::sync::Arc;

use warpload_encoding::{Instruction, parse_opcode};

use crate::load::{ExecuteError, LoadOp};
use crate::memory::{AddressSpace, Width};

/// The widest load that a trace can have.
pub(super) const WIDEST: Width = Width::B16;

/// The constant space of a trace's loads: traces do not name the bank.
const CONSTANT: AddressSpace = AddressSpace::Constant { bank: 0 };

/// The address spaces of a trace's loads.
pub(super) const SPACES: [AddressSpace; 5] = [
    AddressSpace::Generic,
    AddressSpace::Global,
    AddressSpace::Local,
    AddressSpace::Shared,
    CONSTANT,
];

/// Returns the name that JSON has for an address space; all constant banks have one.
pub(super) fn space_name(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Generic => "generic",
        AddressSpace::Global => "global",
        AddressSpace::Local => "local",
        AddressSpace::Shared => "shared",
        AddressSpace::Constant { .. } => "constant",
    }
}

/// What a traced load does, apart from lanes and addresses. All loads of one opcode share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// The opcode with its modifiers, as the trace writes it.
    pub opcode: Arc<str>,
    /// How its addresses are read. Traces do not name constant banks: theirs is 0.
    pub space: AddressSpace,
    /// The access size of each lane. Traces have no loads of 32 bytes.
    pub width: Width,
    /// Whether a narrow value is sign-extended.
    pub signed: bool,
    /// Whether it has the `.U.128` form (`LD`, `LDG`) and may take the broadcast path.
    pub uniform: bool,
    /// The SPA 5.0 instruction word; `None` if the trace does not have it.
    pub word: Option<u64>,
    /// The SPA 5.0 word of the opcode and its modifiers, all operands `RZ`, `PT` or 0, if the trace
    /// is of a machine that has these instructions: SM 5.x or 6.x. The other fields then come from
    /// the instruction, otherwise from the opcode's text.
    pub opcode_word: Option<u64>,
}

impl Operation {
    /// Returns the operation of a SPA 5.0 instruction, without its word.
    ///
    /// # Errors
    /// Returns [`ExecuteError`] if the instruction cannot be executed.
    pub fn of(instruction: &Instruction) -> Result<Self, ExecuteError> {
        let op = LoadOp::try_from(instruction)?;
        let space = if let AddressSpace::Constant { .. } = op.space { CONSTANT } else { op.space };
        Ok(Self::new(instruction.opcode().as_str(), LoadOp { space, ..op }))
    }

    fn new(opcode: &str, LoadOp { space, width, signed, uniform }: LoadOp) -> Self {
        let opcode = opcode.into();
        Self { opcode, space, width, signed, uniform, word: None, opcode_word: None }
    }

    /// Returns the operation of an opcode of SM 5.x or 6.x, read as an instruction; `None` if it is
    /// not a load that can be executed.
    fn of_spa5(opcode: &str) -> Option<Self> {
        let instruction = parse_opcode(opcode).ok()?;
        let opcode_word = Some(instruction.encode());
        Some(Self { opcode: opcode.into(), opcode_word, ..Self::of(&instruction).ok()? })
    }

    /// Returns what the executors execute.
    #[inline]
    pub(super) fn load_op(&self) -> LoadOp {
        let Self { space, width, signed, uniform, .. } = *self;
        LoadOp { space, width, signed, uniform }
    }

    /// Returns the name of its address space: `generic`, `global`, `local`, `shared` or `constant`.
    #[must_use]
    pub fn space_name(&self) -> &'static str {
        space_name(self.space)
    }

    /// Returns whether it can reach global memory, so that its sectors count.
    #[must_use]
    pub fn reaches_global(&self) -> bool {
        reaches_global(self.space)
    }
}

/// Returns whether loads of a space can reach global memory: those are the ones that have a `.U.128`
/// form, `LD` and `LDG`.
fn reaches_global(space: AddressSpace) -> bool {
    matches!(space, AddressSpace::Generic | AddressSpace::Global)
}

/// What a replay does with an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Class {
    /// Executes it.
    Load(Operation),
    /// Skips and counts it.
    Skipped(Skipped),
    /// Skips it, and counts it by name: an instruction that reads memory but is not one of the
    /// loads that are replayed, such as `LDSM`. The name is the opcode before its first dot.
    NotReplayed(String),
}

/// The kinds of instructions that a load replay skips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skipped {
    /// `ST`, `STG`, `STL`, `STS`.
    Store,
    /// `RED`, and opcodes that begin with `ATOM`.
    Atomic,
    /// Everything else.
    Other,
}

impl Class {
    /// Classifies an opcode of SM 5.x or 6.x, whose loads are read as instructions.
    #[must_use]
    pub fn of_spa5(opcode: &str) -> Self {
        Operation::of_spa5(opcode).map_or_else(|| Self::of(opcode), Self::Load)
    }

    /// Classifies the opcode of an instruction with a memory operand by the part before its first
    /// dot (docs/traces.md). Every instruction without a memory operand is [`Skipped::Other`].
    #[must_use]
    pub fn of(opcode: &str) -> Self {
        let (head, modifiers) = opcode.split_once('.').unwrap_or((opcode, ""));
        let space = match head {
            "LD" => AddressSpace::Generic,
            "LDG" => AddressSpace::Global,
            "LDL" => AddressSpace::Local,
            "LDS" => AddressSpace::Shared,
            "LDC" => CONSTANT,
            "ST" | "STG" | "STL" | "STS" => return Self::Skipped(Skipped::Store),
            "RED" => return Self::Skipped(Skipped::Atomic),
            _ if head.starts_with("ATOM") => return Self::Skipped(Skipped::Atomic),
            _ if head.starts_with("LD") || head.starts_with("ULD") => {
                return Self::NotReplayed(head.to_owned());
            }
            _ => return Self::Skipped(Skipped::Other),
        };
        let has = |wanted: &str| modifiers.split('.').any(|modifier| modifier == wanted);
        let (width, signed) = modifiers
            .split('.')
            .find_map(|modifier| match modifier {
                "U8" => Some((Width::B1, false)),
                "S8" => Some((Width::B1, true)),
                "U16" => Some((Width::B2, false)),
                "S16" => Some((Width::B2, true)),
                "64" => Some((Width::B8, false)),
                "128" => Some((Width::B16, false)),
                _ => None,
            })
            .unwrap_or((Width::B4, false));
        let uniform = width == Width::B16 && has("U") && reaches_global(space);
        Self::Load(Operation::new(opcode, LoadOp { space, width, signed, uniform }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(opcode: &str) -> (AddressSpace, u32, bool, bool) {
        match Class::of(opcode) {
            Class::Load(op) => (op.space, op.width.bytes(), op.signed, op.uniform),
            other => panic!("{opcode} is {other:?}"),
        }
    }

    #[test]
    fn the_head_is_compared_whole() {
        assert_eq!(load("LDG.E"), (AddressSpace::Global, 4, false, false));
        assert_eq!(load("LD"), (AddressSpace::Generic, 4, false, false));
        assert_eq!(load("LDC.64"), (CONSTANT, 8, false, false));
        for other in ["REDUX.SUM", "UTMALDG.2D", "CCTL.IVALL", "MOV"] {
            assert_eq!(Class::of(other), Class::Skipped(Skipped::Other), "{other}");
        }
        for (opcode, name) in
            [("LDGSTS.E.128", "LDGSTS"), ("LDSM.16.M88.4", "LDSM"), ("ULDC.64", "ULDC")]
        {
            assert_eq!(Class::of(opcode), Class::NotReplayed(name.to_owned()));
        }
        for atomic in ["ATOM.ADD", "ATOMG.E.ADD", "ATOMS.CAS", "RED.E.ADD"] {
            assert_eq!(Class::of(atomic), Class::Skipped(Skipped::Atomic), "{atomic}");
        }
        for store in ["ST.E", "STG.E.64", "STL.64", "STS.U8"] {
            assert_eq!(Class::of(store), Class::Skipped(Skipped::Store), "{store}");
        }
    }

    /// The text and the instruction agree; only the latter knows the cache operator and `.E`.
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
            let Class::Load(exact) = Class::of_spa5(opcode) else { panic!("{opcode}") };
            let Class::Load(told) = Class::of(opcode) else { panic!("{opcode}") };
            let word = exact.opcode_word.expect("an instruction of SPA 5.0");
            let instruction = Instruction::decode(word).expect("a load");
            assert_eq!(instruction.opcode().as_str(), opcode);
            assert_eq!(told, Operation { opcode_word: None, ..exact });
        }
        // Not of SPA 5.0, or not executable: classified by its text.
        for opcode in ["LDG.E.64.SYS", "LDC.IL", "LDS.INVALIDSIZE7"] {
            assert_eq!(Class::of_spa5(opcode), Class::of(opcode));
        }
        assert_eq!(Class::of_spa5("STG.E"), Class::Skipped(Skipped::Store));
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
