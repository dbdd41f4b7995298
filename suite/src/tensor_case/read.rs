//! The JSON of a case, and the rules for its keys.

use crate::json::values::only_objects;
use crate::json::{self, JsonError, present};
use serde::de::IgnoredAny;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use warpload::lane::{LANES, LaneValues};
use warpload_ptx::tensor::{
    Allocations, Form, IllegalLoadError, Issue, LaneMode, MAX_REGISTERS, Pattern, Reduction, Rules,
    TensorAddress, TensorLoad,
};

use super::{Confidence, ExpectedRegisters, ExpectedTensorLoad, TensorCase};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct CaseJson {
    #[serde(default)]
    id: String,
    #[serde(default, deserialize_with = "present")]
    kind: Option<Kind>,
    #[serde(default, deserialize_with = "present")]
    conf: Option<Confidence>,
    #[serde(default)]
    note: Option<String>,
    shape: String,
    num: u32,
    #[serde(default)]
    pack: bool,
    #[serde(default)]
    split: Option<i64>,
    warp: u32,
    taddr: u32,
    tmem: MemoryJson,
    #[serde(default, deserialize_with = "present")]
    op: Option<String>,
    #[serde(default, rename = "type", deserialize_with = "present")]
    kind_of_values: Option<String>,
    #[serde(default)]
    abs: bool,
    #[serde(default)]
    nan: bool,
    #[serde(default)]
    lane_mode: LaneModeJson,
    #[serde(default)]
    hw_align: bool,
    #[serde(default, deserialize_with = "present")]
    alloc: Option<Vec<(usize, usize)>>,
    #[serde(default, deserialize_with = "present")]
    expect: Option<ExpectJson>,
    /// The keys of a suite. They have no effect.
    #[serde(default, rename = "family")]
    _family: IgnoredAny,
    #[serde(default, rename = "flags")]
    _flags: Vec<String>,
    #[serde(default, rename = "source")]
    _source: String,
    #[serde(default, rename = "decision")]
    _decision: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct MemoryJson {
    pattern: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct ExpectJson {
    #[serde(default, deserialize_with = "present")]
    error: Option<ErrorJson>,
    #[serde(default, deserialize_with = "present")]
    code: Option<String>,
    #[serde(default, deserialize_with = "present")]
    n: Option<usize>,
    #[serde(default, deserialize_with = "present")]
    sha256: Option<String>,
    #[serde(default, deserialize_with = "present")]
    regs: Option<Vec<Vec<u32>>>,
    #[serde(default)]
    probe: Vec<(usize, usize, u32)>,
    #[serde(default, deserialize_with = "present")]
    redval: Option<Vec<u32>>,
    #[serde(default, deserialize_with = "present")]
    redval_if_lane_scope: Option<Vec<u32>>,
}

only_objects!(CaseJson, MemoryJson, ExpectJson);

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Ld,
    LdRed,
    Undefined,
    Illegal,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum ErrorJson {
    Assemble,
    Undefined,
}

/// [`LaneMode`] in JSON.
#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum LaneModeJson {
    #[default]
    Strict,
    Wrap,
}

impl LaneModeJson {
    fn mode(self) -> LaneMode {
        match self {
            Self::Strict => LaneMode::Strict,
            Self::Wrap => LaneMode::Wrap,
        }
    }
}

impl TensorCase {
    /// Reads a case from one JSON object.
    ///
    /// # Errors
    /// Returns [`JsonError`] with the key and, if the text is malformed, its position.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        json::from_str::<CaseJson>(text)?.read()
    }
}

