//! What an opcode of a trace does: its space and its access size, read off its text.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warpload_encoding::{Instruction, parse_opcode};

use crate::load::{ExecuteError, LoadOp};
use crate::memory::{AddressSpace, Width};

/// The widest load that a trace can have.
pub(super) const WIDEST: Width = Width::B16;

/// The memory that a traced load addresses, and how its addresses are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceSpace {
    /// `LD`: generic addresses.
    Generic,
    /// `LDG`: addresses of global memory.
    Global,
    /// `LDL`: byte offsets into the lane's local memory.
    Local,
    /// `LDS`: byte offsets into the CTA's shared memory.
    Shared,
    /// `LDC`: byte offsets into a constant bank.
    Constant,
}

impl TraceSpace {
    /// Returns whether loads of this space can reach global memory, so that their sectors count.
    pub fn reaches_global(self) -> bool {
        matches!(self, Self::Generic | Self::Global)
    }

    /// Returns whether the loads of this space have a `.U.128` form: `LD` and `LDG` do.
    pub(super) fn has_uniform_form(self) -> bool {
        self.reaches_global()
    }
}

/// A load as a trace names it. All loads of one opcode share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// The opcode with its modifiers, as the trace writes it.
    pub opcode: Arc<str>,
    /// What it addresses.
    pub space: TraceSpace,
    /// How many bytes each lane asks for. Traces have no loads of 32 bytes.
    pub width: Width,
    /// Whether a narrow value is sign-extended.
    pub signed: bool,
    /// Whether it is of `.U.128` form (`LD`, `LDG`) and may take the broadcast path.
    pub uniform: bool,
    /// The SPA 5.0 instruction word, where the trace has one.
    pub word: Option<u64>,
    /// The SPA 5.0 word of the opcode and its modifiers, all operands `RZ`, `PT` or 0, where the
    /// trace is of a machine that has these instructions: SM 5.x or 6.x. Space, size and the rest
    /// are then the instruction's own; else they are read off the opcode's text.
    pub opcode_word: Option<u64>,
}

impl Operation {
    /// The operation of a SPA 5.0 instruction, apart from its word.
    ///
    /// # Errors
    /// [`ExecuteError`] where the instruction cannot be executed.
    pub fn of(instruction: &Instruction) -> Result<Self, ExecuteError> {
        let op = LoadOp::try_from(instruction)?;
        let space = match op.space {
            AddressSpace::Generic => TraceSpace::Generic,
            AddressSpace::Global => TraceSpace::Global,
            AddressSpace::Local => TraceSpace::Local,
            AddressSpace::Shared => TraceSpace::Shared,
            AddressSpace::Constant { .. } => TraceSpace::Constant,
        };
        let LoadOp { width, signed, uniform, .. } = op;
        let opcode = instruction.opcode().as_str().into();
        Ok(Self { opcode, space, width, signed, uniform, word: None, opcode_word: None })
    }

    /// The operation of an opcode of SM 5.x or 6.x, exactly; nothing where it is no load that can
    /// be executed.
    fn of_spa5(opcode: &str) -> Option<Self> {
        let instruction = parse_opcode(opcode).ok()?;
        let opcode_word = Some(instruction.encode());
        Some(Self { opcode: opcode.into(), opcode_word, ..Self::of(&instruction).ok()? })
    }

    /// Whether a trace can have loads of that width.
    pub(super) fn is_possible(&self) -> bool {
        self.width <= WIDEST
    }
}

/// What a replay does with an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// Loaded.
    Load(Operation),
    /// Skipped and counted.
    Skipped(Skipped),
    /// Skipped, and counted by name besides: an instruction that reads memory but is not one of
    /// the loads that are replayed, such as `LDSM`. The opcode before its first dot.
    NotReplayed(String),
}

/// The kinds of instructions that a load replay skips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skipped {
    /// `ST`, `STG`, `STL`, `STS`.
    Store,
    /// `RED`, and everything that begins with `ATOM`.
    Atomic,
    /// Everything else.
    Other,
}

impl Class {
    /// What an opcode of SM 5.x or 6.x is. Its loads are read exactly.
    pub fn of_spa5(opcode: &str) -> Self {
        Operation::of_spa5(opcode).map_or_else(|| Self::of(opcode), Self::Load)
    }

    /// What an opcode with a memory operand is. The part in front of the first dot, compared
    /// whole, decides (docs/traces.md). Without a memory operand every instruction is
    /// [`Skipped::Other`].
    pub fn of(opcode: &str) -> Self {
        let (head, modifiers) = opcode.split_once('.').unwrap_or((opcode, ""));
        let space = match head {
            "LD" => TraceSpace::Generic,
            "LDG" => TraceSpace::Global,
            "LDL" => TraceSpace::Local,
            "LDS" => TraceSpace::Shared,
            "LDC" => TraceSpace::Constant,
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
        let uniform = width == Width::B16 && has("U") && space.has_uniform_form();
        let opcode = opcode.into();
        Self::Load(Operation {
            opcode,
            space,
            width,
            signed,
            uniform,
            word: None,
            opcode_word: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(opcode: &str) -> (TraceSpace, u32, bool, bool) {
        match Class::of(opcode) {
            Class::Load(op) => (op.space, op.width.bytes(), op.signed, op.uniform),
            other => panic!("{opcode} is {other:?}"),
        }
    }

    #[test]
    fn the_head_is_compared_whole() {
        assert_eq!(load("LDG.E"), (TraceSpace::Global, 4, false, false));
        assert_eq!(load("LD"), (TraceSpace::Generic, 4, false, false));
        assert_eq!(load("LDC.64"), (TraceSpace::Constant, 8, false, false));
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

    /// What the text tells and what the instruction tells are the same; only the latter knows the
    /// cache operator and `.E`.
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
        // Not of SPA 5.0, or not to be executed: told from the text.
        for opcode in ["LDG.E.64.SYS", "LDC.IL", "LDS.INVALIDSIZE7"] {
            assert_eq!(Class::of_spa5(opcode), Class::of(opcode));
        }
        assert_eq!(Class::of_spa5("STG.E"), Class::Skipped(Skipped::Store));
    }

    #[test]
    fn sizes_and_uniformity() {
        assert_eq!(load("LDG.E.S16.SYS"), (TraceSpace::Global, 2, true, false));
        assert_eq!(load("LDG.E.LTC128B.64"), (TraceSpace::Global, 8, false, false));
        assert_eq!(load("LD.E.U.128"), (TraceSpace::Generic, 16, false, true));
        assert_eq!(load("LDG.E.U.128"), (TraceSpace::Global, 16, false, true));
        // The `.U` of LDS has no observable effect.
        assert_eq!(load("LDS.U"), (TraceSpace::Shared, 4, false, false));
        assert_eq!(load("LDS.U.128"), (TraceSpace::Shared, 16, false, false));
        assert_eq!(load("LDG.E.U8"), (TraceSpace::Global, 1, false, false));
    }
}
