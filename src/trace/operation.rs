//! What an opcode of a trace does: its space and its access size, read off its text.

use serde::{Deserialize, Serialize};

/// The memory that a traced load addresses, and how its addresses are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// A load as a trace names it. All loads of one opcode share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// The opcode with its modifiers, as the trace writes it.
    pub opcode: String,
    /// What it addresses.
    pub space: TraceSpace,
    /// How many bytes each lane asks for: 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// Whether a narrow value is sign-extended.
    pub signed: bool,
    /// Whether it is of `.U.128` form, or `LDS.U`: it may take the broadcast path.
    pub uniform: bool,
    /// The SPA 5.0 instruction word, where the trace has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<u64>,
}

impl Operation {
    /// Whether a load of that access size exists. One of another size cannot be executed.
    pub(super) fn is_possible(&self) -> bool {
        matches!(self.bytes, 1 | 2 | 4 | 8 | 16)
    }
}

/// What a replay does with an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// Loaded.
    Load(Operation),
    /// Skipped and counted.
    Skipped(Skipped),
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
    /// What an opcode with a memory operand is. The part in front of the first dot, compared
    /// whole, decides (docs/traces.md). Without a memory operand everything is
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
            _ => return Self::Skipped(Skipped::Other),
        };
        let has = |wanted: &str| modifiers.split('.').any(|modifier| modifier == wanted);
        let (bytes, signed) = modifiers
            .split('.')
            .find_map(|modifier| match modifier {
                "U8" => Some((1, false)),
                "S8" => Some((1, true)),
                "U16" => Some((2, false)),
                "S16" => Some((2, true)),
                "64" => Some((8, false)),
                "128" => Some((16, false)),
                _ => None,
            })
            .unwrap_or((4, false));
        let uniform = has("U") && (space == TraceSpace::Shared || bytes == 16);
        let opcode = opcode.to_owned();
        Self::Load(Operation { opcode, space, bytes, signed, uniform, word: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(opcode: &str) -> (TraceSpace, u32, bool, bool) {
        match Class::of(opcode) {
            Class::Load(op) => (op.space, op.bytes, op.signed, op.uniform),
            Class::Skipped(kind) => panic!("{opcode} is {kind:?}"),
        }
    }

    #[test]
    fn the_head_is_compared_whole() {
        assert_eq!(load("LDG.E"), (TraceSpace::Global, 4, false, false));
        assert_eq!(load("LD"), (TraceSpace::Generic, 4, false, false));
        assert_eq!(load("LDC.64"), (TraceSpace::Constant, 8, false, false));
        for other in ["LDGSTS.E.128", "LDSM.16.M88.4", "ULDC.64", "REDUX.SUM", "LDGDEPBAR", "MOV"] {
            assert_eq!(Class::of(other), Class::Skipped(Skipped::Other), "{other}");
        }
        for atomic in ["ATOM.ADD", "ATOMG.E.ADD", "ATOMS.CAS", "RED.E.ADD"] {
            assert_eq!(Class::of(atomic), Class::Skipped(Skipped::Atomic), "{atomic}");
        }
        for store in ["ST.E", "STG.E.64", "STL.64", "STS.U8"] {
            assert_eq!(Class::of(store), Class::Skipped(Skipped::Store), "{store}");
        }
    }

    #[test]
    fn sizes_and_uniformity() {
        assert_eq!(load("LDG.E.S16.SYS"), (TraceSpace::Global, 2, true, false));
        assert_eq!(load("LDG.E.LTC128B.64"), (TraceSpace::Global, 8, false, false));
        assert_eq!(load("LD.E.U.128"), (TraceSpace::Generic, 16, false, true));
        assert_eq!(load("LDS.U"), (TraceSpace::Shared, 4, false, true));
        assert_eq!(load("LDS.U.64"), (TraceSpace::Shared, 8, false, true));
        assert_eq!(load("LDG.E.U8"), (TraceSpace::Global, 1, false, false));
    }
}
