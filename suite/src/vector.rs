//! Test vectors: one instruction executed by one warp, with the state before and after it (docs/vectors.md).

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use warpload_encoding::{Decoded, Instruction, MachineWord, Reg, Slot, Sm, UniformReg};

use super::json::initial::Initial;
use super::json::sources::Files;
use super::json::values::{
    Hex32, Lanes, RegisterName, UniformName, UniqueMap, hexadecimal, only_objects, present,
};
use super::json::{self, JsonError};
use crate::text::difference;
use warpload::lane::{LaneMask, LaneValues};
use warpload::load::{ByFaultKind, ExecuteError, Executor, LaneFaultKind, Outcome, WarpFault};
use warpload::machine::Machine;
use warpload::warp::Warp;

/// One test vector.
#[derive(Debug)]
pub struct Vector {
    /// The name, for people; may be empty.
    pub name: String,
    /// The instruction.
    pub instruction: Instruction,
    /// The machine that the warp runs on.
    pub machine: Machine,
    /// The warp before.
    pub warp: Warp,
    /// The expected outcome; `None` if the vector has no `final`.
    pub expected: Option<Final>,
}

/// The changes of a load. Serializes as the vectors' `final`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Final {
    /// Registers with their 32 values, lane 0 first. In an outcome, only changed ones.
    #[serde(serialize_with = "registers")]
    pub registers: BTreeMap<Reg, LaneValues>,
    /// Uniform registers with their values. In an outcome, only changed ones.
    #[serde(serialize_with = "uniform_registers", skip_serializing_if = "BTreeMap::is_empty")]
    pub uniform_registers: BTreeMap<UniformReg, u32>,
    /// The warp fault's name.
    pub fault: Option<&'static str>,
    /// The lanes with a fault of each kind.
    #[serde(serialize_with = "masks")]
    pub lane_faults: ByFaultKind<LaneMask>,
    /// Whether the broadcast path was taken. `None` for `LDS.U`, because its `.U` has no observable effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<bool>,
}

impl Vector {
    /// Reads a vector from one JSON object.
    ///
    /// # Errors
    /// Returns [`JsonError`] with the key and, if the text is malformed, its position.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        let json: VectorJson = json::from_str(text)?;
        let instruction = read_instruction(&json.instruction, json.initial.sm())?;
        let (machine, warp) = json.initial.machine_and_warp(Files::Refused).map_err(|error| {
            JsonError { key: error.key.map(|key| format!("initial.{key}")), ..error }
        })?;
        let expected = json.expected.map(FinalJson::read).transpose()?;
        Ok(Self { name: json.name, instruction, machine, warp, expected })
    }

    /// Executes the instruction. Returns the warp after it, and the outcome.
    ///
    /// # Errors
    /// Returns [`ExecuteError`] if the instruction has an invalid size or an undocumented mode.
    pub fn run(&self, executor: Executor) -> Result<(Warp, Outcome), ExecuteError> {
        let mut warp = self.warp.clone();
        let outcome = executor.execute(&self.instruction, &self.machine, &mut warp)?;
        Ok((warp, outcome))
    }

    /// Returns the changes from the vector's warp to `after`.
    #[must_use]
    pub fn observed(&self, after: &Warp, outcome: &Outcome) -> Final {
        Final {
            registers: after
                .changed_since(&self.warp)
                .map(|register| (register, *after.register(register)))
                .collect(),
            uniform_registers: after
                .uniform_changed_since(&self.warp)
                .map(|register| (register, after.uniform_register(register)))
                .collect(),
            fault: outcome.warp_fault.map(|fault| fault.name()),
            lane_faults: outcome.lane_faults.by_kind(),
            broadcast: (!is_lds_u(&self.instruction)).then_some(outcome.is_broadcast()),
        }
    }

    /// Executes the vector and returns the differences from the expected outcome, one line each. Empty if the vector
    /// has no `final`.
    ///
    /// # Errors
    /// Returns [`ExecuteError`] if the instruction has an invalid size or an undocumented mode.
    pub fn check(&self, executor: Executor) -> Result<Vec<String>, ExecuteError> {
        let (after, outcome) = self.run(executor)?;
        Ok(self.compare(&self.observed(&after, &outcome)))
    }

    /// Returns the differences of an outcome from the expected one, one line each. Empty if the vector has no `final`.
    #[must_use]
    pub fn compare(&self, got: &Final) -> Vec<String> {
        let Some(expected) = &self.expected else { return Vec::new() };
        let mut differences = Vec::new();
        let hex = |value: u32| format!("{value:#010x}");
        // A register that is missing on one side has its old value there.
        let both: BTreeMap<_, _> = expected.registers.iter().chain(&got.registers).collect();
        for register in both.into_keys() {
            let before = self.warp.register(*register);
            let held = |side: &Final| *side.registers.get(register).unwrap_or(before);
            for (lane, (expected, got)) in held(expected).into_iter().zip(held(got)).enumerate() {
                if expected != got {
                    let place = format_args!("{register} lane {lane}");
                    differences.push(difference(&place, &hex(expected), &hex(got)));
                }
            }
        }
        let (ours, theirs) = (&expected.uniform_registers, &got.uniform_registers);
        let both: BTreeMap<_, _> = ours.iter().chain(theirs).collect();
        for register in both.into_keys() {
            let before = self.warp.uniform_register(*register);
            let held = |side: &BTreeMap<_, u32>| side.get(register).copied().unwrap_or(before);
            let (expected, got) = (held(ours), held(theirs));
            if expected != got {
                differences.push(difference(register, &hex(expected), &hex(got)));
            }
        }
        if expected.fault != got.fault {
            let name = |side: &Final| side.fault.unwrap_or("none");
            differences.push(difference(&"fault", &name(expected), &name(got)));
        }
        for kind in LaneFaultKind::ALL {
            let (expected, got) = (expected.lane_faults[kind], got.lane_faults[kind]);
            if expected != got {
                let expected = format_args!("lanes {expected:#010x}");
                differences.push(difference(&kind, &expected, &format_args!("{got:#010x}")));
            }
        }
        let broadcast = |side: &Final| side.broadcast.unwrap_or(false);
        let (expected, got) = (broadcast(expected), broadcast(got));
        if expected != got {
            differences.push(difference(&"broadcast", &expected, &got));
        }
        differences
    }
}

