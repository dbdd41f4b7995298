//! Words of which there are few. Each type is a `Literal` of `warpload._types`, which is what stubs name.

use std::convert::Infallible;

#[cfg(feature = "stubs")]
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::{ErrorKind, error};

/// Words that are returned and, with an argument's name and a list, taken.
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

/// Says which words an argument may be.
fn refused(py: Python<'_>, argument: &str, given: &str, words: &[&str]) -> PyErr {
    let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    let message = format!("{argument}: expected {}, not {given:?}", words.join(" or "));
    error(py, ErrorKind::Argument, message)
}

impl LaneMode {
    pub(crate) fn mode(self) -> warpload_ptx::tensor::LaneMode {
        self.0.parse().unwrap_or_default()
    }
}

impl Executor {
    /// Returns them; the literal one first.
    pub(crate) fn list(self) -> &'static [warpload::load::Executor] {
        use warpload::load::Executor::{Fast, Reference};
        match self.0 {
            "fast" => &[Fast],
            "reference" => &[Reference],
            _ => &[Reference, Fast],
        }
    }
}

/// Objects of Python's that are read where they are used, with the types that stubs say.
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

objects! {
    /// A file of cases, a folder of them, or several.
    Suite;
    /// What is checked against a suite.
    Examinee;
    /// Contents of memories, by their addresses or numbers.
    Contents;
    /// Bytes.
    ByteSource;
    /// Numbers of 32 bits, one or an array.
    Numbers;
    /// Words of instructions.
    WordArray;
}

literals! {
    /// What misaligned addresses do.
    Misaligned = "misaligned" ["force", "report"];
    /// What the lane of an address of Tensor Memory means.
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
    /// The memory that an address is in.
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