impl CaseJson {
    fn read(self) -> Result<TensorCase, JsonError> {
        let pattern = self.tmem.pattern.parse().map_err(|_| {
            let names = Pattern::ALL.map(Pattern::name).join(", ");
            let message = format!("no pattern {:?}; expected one of {names}", self.tmem.pattern);
            JsonError::at("tmem.pattern", message)
        })?;
        let load = match (self.reduction()?, self.shape.parse()) {
            (Err(illegal), _) => Err(illegal),
            (Ok(_), Err(_)) => Err(IllegalLoadError::Shape),
            (Ok(reduction), Ok(shape)) => {
                let (num, pack, split) = (self.num, self.pack, self.split);
                TensorLoad::new(Form { shape, num, pack, split, reduction })
            }
        };
        Ok(TensorCase {
            load,
            confidence: self.conf.unwrap_or(Confidence::Documented),
            issue: Issue::new(self.warp, TensorAddress(self.taddr)),
            rules: self.rules()?,
            pattern,
            expected: self.expect.map(|expect| expect.read(self.kind, "expect.")).transpose()?,
            id: self.id,
            note: self.note,
        })
    }

    /// The reduction, if there is one. The inner `Err` is a reduction that no instruction has, which only a case of
    /// kind `illegal` may name.
    fn reduction(&self) -> Result<Result<Option<Reduction>, IllegalLoadError>, JsonError> {
        // A case without a kind can be illegal too.
        let may_be_illegal = matches!(self.kind, None | Some(Kind::Illegal));
        let (operation, kind) = match (self.op.as_deref(), self.kind_of_values.as_deref()) {
            (Some(operation), Some(kind)) => (operation, kind),
            (None, None) if self.kind == Some(Kind::LdRed) => {
                return Err(JsonError::at("op", "missing key; a reduction has `op` and `type`"));
            }
            (None, None) => return Ok(Ok(None)),
            _ if may_be_illegal => return Ok(Err(IllegalLoadError::ReductionKind)),
            (Some(_), None) => return Err(JsonError::at("type", "missing key beside `op`")),
            (None, Some(_)) => return Err(JsonError::at("op", "missing key beside `type`")),
        };
        if self.kind == Some(Kind::Ld) {
            return Err(JsonError::at("op", "a case of kind `ld` has no reduction"));
        }
        let (key, message) = match (operation.parse(), kind.parse()) {
            (Ok(operation), Ok(kind)) => {
                let (absolute, propagates_nan) = (self.abs, self.nan);
                return Ok(Ok(Some(Reduction { operation, kind, absolute, propagates_nan })));
            }
            (Err(_), _) => ("op", format!("no operation {operation:?}; expected min or max")),
            (_, Err(_)) => ("type", format!("no type {kind:?}; expected u32, s32 or f32")),
        };
        match may_be_illegal {
            true => Ok(Err(IllegalLoadError::ReductionKind)),
            false => Err(JsonError::at(key, message)),
        }
    }

    fn rules(&self) -> Result<Rules, JsonError> {
        let mut rules =
            Rules::default().lane_mode(self.lane_mode.mode()).hardware_alignment(self.hw_align);
        if let Some(ranges) = &self.alloc {
            rules.allocated = Allocations::NONE;
            for (i, (first, columns)) in ranges.iter().enumerate() {
                let added = rules.allocated.add(*first, *columns);
                added.map_err(|error| JsonError::at(format!("alloc[{i}]"), error))?;
            }
        }
        Ok(rules)
    }
}

impl ExpectedTensorLoad {
    /// Reads the `expect` of a case from one JSON object.
    ///
    /// # Errors
    /// Returns [`JsonError`] with the key and, if the text is malformed, its position.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        json::from_str::<ExpectJson>(text)?.read(None, "")
    }
}

/// Serializes as the `expect` of a case.
impl Serialize for ExpectedTensorLoad {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Illegal(code) | Self::Fault(code) => {
                let is_illegal = matches!(self, Self::Illegal(_));
                map.serialize_entry("error", if is_illegal { "assemble" } else { "undefined" })?;
                map.serialize_entry("code", code)?;
            }
            Self::Loaded(registers) => {
                map.serialize_entry("n", &registers.count)?;
                map.serialize_entry("sha256", &registers.sha256)?;
                if let Some(all) = &registers.all {
                    map.serialize_entry("regs", all)?;
                }
                if !registers.samples.is_empty() {
                    map.serialize_entry("probe", &registers.samples)?;
                }
                if let Some(reduced) = &registers.reduced {
                    map.serialize_entry("redval", reduced)?;
                }
                if let Some(reduced) = &registers.reduced_by_lane {
                    map.serialize_entry("redval_if_lane_scope", reduced)?;
                }
            }
        }
        map.end()
    }
}

