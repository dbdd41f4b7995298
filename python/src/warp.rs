//! [`Warp`]: the registers of 32 lanes.

use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyValueError};
#[cfg(feature = "stubs")]
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use warpload::encoding::{Pred, Reg, UniformReg};
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::warp::{REGISTERS, Warp as State};

use crate::arrays::{Words, copy_of, copy_of_rows, numbers, rows};
use crate::literals::Numbers;

/// The state of a warp: 255 registers of 32 lanes, predicates, uniform registers and the active lanes.
///
/// `registers` are rows of 32 values from R0 on, `(n, 32)`; the rest are 0. `predicates` are masks from P0 on, bit n
/// for lane n.
#[pyclass(module = "warpload")]
#[derive(Clone)]
pub(crate) struct Warp(pub(crate) State);

#[pymethods]
impl Warp {
    #[new]
    #[pyo3(signature = (
        registers = None,
        *,
        predicates = None,
        active = u32::MAX,
        uniform_registers = None,
        uniform_predicates = 0,
    ))]
    fn new(
        registers: Option<Numbers<'_>>,
        predicates: Option<Numbers<'_>>,
        active: u32,
        uniform_registers: Option<Numbers<'_>>,
        uniform_predicates: u8,
    ) -> PyResult<Self> {
        let mut warp = Self(State::new());
        warp.0.active = LaneMask::from_bits(active);
        if let Some(registers) = registers {
            warp.set_registers(registers)?;
        }
        if let Some(predicates) = predicates {
            warp.set_predicates(predicates)?;
        }
        if let Some(registers) = uniform_registers {
            warp.set_uniform_registers(registers)?;
        }
        warp.set_uniform_predicates(uniform_predicates);
        Ok(warp)
    }

    /// All registers, `(255, 32)` of `uint32`: a copy. Assigning `(n, 32)` sets R0 to Rn-1.
    #[getter]
    fn registers<'py>(&self, py: Python<'py>) -> PyResult<Words<'py>> {
        let rows: Vec<LaneValues> = general().map(|register| *self.0.register(register)).collect();
        copy_of_rows(py, &rows)
    }

    #[setter]
    fn set_registers(&mut self, values: Numbers<'_>) -> PyResult<()> {
        let values = rows(&values.0)?;
        let shape = values.shape();
        if shape[0] > REGISTERS || shape[1] != LANES {
            return Err(PyValueError::new_err(format!(
                "expected registers of the shape (n, {LANES}), n at most {REGISTERS}, not {shape:?}"
            )));
        }
        let (rows, _) = values.as_slice()?.as_chunks::<LANES>();
        for (register, row) in general().zip(rows) {
            self.0.set_register(register, *row);
        }
        Ok(())
    }

    /// The predicates P0 to P6 as masks, `(7,)` of `uint32`: a copy.
    #[getter]
    fn predicates<'py>(&self, py: Python<'py>) -> PyResult<Words<'py>> {
        let masks = predicates().map(|predicate| self.0.predicate(predicate).bits());
        copy_of(py, &masks)
    }

    #[setter]
    fn set_predicates(&mut self, masks: Numbers<'_>) -> PyResult<()> {
        let masks = numbers(&masks.0)?;
        let masks = at_most(masks.as_slice()?, 7, "predicates")?;
        for (predicate, mask) in predicates().into_iter().zip(masks) {
            self.0.set_predicate(predicate, LaneMask::from_bits(*mask));
        }
        Ok(())
    }

    /// The uniform registers UR0 to UR254, `(255,)` of `uint32`: a copy.
    #[getter]
    fn uniform_registers<'py>(&self, py: Python<'py>) -> PyResult<Words<'py>> {
        let values: Vec<u32> =
            (0..=254).map(|number| self.0.uniform_register(UniformReg::new(number))).collect();
        copy_of(py, &values)
    }

    #[setter]
    fn set_uniform_registers(&mut self, values: Numbers<'_>) -> PyResult<()> {
        let values = numbers(&values.0)?;
        let values = at_most(values.as_slice()?, REGISTERS, "uniform registers")?;
        for (number, value) in (0..=254).zip(values) {
            self.0.set_uniform_register(UniformReg::new(number), *value);
        }
        Ok(())
    }

    /// The uniform predicates: bit n is UPn.
    #[getter]
    fn uniform_predicates(&self) -> u8 {
        let bit =
            |predicate: Pred| u8::from(self.0.uniform_predicate(predicate)) << predicate.number();
        predicates().into_iter().map(bit).sum()
    }

    #[setter]
    fn set_uniform_predicates(&mut self, bits: u8) {
        for predicate in predicates() {
            self.0.set_uniform_predicate(predicate, bits >> predicate.number() & 1 != 0);
        }
    }

    /// The active lanes, bit n for lane n.
    #[getter]
    fn active(&self) -> u32 {
        self.0.active.bits()
    }

    #[setter]
    fn set_active(&mut self, mask: u32) {
        self.0.active = LaneMask::from_bits(mask);
    }

    /// The 32 values of a register: a copy.
    fn __getitem__<'py>(&self, py: Python<'py>, register: Register) -> PyResult<Words<'py>> {
        copy_of(py, self.0.register(register.0))
    }

    /// Sets a register, in all lanes to the same value or to 32 values.
    fn __setitem__(&mut self, register: Register, values: Numbers<'_>) -> PyResult<()> {
        let row = match values.0.extract::<u32>() {
            Ok(value) => [value; LANES],
            Err(_) => {
                let values = numbers(&values.0)?;
                let values = values.as_slice()?;
                LaneValues::try_from(values).map_err(|_| {
                    let count = values.len();
                    PyValueError::new_err(format!("expected {LANES} values, not {count}"))
                })?
            }
        };
        self.0.set_register(register.0, row);
        Ok(())
    }

    /// Copies the warp.
    fn copy(&self) -> Self {
        self.clone()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __repr__(&self) -> String {
        let used = general().filter(|register| self.0.register(*register).iter().any(|v| *v != 0));
        let used: Vec<String> = used.map(|register| register.to_string()).collect();
        let more = if used.len() > 8 { ", …" } else { "" };
        let shown = used[..used.len().min(8)].join(", ");
        format!("Warp(active={:#010x}, not 0: [{shown}{more}])", self.active())
    }
}

fn general() -> impl Iterator<Item = Reg> {
    (0..=254).map(Reg::new)
}

fn predicates() -> [Pred; 7] {
    [Pred::P0, Pred::P1, Pred::P2, Pred::P3, Pred::P4, Pred::P5, Pred::P6]
}

/// A register by its number.
struct Register(Reg);

impl<'py> FromPyObject<'_, 'py> for Register {
    type Error = PyErr;

    #[cfg(feature = "stubs")]
    const INPUT_TYPE: PyStaticExpr = u8::INPUT_TYPE;

    fn extract(number: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match number.extract::<u8>() {
            Ok(known) if usize::from(known) < REGISTERS => Ok(Self(Reg::new(known))),
            Err(failed) if !failed.is_instance_of::<PyOverflowError>(number.py()) => Err(failed),
            _ => Err(PyIndexError::new_err("expected the number of a register, 0 to 254")),
        }
    }
}

fn at_most<'v>(values: &'v [u32], most: usize, what: &str) -> PyResult<&'v [u32]> {
    if values.len() <= most {
        return Ok(values);
    }
    Err(PyValueError::new_err(format!("expected at most {most} {what}, not {}", values.len())))
}
