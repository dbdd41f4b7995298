//! [`Memory`]: the memory that loads read.

use std::ops::Range;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};
use warpload::memory::{
    AddressMap, Allocation, Arena, ConstantBank, LocalPart, Memory as Bytes, MemoryBuilder,
    Regions, Window,
};

use crate::borrowed::Source;
use crate::error::{ErrorKind, error};
use crate::literals::{ByteSource, Contents};

/// All memory of a machine. Immutable.
///
/// `allocations` are global memory: bytes by first address. Local memory is the bytes of all 32 lanes, lane 0's first.
/// Addresses have 40 bits, and 49 for instructions of SM 7.0 and later, unless `address_bits` says otherwise.
///
/// Bytes of one read-only object, `bytes` or a read-only `mmap.mmap` or views of it, are borrowed; all other bytes are
/// copied.
#[pyclass(frozen, module = "warpload")]
pub(crate) struct Memory {
    pub(crate) bytes: Arc<Bytes>,
    /// The memory for instructions of SM 7.0 and later, if their addresses have more bits.
    pub(crate) wide: Option<Arc<Bytes>>,
    /// The number of address bits; `None` if the instruction's SM decides.
    address_bits: Option<u32>,
    is_borrowed: bool,
}

/// The numbers of address bits, before SM 7.0 and from there on. The command has the same ones.
const ADDRESS_BITS: u32 = 40;
const WIDE_ADDRESS_BITS: u32 = 49;

/// The memory that bytes belong to.
#[derive(Clone, Copy)]
enum Place {
    Global(u64),
    Shared,
    LocalLow,
    LocalHigh,
    Constant(u8),
}

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(signature = (
        allocations = None,
        *,
        shared = None,
        local_low = None,
        local_high = None,
        constant = None,
        address_bits = None,
        shared_window = (0xfe00_0000, 0x100_0000),
        local_window = (0xff00_0000, 0x100_0000),
    ))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python's")]
    fn new(
        py: Python<'_>,
        allocations: Option<Contents<'_>>,
        shared: Option<ByteSource<'_>>,
        local_low: Option<ByteSource<'_>>,
        local_high: Option<ByteSource<'_>>,
        constant: Option<Contents<'_>>,
        address_bits: Option<u32>,
        shared_window: (u64, u64),
        local_window: (u64, u64),
    ) -> PyResult<Self> {
        let window = |(base, size)| Window { base, size };
        let map = |bits| {
            let map = AddressMap::new(bits, window(shared_window), window(local_window));
            map.map_err(|failed| error(py, ErrorKind::Argument, failed))
        };
        let mut sources = Vec::new();
        for (base, bytes) in entries(allocations.map(|given| given.0))? {
            sources.push((Place::Global(base.extract()?), Source::new(&bytes)?));
        }
        for (bank, bytes) in entries(constant.map(|given| given.0))? {
            sources.push((Place::Constant(bank.extract()?), Source::new(&bytes)?));
        }
        let others =
            [(shared, Place::Shared), (local_low, Place::LocalLow), (local_high, Place::LocalHigh)];
        for (bytes, place) in others {
            if let Some(bytes) = bytes {
                sources.push((place, Source::new(&bytes.0)?));
            }
        }
        let made = |bits| match borrowed(py, map(bits)?, &sources)? {
            Some(bytes) => Ok::<_, PyErr>((Arc::new(bytes), true)),
            None => Ok((Arc::new(copied(py, map(bits)?, &sources)?), false)),
        };
        let (bytes, is_borrowed) = match address_bits {
            Some(bits) => made(bits)?,
            // Some allocations may lie beyond the addresses of SM 5.x.
            None => made(ADDRESS_BITS).or_else(|_| made(WIDE_ADDRESS_BITS))?,
        };
        let is_narrow = address_bits.is_none() && bytes.map().address_bits() == ADDRESS_BITS;
        let wide = if is_narrow {
            let wide = bytes.with_map(map(WIDE_ADDRESS_BITS)?);
            Some(Arc::new(wide.map_err(|failed| error(py, ErrorKind::Argument, failed))?))
        } else {
            None
        };
        Ok(Self { bytes, wide, address_bits, is_borrowed })
    }

    /// The first address and the size of each global allocation, ascending.
    #[getter]
    fn allocations(&self) -> Vec<(u64, u64)> {
        self.bytes.allocations().iter().map(|known| (known.base, known.size)).collect()
    }

    /// The number of address bits; ``None`` if the SM of the executed instruction decides: 40, or 49 from SM 7.0 on.
    #[getter]
    fn address_bits(&self) -> Option<u32> {
        self.address_bits
    }

    /// Whether the bytes are borrowed from the object that was given, rather than copied.
    #[getter]
    fn is_borrowed(&self) -> bool {
        self.is_borrowed
    }

    /// The number of bytes in all.
    fn __len__(&self) -> usize {
        let bytes = &self.bytes;
        let global = bytes.allocations().iter().map(|known| known.size as usize).sum::<usize>();
        let local = bytes.local_low_bytes(0).len() + bytes.local_high_bytes(0).len();
        let constant = bytes.constant_banks().map(|(_, bytes)| bytes.len()).sum::<usize>();
        global + bytes.shared_bytes().len() + 32 * local + constant
    }

    fn __repr__(&self) -> String {
        let shown = |known: &Allocation| format!("{:#x}: {} bytes", known.base, known.size);
        let known = self.bytes.allocations();
        let more = if known.len() > 4 { ", …" } else { "" };
        let known: Vec<_> = known.iter().take(4).map(shown).collect();
        let how = if self.is_borrowed { "borrowed" } else { "copied" };
        format!("Memory({{{}{more}}}, {how})", known.join(", "))
    }
}

