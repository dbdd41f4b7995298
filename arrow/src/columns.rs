//! The columns with their schema, and builders that are filled row by row. Buffers are allocated in their final size.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, UInt16Type, UInt32Type};
use arrow_array::{
    ArrayRef, FixedSizeListArray, ListArray, PrimitiveArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{
    BooleanBuffer, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use crate::accesses::{AccessOptions, in_words};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::WarpAddresses;
use warpload_trace::BinaryTrace;

/// `N` columns of numbers that are null in the same rows.
pub(crate) struct Optional<T: ArrowPrimitiveType, const N: usize> {
    values: [Vec<T::Native>; N],
    valid: NullBufferBuilder,
}

pub(crate) type Costs<const N: usize> = Optional<UInt16Type, N>;
pub(crate) type Numbers<const N: usize> = Optional<UInt32Type, N>;

impl<T: ArrowPrimitiveType, const N: usize> Optional<T, N> {
    pub(crate) fn new(rows: usize) -> Self {
        let values = std::array::from_fn(|_| Vec::with_capacity(rows));
        Self { values, valid: NullBufferBuilder::new(rows) }
    }

    #[inline]
    pub(crate) fn push(&mut self, row: Option<[T::Native; N]>) {
        match row {
            Some(_) => self.valid.append_non_null(),
            None => self.valid.append_null(),
        }
        for (values, value) in self.values.iter_mut().zip(row.unwrap_or([T::Native::default(); N]))
        {
            values.push(value);
        }
    }

    pub(crate) fn finish(mut self) -> [ArrayRef; N] {
        let nulls = self.valid.finish();
        // This does not panic, because each row has a value and a bit.
        self.values.map(|values| {
            Arc::new(PrimitiveArray::<T>::new(values.into(), nulls.clone())) as ArrayRef
        })
    }
}

/// The addresses of accesses: for each access a list of 32.
pub(crate) struct AddressColumn {
    addresses: Vec<u64>,
    /// The active lanes, which are the ones with an address.
    active: Vec<u32>,
    known: NullBufferBuilder,
}

impl AddressColumn {
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            addresses: Vec::with_capacity(LANES * rows),
            active: Vec::with_capacity(rows),
            known: NullBufferBuilder::new(rows),
        }
    }

    /// Adds the addresses of the active lanes. Other lanes are stored as 0 and become null.
    #[inline]
    pub(crate) fn push(&mut self, active: LaneMask, addresses: &WarpAddresses) {
        match (active == LaneMask::ALL, addresses) {
            (true, &WarpAddresses::Stride { base, stride }) => {
                // Adds up instead of multiplying, because vector multiplications are slow.
                let mut next = base;
                self.addresses.extend((0..LANES).map(|_| {
                    let address = next;
                    next = next.wrapping_add(stride);
                    address
                }));
            }
            (true, WarpAddresses::Each(list)) => self.addresses.extend_from_slice(list),
            (false, addresses) => {
                let mut row = [0; LANES];
                for lane in active {
                    row[lane] = addresses.of(lane);
                }
                self.addresses.extend_from_slice(&row);
            }
        }
        self.active.push(active.bits());
        self.known.append_non_null();
    }

    /// Adds an access without known addresses.
    pub(crate) fn push_unknown(&mut self) {
        self.addresses.extend_from_slice(&[0; LANES]);
        self.active.push(0);
        self.known.append_null();
    }

    pub(crate) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let valid = lanes_valid(self.active);
        let addresses = UInt64Array::try_new(self.addresses.into(), Some(valid))?;
        let addresses = Arc::new(addresses);
        let (item, known) = (address_item(), self.known.finish());
        let lists = FixedSizeListArray::try_new(item, LANES as i32, addresses, known)?;
        Ok(Arc::new(lists))
    }
}

/// The values of accesses: for each access a list of 32 lists of registers.
pub(crate) struct ValueColumn {
    values: Vec<u32>,
    /// The end of each lane's values.
    ends: Vec<i32>,
    /// The lanes with values.
    lanes: Vec<u32>,
    known: NullBufferBuilder,
}