impl Final {
    /// Reads the `final` of a vector from one JSON object.
    ///
    /// # Errors
    /// Returns [`JsonError`] with the key and, if the text is malformed, its position.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        json::from_str::<FinalJson>(text)?.read().map_err(|error| {
            let inside = |key: String| key.strip_prefix("final.").map(str::to_owned).unwrap_or(key);
            JsonError { key: error.key.map(inside), ..error }
        })
    }
}

fn registers<S: Serializer>(held: &BTreeMap<Reg, LaneValues>, to: S) -> Result<S::Ok, S::Error> {
    let text = |values: &LaneValues| values.map(|value| format!("{value:#x}"));
    to.collect_map(held.iter().map(|(register, values)| (register.to_string(), text(values))))
}

fn uniform_registers<S: Serializer>(
    held: &BTreeMap<UniformReg, u32>,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_map(
        held.iter().map(|(register, value)| (register.to_string(), format!("{value:#x}"))),
    )
}

/// Serializes only the masks that are not zero.
fn masks<S: Serializer>(lanes: &ByFaultKind<LaneMask>, to: S) -> Result<S::Ok, S::Error> {
    let faulty = lanes.iter().filter(|(_, lanes)| !lanes.is_empty());
    to.collect_map(faulty.map(|(kind, lanes)| (kind, format!("{lanes:#x}"))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct VectorJson {
    #[serde(default)]
    name: String,
    instruction: String,
    #[serde(default)]
    initial: Initial,
    #[serde(default, rename = "final", deserialize_with = "present")]
    expected: Option<FinalJson>,
    /// The keys of a suite. They are checked, but have no effect.
    #[serde(default, rename = "id")]
    _id: IgnoredAny,
    #[serde(default, rename = "flags")]
    _flags: Vec<String>,
    #[serde(default, rename = "source")]
    _source: String,
    #[serde(default, rename = "decision")]
    _decision: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default, remote = "Self")]
struct FinalJson {
    registers: UniqueMap<RegisterName, Lanes>,
    uniform_registers: UniqueMap<UniformName, Hex32>,
    fault: Option<String>,
    lane_faults: LaneFaultsJson,
    broadcast: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default, remote = "Self")]
struct LaneFaultsJson {
    outside_window: Hex32,
    outside_allocation: Hex32,
    misaligned_address: Hex32,
}

only_objects!(VectorJson, FinalJson, LaneFaultsJson);

impl FinalJson {
    fn read(self) -> Result<Final, JsonError> {
        let name = |given: String| {
            let names = WarpFault::NAMES;
            let message = || format!("no fault {given:?}; expected null or {names:?}");
            let known = names.into_iter().find(|name| *name == given);
            known.ok_or_else(|| JsonError::at("final.fault", message()))
        };
        let LaneFaultsJson { outside_window, outside_allocation, misaligned_address } =
            self.lane_faults;
        let lanes = |Hex32(bits)| LaneMask::from_bits(bits);
        Ok(Final {
            registers: self
                .registers
                .0
                .into_iter()
                .map(|(RegisterName(register), Lanes(values))| (register, values))
                .collect(),
            uniform_registers: self
                .uniform_registers
                .0
                .into_iter()
                .map(|(UniformName(register), Hex32(value))| (register, value))
                .collect(),
            fault: self.fault.map(name).transpose()?,
            lane_faults: ByFaultKind {
                outside_window: lanes(outside_window),
                outside_allocation: lanes(outside_allocation),
                misaligned_address: lanes(misaligned_address),
            },
            broadcast: Some(self.broadcast),
        })
    }
}

fn is_lds_u(instruction: &Instruction) -> bool {
    !instruction.sm().has_wide_words() && instruction.field(Slot::UniformHint) == Some(1)
}

/// A word in hexadecimal, or SASS.
fn read_instruction(text: &str, sm: Sm) -> Result<Instruction, JsonError> {
    let wrong = |message| JsonError::at("instruction", message);
    if let Some(word) = hexadecimal(text) {
        let word = if sm.has_wide_words() {
            MachineWord::Bits128(word)
        } else {
            let narrow = u64::try_from(word);
            MachineWord::Bits64(narrow.map_err(|_| {
                wrong(format!(
                    "{text} has more than 64 bits; `initial` needs \"sm\" for such words"
                ))
            })?)
        };
        return match Instruction::decode(word, sm) {
            Decoded::Load(load) => Ok(load),
            Decoded::Illegal(refusal) => Err(wrong(format!("{text} is refused: {refusal}"))),
            Decoded::Other => Err(wrong(format!("{text} is no load"))),
        };
    }
    Instruction::parse(text, sm).map_err(|error| {
        let at = text.get(error.span.start..error.span.end);
        debug_assert!(at.is_some(), "the span of an error is in its text");
        let at = at.unwrap_or_default();
        let hint = error.hint_in(text, sm).map_or(String::new(), |hint| format!("; {hint}"));
        wrong(format!("{error} at byte {} ({at:?}){hint}", error.span.start))
    })
}