impl Memory {
    /// Whether the memory fits only the addresses of SM 7.0 and later: the instruction's SM decides their number of
    /// bits, and allocations lie beyond the addresses of SM 5.x.
    pub(crate) fn is_only_wide(&self) -> bool {
        self.address_bits.is_none() && self.wide.is_none()
    }

    pub(crate) fn of_image(bytes: Bytes) -> Self {
        let address_bits = Some(bytes.map().address_bits());
        Self { bytes: Arc::new(bytes), wide: None, address_bits, is_borrowed: true }
    }
}

pub(crate) type Entry<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The items of a mapping.
pub(crate) fn entries<'py>(mapping: Option<Bound<'py, PyAny>>) -> PyResult<Vec<Entry<'py>>> {
    let Some(mapping) = mapping else { return Ok(Vec::new()) };
    if let Ok(known) = mapping.cast::<PyDict>() {
        return Ok(known.iter().collect());
    }
    mapping.cast::<PyMapping>()?.items()?.iter().map(|item| item.extract()).collect()
}

/// Borrows the memory, if all bytes lie in one owner and can never change.
fn borrowed(
    py: Python<'_>,
    map: AddressMap,
    sources: &[(Place, Source<'_>)],
) -> PyResult<Option<Bytes>> {
    let Some((_, first)) = sources.first() else { return Ok(None) };
    let Some(root) = first.root() else { return Ok(None) };
    let mut regions = Regions::default();
    for (place, source) in sources {
        let Some(range) = source.place_beside(first) else { return Ok(None) };
        let (start, size) = (range.start, range.len() as u64);
        match *place {
            Place::Global(base) => regions.global.push(Allocation { base, size, start }),
            Place::Shared => regions.shared = range,
            Place::LocalLow => regions.local_low = local(py, range)?,
            Place::LocalHigh => regions.local_high = local(py, range)?,
            Place::Constant(bank) => regions.constant.push(ConstantBank { bank, bytes: range }),
        }
    }
    let memory = Bytes::new(map, Arena::shared(root), regions);
    memory.map(Some).map_err(|failed| error(py, ErrorKind::Argument, failed))
}

fn local(py: Python<'_>, range: Range<usize>) -> PyResult<LocalPart> {
    LocalPart::new(range.len() / 32, range).map_err(|failed| error(py, ErrorKind::Argument, failed))
}

fn copied(py: Python<'_>, map: AddressMap, sources: &[(Place, Source<'_>)]) -> PyResult<Bytes> {
    let mut builder = MemoryBuilder::new(map);
    for (place, source) in sources {
        let bytes = source.bytes()?;
        let each = bytes.len() / 32;
        builder = match *place {
            Place::Global(base) => builder.global(base, bytes),
            Place::Shared => builder.shared(bytes),
            Place::LocalLow => builder.local_low(each, bytes),
            Place::LocalHigh => builder.local_high(each, bytes),
            Place::Constant(bank) => builder.constant(bank, bytes),
        };
    }
    builder.build().map_err(|failed| error(py, ErrorKind::Argument, failed))
}