impl ValueColumn {
    pub(crate) fn new(rows: usize) -> Self {
        let mut ends = Vec::with_capacity(LANES * rows + 1);
        ends.push(0);
        let known = NullBufferBuilder::new(rows);
        Self {
            values: Vec::with_capacity(LANES * rows),
            ends,
            lanes: Vec::with_capacity(rows),
            known,
        }
    }

    /// Adds the values of `lanes`. Each row of `registers` is one register.
    pub(crate) fn push(&mut self, lanes: LaneMask, registers: &[[u32; LANES]]) {
        for lane in 0..LANES {
            if lanes.contains(lane) {
                self.values.extend(registers.iter().map(|row| row[lane]));
            }
            // Fits, because a block has at most 4,096 accesses of 32 lanes and 8 registers.
            self.ends.push(self.values.len() as i32);
        }
        self.lanes.push(lanes.bits());
        self.known.append_non_null();
    }

    /// Adds an access without known values.
    pub(crate) fn push_unknown(&mut self) {
        let end = self.values.len() as i32;
        self.ends.extend_from_slice(&[end; LANES]);
        self.lanes.push(0);
        self.known.append_null();
    }

    pub(crate) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let values = Arc::new(UInt32Array::from(self.values));
        let ends = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        let valid = lanes_valid(self.lanes);
        let lanes = ListArray::try_new(register_item(), ends, values, Some(valid))?;
        let (item, known) = (lane_item(), self.known.finish());
        let lists = FixedSizeListArray::try_new(item, LANES as i32, Arc::new(lanes), known)?;
        Ok(Arc::new(lists))
    }
}

/// The validity of all lanes in all rows. Bit n of a mask stands for lane n.
fn lanes_valid(masks: Vec<u32>) -> NullBuffer {
    let length = masks.len() * LANES;
    let masks: Vec<u32> = if cfg!(target_endian = "big") {
        masks.into_iter().map(u32::swap_bytes).collect()
    } else {
        masks
    };
    NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(masks), 0, length))
}

/// The version of the crate that makes the batches.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the schema of a trace's batches. Its metadata has the keys `version`, `source` and `options`.
#[must_use]
pub fn access_schema(trace: &BinaryTrace, options: &AccessOptions<'_>) -> SchemaRef {
    let metadata = HashMap::from([
        ("version".to_owned(), VERSION.to_owned()),
        ("source".to_owned(), trace.contents().source.clone()),
        ("options".to_owned(), in_words(options.get_replay())),
    ]);
    Arc::new(Schema::new_with_metadata(fields(options.get_values()), metadata))
}

fn fields(has_values: bool) -> Fields {
    let always = |name: &str, kind| Field::new(name, kind, false);
    let maybe = |name: &str, kind| Field::new(name, kind, true);
    let mut fields = vec![
        always("record", DataType::UInt64),
        always("kernel", DataType::UInt32),
        maybe("cta_x", DataType::UInt32),
        maybe("cta_y", DataType::UInt32),
        maybe("cta_z", DataType::UInt32),
        maybe("warp", DataType::UInt32),
        always("pc", DataType::UInt64),
        always("opcode", names()),
        always("kind", names()),
        always("space", names()),
        always("bytes", DataType::UInt8),
        always("active", DataType::UInt32),
        always("lanes", DataType::UInt8),
        maybe("addresses", DataType::FixedSizeList(address_item(), LANES as i32)),
        maybe("sectors", DataType::UInt16),
        maybe("ideal_sectors", DataType::UInt16),
        maybe("lines", DataType::UInt16),
        maybe("wavefronts", DataType::UInt16),
        maybe("ideal_wavefronts", DataType::UInt16),
    ];
    if has_values {
        fields.push(maybe("values", DataType::FixedSizeList(lane_item(), LANES as i32)));
    }
    fields.into()
}

/// The type of names: a dictionary with 32-bit keys, the type that pyarrow and Polars make.
pub(crate) fn names() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The field for one lane's address.
pub(crate) fn address_item() -> FieldRef {
    Arc::new(Field::new("item", DataType::UInt64, true))
}

/// The field for one lane's registers.
pub(crate) fn lane_item() -> FieldRef {
    Arc::new(Field::new("item", DataType::List(register_item()), true))
}

/// The field for one register.
pub(crate) fn register_item() -> FieldRef {
    Arc::new(Field::new("item", DataType::UInt32, false))
}
