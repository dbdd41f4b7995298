//! [`BlockReader`], which turns the accesses of one block into a record batch, and [`Names`], dictionaries for columns
//! with few distinct texts.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, SchemaRef};

use crate::accesses::BatchError;
use crate::columns::{AddressColumn, Costs, Numbers, ValueColumn};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::Width;
use warpload_replay::{AccessExecutor, AccessKind, RowSpace, Selection};
use warpload_trace::binary::{RawBlock, WarpPositions};
use warpload_trace::{BinaryTrace, MemoryRecord, TraceBlock, WarpPosition};

/// Makes batches from blocks, in any order. Clones share everything that does not change.
#[derive(Clone, Debug)]
pub(crate) struct BlockReader<'a> {
    trace: Arc<BinaryTrace>,
    executor: AccessExecutor<'a>,
    /// Overrides the executor's selection.
    pub(crate) selection: Option<Arc<Selection>>,
    pub(crate) schema: SchemaRef,
    pub(crate) has_values: bool,
    /// The key of each operation in `opcodes`.
    keys: Arc<[i32]>,
    opcodes: Names,
    kinds: Names,
    spaces: Names,
}

impl<'a> BlockReader<'a> {
    pub(crate) fn new(
        trace: Arc<BinaryTrace>,
        executor: AccessExecutor<'a>,
        schema: SchemaRef,
        has_values: bool,
    ) -> Self {
        let operations = &trace.contents().operations;
        let (opcodes, keys) = Names::new(operations.iter().map(|one| &*one.opcode));
        // Their keys are the numbers of the variants.
        let (kinds, _) = Names::new(AccessKind::ALL.map(AccessKind::name));
        let (spaces, _) = Names::new(RowSpace::ALL.map(RowSpace::name));
        let keys = keys.into();
        Self { trace, executor, selection: None, schema, has_values, keys, opcodes, kinds, spaces }
    }

