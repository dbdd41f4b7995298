//! The JSON of a case, and the rules that its keys keep.

use serde::Deserialize;
use warpload::only_objects;
use warpload::suite::json::present;

use super::{Case, Confidence, Expected, ExpectedRegisters};
use crate::tensor::{
    Allocations, Form, IllegalLoadError, Issue, LaneMode, MAX_REGISTERS, Pattern, Reduction, Rules,
    TensorAddress, TensorLoad,
};
use warpload::lane::{LANES, LaneValues};
use warpload::suite::json::{self, JsonError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct CaseJson {
    id: String,
    kind: Kind,
    conf: Confidence,
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
    lane_mode: LaneMode,
    #[serde(default)]
    hw_align: bool,
    #[serde(default, deserialize_with = "present")]
    alloc: Option<Vec<(usize, usize)>>,
    expect: ExpectJson,
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

impl Case {
    /// Reads a case from one JSON object.
    ///
    /// # Errors
    /// Returns [`JsonError`] with the key and, if the text is malformed, its position.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        json::from_str::<CaseJson>(text)?.read()
    }
}

impl CaseJson {
    fn read(self) -> Result<Case, JsonError> {
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
        Ok(Case {
            load,
            confidence: self.conf,
            issue: Issue::new(self.warp, TensorAddress(self.taddr)),
            rules: self.rules()?,
            pattern,
            expected: self.expect.read(self.kind)?,
            id: self.id,
            note: self.note,
        })
    }

    /// The reduction, if there is one; `Err` inside for one that no instruction has, which only a
    /// case of kind `illegal` may name.
    fn reduction(&self) -> Result<Result<Option<Reduction>, IllegalLoadError>, JsonError> {
        let (operation, kind) = match (self.op.as_deref(), self.kind_of_values.as_deref()) {
            (Some(operation), Some(kind)) => (operation, kind),
            (None, None) if self.kind == Kind::LdRed => {
                return Err(JsonError::at("op", "missing key; a reduction has `op` and `type`"));
            }
            (None, None) => return Ok(Ok(None)),
            _ if self.kind == Kind::Illegal => return Ok(Err(IllegalLoadError::ReductionKind)),
            (Some(_), None) => return Err(JsonError::at("type", "missing key beside `op`")),
            (None, Some(_)) => return Err(JsonError::at("op", "missing key beside `type`")),
        };
        if self.kind == Kind::Ld {
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
        match self.kind {
            Kind::Illegal => Ok(Err(IllegalLoadError::ReductionKind)),
            _ => Err(JsonError::at(key, message)),
        }
    }

    fn rules(&self) -> Result<Rules, JsonError> {
        let mut rules = Rules {
            lane_mode: self.lane_mode,
            hardware_alignment: self.hw_align,
            ..Rules::default()
        };
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

impl ExpectJson {
    fn read(self, kind: Kind) -> Result<Expected, JsonError> {
        let expected = match (self.error, kind) {
            (Some(ErrorJson::Assemble), Kind::Illegal) => Expected::Illegal,
            (Some(ErrorJson::Undefined), Kind::Undefined) => Expected::Fault,
            (None, Kind::Ld | Kind::LdRed) => {
                return Ok(Expected::Loaded(Box::new(self.registers(kind)?)));
            }
            _ => return Err(JsonError::at("expect.error", "does not go with `kind`")),
        };
        let code = self.code.ok_or_else(|| missing("code", "the code of the broken rule"))?;
        Ok(expected(code))
    }

    fn registers(self, kind: Kind) -> Result<ExpectedRegisters, JsonError> {
        let count = self.n.ok_or_else(|| missing("n", "the number of data registers"))?;
        if !(1..=MAX_REGISTERS).contains(&count) {
            return Err(JsonError::at("expect.n", "expected 1 to 128"));
        }
        let sha256 = self.sha256.ok_or_else(|| missing("sha256", "64 hexadecimal digits"))?;
        let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if sha256.len() != 64 || !sha256.bytes().all(is_digit) {
            let message = "expected 64 hexadecimal digits, small letters among them";
            return Err(JsonError::at("expect.sha256", message));
        }
        if let Some(all) = &self.regs
            && (all.len() != LANES || all.iter().any(|values| values.len() != count))
        {
            let message = format!("expected {LANES} arrays of `n` values, one a thread");
            return Err(JsonError::at("expect.regs", message));
        }
        let is_outside =
            |(thread, register, _): &(usize, usize, u32)| *thread >= LANES || *register >= count;
        if let Some(i) = self.probe.iter().position(is_outside) {
            let message = "expected [thread, register, value], thread below 32, register below `n`";
            return Err(JsonError::at(format!("expect.probe[{i}]"), message));
        }
        let reduced = lanes("redval", self.redval)?;
        if reduced.is_some() != (kind == Kind::LdRed) {
            return Err(JsonError::at("expect.redval", "goes with `kind` `ld_red`, and only so"));
        }
        let reduced_by_lane = lanes("redval_if_lane_scope", self.redval_if_lane_scope)?;
        let (all, samples) = (self.regs, self.probe);
        Ok(ExpectedRegisters { count, sha256, all, samples, reduced, reduced_by_lane })
    }
}

fn missing(key: &str, what: &str) -> JsonError {
    JsonError::at(format!("expect.{key}"), format!("missing key; expected {what}"))
}

fn lanes(key: &str, values: Option<Vec<u32>>) -> Result<Option<LaneValues>, JsonError> {
    let Some(values) = values else { return Ok(None) };
    let lanes = values.try_into().map_err(|_| {
        JsonError::at(format!("expect.{key}"), format!("expected {LANES} values, one a thread"))
    })?;
    Ok(Some(lanes))
}
