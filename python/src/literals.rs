//! Short lists of words, such as modes and kinds. Each type is a `Literal` of `warpload._types`, because stubs name it.

use std::convert::Infallible;

use pyo3::call::PyCallArgs;
#[cfg(feature = "stubs")]
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::error::{ErrorKind, error};

/// Types of words that we return. With an argument's name and a list, they are also accepted as arguments.
macro_rules! literals {
    ($($(#[$doc:meta])* $name:ident $(= $argument:literal [$($word:literal),+])?;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) &'static str);

        impl<'py> IntoPyObject<'py> for $name {
            type Target = PyString;
            type Output = Bound<'py, PyString>;
            type Error = Infallible;

            #[cfg(feature = "stubs")]
            const OUTPUT_TYPE: PyStaticExpr =
                pyo3::type_hint_identifier!("warpload._types", stringify!($name));

            fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
                self.0.into_pyobject(py)
            }
        }

        $(impl<'py> FromPyObject<'_, 'py> for $name {
            type Error = PyErr;

            #[cfg(feature = "stubs")]
            const INPUT_TYPE: PyStaticExpr =
                pyo3::type_hint_identifier!("warpload._types", stringify!($name));

            fn extract(word: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                const WORDS: &[&str] = &[$($word),+];
                let given: String = word.extract()?;
                match WORDS.iter().find(|known| **known == given) {
                    Some(known) => Ok(Self(known)),
                    None => Err(refused(word.py(), $argument, &given, WORDS)),
                }
            }
        })?
    )+};
}

/// Names the words that an argument may be.
fn refused(py: Python<'_>, argument: &str, given: &str, words: &[&str]) -> PyErr {
    let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    let expected = match words.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    };
    let message = format!("{argument}: expected {expected}, not {given:?}");
    error(py, ErrorKind::Argument, message)
}

impl LaneMode {
    pub(crate) fn mode(self) -> warpload_ptx::tensor::LaneMode {
        self.0.parse().unwrap_or_default()
    }
}

impl Executor {
    /// The executors, the literal one first.
    pub(crate) fn list(self) -> &'static [warpload::load::Executor] {
        use warpload::load::Executor::{Fast, Reference};
        match self.0 {
            "fast" => &[Fast],
            "reference" => &[Reference],
            _ => &[Reference, Fast],
        }
    }
}

/// Python objects that their user extracts later. The types exist because stubs name them.
macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $name<'py>(pub(crate) Bound<'py, PyAny>);

        impl<'py> FromPyObject<'_, 'py> for $name<'py> {
            type Error = Infallible;

            #[cfg(feature = "stubs")]
            const INPUT_TYPE: PyStaticExpr =
                pyo3::type_hint_identifier!("warpload._types", stringify!($name));

            fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
                Ok(Self(object.to_owned()))
            }
        }
    )+};
}

/// Objects of classes that are written in Python, each with the function that makes them.
macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $module:literal $function:literal;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $name(Py<PyAny>);

        impl $name {
            pub(crate) fn make<'py>(
                py: Python<'py>,
                arguments: impl PyCallArgs<'py>,
            ) -> PyResult<Self> {
                static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
                let function = FUNCTION.import(py, $module, $function)?;
                Ok(Self(function.call1(arguments)?.unbind()))
            }
        }

        impl<'py> IntoPyObject<'py> for &$name {
            type Target = PyAny;
            type Output = Bound<'py, PyAny>;
            type Error = Infallible;

            #[cfg(feature = "stubs")]
            const OUTPUT_TYPE: PyStaticExpr =
                pyo3::type_hint_identifier!($module, stringify!($name));

            fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
                Ok(self.0.bind(py).clone())
            }
        }

        impl<'py> IntoPyObject<'py> for $name {
            type Target = PyAny;
            type Output = Bound<'py, PyAny>;
            type Error = Infallible;

            #[cfg(feature = "stubs")]
            const OUTPUT_TYPE: PyStaticExpr = <&$name>::OUTPUT_TYPE;

            fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
                (&self).into_pyobject(py)
            }
        }
    )+};
}

/// A dictionary with texts as keys.
pub(crate) struct Dictionary<'py>(pub(crate) Bound<'py, PyAny>);

impl<'py> IntoPyObject<'py> for Dictionary<'py> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = Infallible;

    #[cfg(feature = "stubs")]
    const OUTPUT_TYPE: PyStaticExpr = pyo3::type_hint_identifier!("warpload._types", "Dictionary");

    fn into_pyobject(self, _: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0)
    }
}

classes! {
    /// The variables of a module after a launch.
    Globals = "warpload._kernel" "Globals";
    /// A kernel of a module.
    Kernel = "warpload._kernel" "Kernel";
    /// The counts of a replay.
    Summary = "warpload._summary" "summary";
}

objects! {
    /// A file of cases, a folder of them, or several.
    Suite;
    /// An emulator to check against a suite.
    Examinee;
    /// Contents of memories, by address or bank number.
    Contents;
    /// Bytes.
    ByteSource;
    /// 32-bit numbers, one or an array.
    Numbers;
    /// Instruction words.
    WordArray;
    /// A module of PTX: a path, or its text.
    PtxModule;
    /// A module of PTX that is already read, or a path, or its text.
    KernelSource;
    /// The JSON of a summary, as bytes or as a text.
    SummaryJson;
    /// Replays to merge.
    Replays;
    /// Values by name.
    NamedValues;
    /// The contents of Tensor Memory.
    TensorContents;
}

literals! {
    /// The treatment of misaligned addresses.
    Misaligned = "misaligned" ["force", "report", "fault"];
    /// The meaning of the lane in a Tensor Memory address.
    LaneMode = "lane_mode" ["strict", "wrap"];
    /// Our own executors.
    Executor = "executor" ["fast", "reference", "both"];
    /// A family of cases.
    Family = "families"
        ["execute", "decode", "encode", "ptx-legality", "ptx-execute", "tensor-memory", "coalescing", "traces"];
    /// Why a case failed.
    FailureKind;
    /// The memory that an instruction addresses.
    InstructionSpace;
    /// The memory that contains an address.
    LaneSpace;
    /// A fault of a lane.
    LaneFaultKind;
    /// A fault of a warp.
    WarpFaultKind;
    /// A fault of a thread of a kernel.
    KernelFaultKind;
    /// The path of a `.U.128`.
    UniformPath;
}