    /// The accesses of a block.
    pub(crate) fn batch(&self, raw: &RawBlock) -> Result<RecordBatch, BatchError> {
        let Self { trace, keys, .. } = self;
        let mut executor: AccessExecutor<'_> = self.executor.clone();
        if let Some(selection) = &self.selection {
            executor = executor.select(selection);
        }
        let block = trace.block(raw)?;
        let mut places = block.places();
        let mut columns = Columns::new(raw.records as usize, self.has_values);
        for i in 0..raw.records as usize {
            let record = block.record(i)?;
            if columns.push(&block, &mut places, &record, &mut executor) {
                let opcode = keys.get(usize::from(record.operation)).copied();
                columns.opcode.push(opcode.unwrap_or_default());
            }
        }
        let opcode = self.opcodes.column(std::mem::take(&mut columns.opcode))?;
        let kind = self.kinds.column(std::mem::take(&mut columns.kind))?;
        let space = self.spaces.column(std::mem::take(&mut columns.space))?;
        let columns = columns.finish(raw.kernel, [opcode, kind, space])?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

/// The columns of a block in the order of the schema, without the constant ones.
struct Columns {
    record: Vec<u64>,
    cta: Numbers<3>,
    warp: Numbers<1>,
    pc: Vec<u64>,
    opcode: Vec<i32>,
    kind: Vec<i32>,
    space: Vec<i32>,
    bytes: Vec<u8>,
    active: Vec<u32>,
    lanes: Vec<u8>,
    addresses: AddressColumn,
    /// Sectors and ideal sectors.
    sectors: Costs<2>,
    lines: Costs<1>,
    /// Wavefronts and ideal wavefronts.
    wavefronts: Costs<2>,
    values: Option<ValueColumn>,
}

impl Columns {
    fn new(rows: usize, has_values: bool) -> Self {
        Self {
            record: Vec::with_capacity(rows),
            cta: Numbers::new(rows),
            warp: Numbers::new(rows),
            pc: Vec::with_capacity(rows),
            opcode: Vec::with_capacity(rows),
            kind: Vec::with_capacity(rows),
            space: Vec::with_capacity(rows),
            bytes: Vec::with_capacity(rows),
            active: Vec::with_capacity(rows),
            lanes: Vec::with_capacity(rows),
            addresses: AddressColumn::new(rows),
            sectors: Costs::new(rows),
            lines: Costs::new(rows),
            wavefronts: Costs::new(rows),
            values: has_values.then(|| ValueColumn::new(rows)),
        }
    }

    /// Adds the row of an access without its opcode. False if the record does not become a row.
    #[inline]
    fn push(
        &mut self,
        block: &TraceBlock<'_>,
        places: &mut WarpPositions<'_>,
        record: &MemoryRecord<'_>,
        executor: &mut AccessExecutor<'_>,
    ) -> bool {
        let Some(access) = executor.execute(block, record) else { return false };
        self.record.push(block.raw().first_instruction + u64::from(record.index));
        let WarpPosition { cta, warp, .. } = places.place(record.index);
        self.cta.push(cta);
        self.warp.push(warp.map(|warp| [warp]));
        self.pc.push(record.pc.into());
        self.kind.push(access.kind as i32);
        self.space.push(access.space as i32);
        // At most 32, so it fits.
        self.bytes.push(record.operation().bytes().unwrap_or(0) as u8);
        self.active.push(record.mask.bits());
        self.lanes.push(access.executing.count() as u8);
        if !record.has_addresses() {
            self.addresses.push_unknown();
        } else if access.kind == AccessKind::Copy {
            // The executor has offsets of the shared side, and only of executing lanes.
            self.addresses.push(record.mask, &record.addresses());
        } else {
            self.addresses.push(record.mask, &executor.lanes().addresses);
        }
        let costs = &access.costs;
        // An access costs at most 256, for 32 lanes with 8 words each, so it fits.
        let cost = |cost: Option<u64>| cost.map(|cost| cost as u16);
        let pair = |one, other| Some([cost(one)?, cost(other)?]);
        self.sectors.push(pair(costs.sectors(), costs.ideal_sectors()));
        self.lines.push(cost(costs.lines()).map(|lines| [lines]));
        self.wavefronts.push(pair(costs.wavefronts(), costs.ideal_wavefronts()));
        if let Some(values) = &mut self.values {
            push_values(values, record, executor, access.executing);
        }
        true
    }

    fn finish(
        self,
        kernel: u32,
        [opcode, kind, space]: [ArrayRef; 3],
    ) -> Result<Vec<ArrayRef>, BatchError> {
        let rows = self.record.len();
        let [cta_x, cta_y, cta_z] = self.cta.finish();
        let [warp] = self.warp.finish();
        let [sectors, ideal_sectors] = self.sectors.finish();
        let [lines] = self.lines.finish();
        let [wavefronts, ideal_wavefronts] = self.wavefronts.finish();
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(self.record)),
            Arc::new(UInt32Array::from(vec![kernel; rows])),
            cta_x,
            cta_y,
            cta_z,
            warp,
            Arc::new(UInt64Array::from(self.pc)),
            opcode,
            kind,
            space,
            Arc::new(UInt8Array::from(self.bytes)),
            Arc::new(UInt32Array::from(self.active)),
            Arc::new(UInt8Array::from(self.lanes)),
            self.addresses.finish()?,
            sectors,
            ideal_sectors,
            lines,
            wavefronts,
            ideal_wavefronts,
        ];
        if let Some(values) = self.values {
            columns.push(values.finish()?);
        }
        Ok(columns)
    }
}

/// Adds the values of an access's executing lanes: values of the trace or, because most traces have none, the values
/// that the executor loaded.
fn push_values(
    column: &mut ValueColumn,
    record: &MemoryRecord<'_>,
    executor: &AccessExecutor<'_>,
    executing: LaneMask,
) {
    let mut rows = [[0; LANES]; Width::MAX_REGISTERS];
    let count = (record.operation().registers() as usize).min(rows.len());
    for (register, row) in rows.iter_mut().enumerate().take(count) {
        if let Some(traced) = record.values(register) {
            for (lane, value) in record.mask.lanes().zip(traced) {
                row[lane] = value;
            }
        } else if let Some(loaded) = executor.values(register) {
            *row = *loaded;
        } else {
            return column.push_unknown();
        }
    }
    column.push(executing, &rows[..count]);
}

/// Distinct texts in order of first occurrence.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    texts: Arc<StringArray>,
}

impl Names {
    /// Collects the distinct texts, and the key of each text.
    pub(crate) fn new<'t>(all: impl IntoIterator<Item = &'t str>) -> (Self, Vec<i32>) {
        let (mut texts, mut known) = (Vec::new(), HashMap::new());
        let keys = all
            .into_iter()
            .map(|text| {
                *known.entry(text).or_insert_with(|| {
                    texts.push(text);
                    texts.len() as i32 - 1
                })
            })
            .collect();
        (Self { texts: Arc::new(StringArray::from_iter_values(texts)) }, keys)
    }

    pub(crate) fn column(&self, keys: Vec<i32>) -> Result<ArrayRef, ArrowError> {
        let texts: ArrayRef = Arc::clone(&self.texts) as ArrayRef;
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys.into(), texts)?))
    }
}
