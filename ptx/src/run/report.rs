//! [`LoadReport`]: the outcome of a load, serialized like the JSON of `ptx loads`.

use warpload::lane::{LANES, LaneMask};

use super::{Executed, LaunchStep};
use crate::module::Module;
use crate::syntax::LineIndex;
use crate::syntax::load::PtxLoad;

/// The outcome of one load. Serialized, it is an object of `ptx loads --format json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LoadReport {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The text of the load in one line.
    pub text: String,
    /// The lanes that executed; `None` if the load was not executed.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", serialize_with = "json::mask")
    )]
    pub executing: Option<LaneMask>,
    /// The destination registers, in the order of the load's operands.
    #[cfg_attr(feature = "serde", serde(serialize_with = "json::registers"))]
    pub registers: Vec<RegisterReport>,
    /// The lanes with a fault, by kind of fault.
    #[cfg_attr(feature = "serde", serde(serialize_with = "json::masks"))]
    pub lane_faults: Vec<(String, LaneMask)>,
    /// The lanes with a misaligned address, which was rounded down; `None` if there are none.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", serialize_with = "json::mask")
    )]
    pub rounded: Option<LaneMask>,
    /// The lanes with an undefined outcome, by the qualifier that is undefined for their memory.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Vec::is_empty", serialize_with = "json::masks")
    )]
    pub undefined: Vec<(String, LaneMask)>,
    /// The reason why a load of Tensor Memory loaded no values.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub tensor_fault: Option<TensorFaultReport>,
    /// The reason why the load was not executed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub error: Option<String>,
}

/// A register after a load.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisterReport {
    /// Its name.
    pub name: String,
    /// Its value in each lane; `None` if it is unknown.
    pub lanes: [Option<u128>; LANES],
}

/// The reason why a load of Tensor Memory loaded no values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TensorFaultReport {
    /// The fault's name.
    pub code: &'static str,
    /// The description of the fault.
    pub message: String,
}

impl LoadReport {
    /// Creates the report of a step; `None` for an illegal statement other than a load.
    #[must_use]
    pub fn new(module: &Module<'_>, lines: &LineIndex, step: LaunchStep<'_>) -> Option<Self> {
        let of = |load: &PtxLoad<'_>| {
            let place = module.statement(load.span, lines);
            Self { line: place.line, column: place.column, text: place.text, ..Self::default() }
        };
        Some(match step {
            LaunchStep::Executed { load, executed } => of(load).executed(module, executed),
            LaunchStep::Illegal { load, verdict } => {
                let first = verdict.violations.first();
                let error = first.map_or("illegal", |violation| &violation.message);
                Self { error: Some(error.to_owned()), ..of(load?) }
            }
            LaunchStep::Failed { load, error } => {
                Self { error: Some(error.kind.to_string()), ..of(load) }
            }
        })
    }

    fn executed(self, module: &Module<'_>, executed: &Executed) -> Self {
        let registers = executed.written.iter().map(|(register, held)| RegisterReport {
            name: module.register_name(*register),
            lanes: std::array::from_fn(|lane| held.lane(lane)),
        });
        let faults = executed.faults.by_kind();
        let faults = faults.iter().filter(|(_, lanes)| !lanes.is_empty());
        let undefined = executed.undefined.iter();
        let fault = executed.tensor.and_then(|tensor| tensor.fault);
        Self {
            executing: Some(executed.executing),
            registers: registers.collect(),
            lane_faults: faults.map(|(kind, lanes)| (kind.to_string(), *lanes)).collect(),
            rounded: Some(executed.rounded).filter(|lanes| !lanes.is_empty()),
            undefined: undefined
                .map(|undefined| (module.text(undefined.qualifier).to_owned(), undefined.lanes))
                .collect(),
            tensor_fault: fault
                .map(|fault| TensorFaultReport { code: fault.code(), message: fault.to_string() }),
            ..self
        }
    }
}

/// Numbers in hexadecimal, as text.
#[cfg(feature = "serde")]
mod json {
    use serde::Serializer;

    use super::{LaneMask, RegisterReport};

    pub(super) fn mask<S: Serializer>(mask: &Option<LaneMask>, to: S) -> Result<S::Ok, S::Error> {
        match mask {
            Some(mask) => to.collect_str(&format_args!("{mask:#x}")),
            None => to.serialize_none(),
        }
    }

    pub(super) fn masks<S: Serializer>(
        masks: &[(String, LaneMask)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(masks.iter().map(|(name, lanes)| (name, format!("{lanes:#x}"))))
    }

    /// Registers by name, each with 32 values. An unknown value is null.
    pub(super) fn registers<S: Serializer>(
        registers: &[RegisterReport],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(registers.iter().map(|RegisterReport { name, lanes }| {
            (name, lanes.map(|value| value.map(|value| format!("{value:#x}"))))
        }))
    }
}
