//! [`DecodedWords`]: many words, decoded in one call.

use std::collections::HashMap;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
#[cfg(feature = "stubs")]
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use warpload::encoding::{Decoded, Instruction as Load, LoadDestination, MachineWord, Sm};

use crate::instruction::{Instruction, SmArgument};
use crate::literals::WordArray;

/// The results of decoding words, one element a word.
///
/// `opcodes` lists the distinct opcodes. `opcode` has each word's index into it.
#[pyclass(frozen, module = "warpload")]
pub(crate) struct DecodedWords {
    sm: Sm,
    words: Vec<MachineWord>,
    opcodes: Vec<String>,
    columns: Columns,
}

#[derive(Default)]
struct Columns {
    kind: Vec<u8>,
    opcode: Vec<i32>,
    size: Vec<u8>,
    destination: Vec<i16>,
    base: Vec<i16>,
    offset: Vec<i64>,
}

/// The values of `kind`.
const OTHER: u8 = 0;
const LOAD: u8 = 1;
const ILLEGAL: u8 = 2;

/// A read-only array.
pub(crate) struct Column<'py, T: numpy::Element>(Bound<'py, PyArray1<T>>);

macro_rules! column {
    ($($kind:ident $name:literal),*) => {
        $(
            impl<'py> IntoPyObject<'py> for Column<'py, $kind> {
                type Target = PyArray1<$kind>;
                type Output = Bound<'py, PyArray1<$kind>>;
                type Error = std::convert::Infallible;

                #[cfg(feature = "stubs")]
                const OUTPUT_TYPE: PyStaticExpr = pyo3::type_hint_subscript!(
                    pyo3::type_hint_identifier!("numpy.typing", "NDArray"),
                    pyo3::type_hint_identifier!("numpy", $name)
                );

                fn into_pyobject(self, _: Python<'py>) -> Result<Self::Output, Self::Error> {
                    Ok(self.0)
                }
            }
        )*
    };
}

column!(u8 "uint8", i16 "int16", i32 "int32", i64 "int64", u64 "uint64");

pub(crate) fn column<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    values: &[T],
) -> PyResult<Column<'py, T>> {
    let array = PyArray1::from_slice(py, values);
    array.call_method1("setflags", (false,))?;
    Ok(Column(array))
}

/// Decodes many words at once.
///
/// `words` are an array of integers of 64 bits, `(n,)` before SM 7.0 and `(n, 2)` from there on, the low half first; or
/// their bytes, little-endian.
///
/// >>> import numpy
/// >>> found = warpload.decode_array(numpy.array([0x80d0000000070404, 0], numpy.uint64))
/// >>> found.kind.tolist(), found.opcodes, found[0]
/// ([1, 0], ['LD.E.128'], Instruction('LD.E.128 R4, [R4], P0', sm='50'))
#[pyfunction]
#[pyo3(signature = (words, sm: "str | SupportsIndex" = SmArgument::default()))]
pub(crate) fn decode_array(
    py: Python<'_>,
    words: WordArray<'_>,
    sm: SmArgument,
) -> PyResult<DecodedWords> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let bytes = FUNCTION.import(py, "warpload._arrays", "machine_words")?.call1((words.0,))?;
    let bytes = bytes.cast::<PyArray1<u8>>()?.try_readonly()?;
    let (bytes, sm) = (bytes.as_slice()?, sm.0);
    let width = if sm.has_wide_words() { 16 } else { 8 };
    if bytes.len() % width != 0 {
        let message = format!("expected words of {width} bytes, not {} bytes", bytes.len());
        return Err(PyValueError::new_err(message));
    }
    let words = words_of(bytes, sm);
    Ok(py.detach(|| DecodedWords::new(words, sm)))
}

fn words_of(bytes: &[u8], sm: Sm) -> Vec<MachineWord> {
    if sm.has_wide_words() {
        let words = bytes.as_chunks().0.iter();
        return words.map(|word| MachineWord::Bits128(u128::from_le_bytes(*word))).collect();
    }
    let words = bytes.as_chunks().0.iter();
    words.map(|word| MachineWord::Bits64(u64::from_le_bytes(*word))).collect()
}