impl ExpectJson {
    /// Reads an expectation. `kind` is the kind of the case, if it is known; `prefix` is the path of the keys, for
    /// messages.
    fn read(self, kind: Option<Kind>, prefix: &str) -> Result<ExpectedTensorLoad, JsonError> {
        let expected = match (self.error, kind) {
            (Some(ErrorJson::Assemble), None | Some(Kind::Illegal)) => ExpectedTensorLoad::Illegal,
            (Some(ErrorJson::Undefined), None | Some(Kind::Undefined)) => ExpectedTensorLoad::Fault,
            (None, None | Some(Kind::Ld | Kind::LdRed)) => {
                return Ok(ExpectedTensorLoad::Loaded(Box::new(self.registers(kind, prefix)?)));
            }
            _ => return Err(JsonError::at(format!("{prefix}error"), "not valid with this `kind`")),
        };
        let missing = || missing(prefix, "code", "the code of the broken rule");
        Ok(expected(self.code.ok_or_else(missing)?))
    }

    fn registers(self, kind: Option<Kind>, prefix: &str) -> Result<ExpectedRegisters, JsonError> {
        let at = |key: &str, message: &str| JsonError::at(format!("{prefix}{key}"), message);
        let count = self.n.ok_or_else(|| missing(prefix, "n", "the number of data registers"))?;
        if !(1..=MAX_REGISTERS).contains(&count) {
            return Err(at("n", "expected 1 to 128"));
        }
        let sha256 =
            self.sha256.ok_or_else(|| missing(prefix, "sha256", "64 hexadecimal digits"))?;
        let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if sha256.len() != 64 || !sha256.bytes().all(is_digit) {
            return Err(at("sha256", "expected 64 hexadecimal digits, small letters among them"));
        }
        if let Some(all) = &self.regs
            && (all.len() != LANES || all.iter().any(|values| values.len() != count))
        {
            return Err(at(
                "regs",
                &format!("expected {LANES} arrays of `n` values, one a thread"),
            ));
        }
        let is_outside =
            |(thread, register, _): &(usize, usize, u32)| *thread >= LANES || *register >= count;
        if let Some(i) = self.probe.iter().position(is_outside) {
            let message = "expected [thread, register, value], thread below 32, register below `n`";
            return Err(at(&format!("probe[{i}]"), message));
        }
        let reduced = lanes(prefix, "redval", self.redval)?;
        if kind.is_some_and(|kind| reduced.is_some() != (kind == Kind::LdRed)) {
            return Err(at("redval", "only valid with `kind` `ld_red`"));
        }
        let reduced_by_lane = lanes(prefix, "redval_if_lane_scope", self.redval_if_lane_scope)?;
        let (all, samples) = (self.regs, self.probe);
        Ok(ExpectedRegisters { count, sha256, all, samples, reduced, reduced_by_lane })
    }
}

fn missing(prefix: &str, key: &str, what: &str) -> JsonError {
    JsonError::at(format!("{prefix}{key}"), format!("missing key; expected {what}"))
}

fn lanes(
    prefix: &str,
    key: &str,
    values: Option<Vec<u32>>,
) -> Result<Option<LaneValues>, JsonError> {
    let Some(values) = values else { return Ok(None) };
    let lanes = values.try_into().map_err(|_| {
        JsonError::at(format!("{prefix}{key}"), format!("expected {LANES} values, one a thread"))
    })?;
    Ok(Some(lanes))
}