impl DecodedWords {
    fn new(words: Vec<MachineWord>, sm: Sm) -> Self {
        let mut numbers = HashMap::new();
        let mut opcodes = Vec::new();
        let mut columns = Columns::default();
        for word in &words {
            let load = match Load::decode(*word, sm) {
                Decoded::Load(load) => load,
                other => {
                    let is_illegal = matches!(other, Decoded::Illegal(_));
                    columns.push_none(if is_illegal { ILLEGAL } else { OTHER });
                    continue;
                }
            };
            let text = load.opcode();
            let number = match numbers.get(text.as_str()) {
                Some(number) => *number,
                None => {
                    let number = opcodes.len() as i32;
                    numbers.insert(text.as_str().to_owned(), number);
                    opcodes.push(text.as_str().to_owned());
                    number
                }
            };
            columns.push(number, &load);
        }
        Self { sm, words, opcodes, columns }
    }
}

impl Columns {
    fn push_none(&mut self, kind: u8) {
        self.kind.push(kind);
        self.opcode.push(-1);
        self.size.push(0);
        self.destination.push(-1);
        self.base.push(-1);
        self.offset.push(0);
    }

    fn push(&mut self, opcode: i32, load: &Load) {
        let parts = load.parts();
        let address = parts.address;
        self.kind.push(LOAD);
        self.opcode.push(opcode);
        self.size.push(parts.size.map_or(0, |size| size.bytes() as u8));
        self.destination.push(match parts.destination {
            LoadDestination::Registers(low) | LoadDestination::Halves { low, .. }
                if !low.is_zero() =>
            {
                low.number().into()
            }
            _ => -1,
        });
        let base = address.base;
        self.base.push(if base.is_zero() { -1 } else { base.number().into() });
        let has_base = !base.is_zero() || address.uniform.is_some();
        let offset = address.offset;
        let offset =
            if has_base { offset.signed().into() } else { i64::from(offset.without_base()) };
        self.offset.push(offset);
    }
}

#[pymethods]
impl DecodedWords {
    /// The kind of each word: 0 another instruction, 1 a load, 2 an illegal load.
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, u8>> {
        column(py, &self.columns.kind)
    }

    /// The opcodes with their modifiers, each once.
    #[getter]
    fn opcodes(&self) -> Vec<String> {
        self.opcodes.clone()
    }

    /// The index of each word's opcode in `opcodes`; -1 if the word is not a load.
    #[getter]
    fn opcode<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, i32>> {
        column(py, &self.columns.opcode)
    }

    /// The size of a lane's access in bytes; 0 if the load cannot be executed.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, u8>> {
        column(py, &self.columns.size)
    }

    /// The number of the first general register that is written; -1 if there is none.
    #[getter]
    fn destination<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, i16>> {
        column(py, &self.columns.destination)
    }

    /// The number of the base register of the address; -1 if there is none.
    #[getter]
    fn base<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, i16>> {
        column(py, &self.columns.base)
    }

    /// The offset of the address in bytes.
    #[getter]
    fn offset<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, i64>> {
        column(py, &self.columns.offset)
    }

    fn __len__(&self) -> usize {
        self.words.len()
    }

    /// The load at an index; `None` if the word is not a load.
    fn __getitem__(&self, index: usize) -> PyResult<Option<Instruction>> {
        let word = self.words.get(index);
        let word = word.ok_or_else(|| PyIndexError::new_err("no word with that index"))?;
        let sm = self.sm;
        Ok(Load::decode(*word, sm).load().map(|load| Instruction { load, sm }))
    }

    fn __repr__(&self) -> String {
        let loads = self.columns.kind.iter().filter(|kind| **kind == LOAD).count();
        format!("DecodedWords({} words, {loads} loads, sm='{}')", self.words.len(), self.sm)
    }
}
