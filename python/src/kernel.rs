//! [`PtxKernel`]: a kernel of a module. It runs on copies of the arrays in the module's memory. They are written back
//! and freed at the end of the launch.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warpload::text::{visible, visible_lines};
use warpload_ptx::Module;
use warpload_ptx::launch::{
    self, AllocationUse, Checks, ChecksError, Kernel, KernelError, KernelLaunch, KernelResult,
    LaunchTrace, LaunchWatch,
};
use warpload_ptx::module::{Array, Declaration, StatementId};
use warpload_replay::{LaunchCounter, Summary};
use warpload_trace::{BinaryTrace, import_source};

use crate::error::{ErrorKind, Failure, error};
use crate::literals::{Globals, KernelFaultKind, KernelSource, PtxModule};
use crate::module::{KernelModule, Loaded, SharedModule, Turn, Variable};
use crate::notebook::escaped_lines;
use crate::ptx::Text;
use crate::record::record;
use crate::replay::Replay;
use crate::trace::{OpenTrace, Trace};
use crate::waiting::{Shared, wait};

/// A kernel of a module. `warpload.ptx.Kernel` converts arguments for it.
#[pyclass(frozen, subclass, module = "warpload._native")]
pub(crate) struct PtxKernel {
    module: Py<KernelModule>,
    name: String,
    parameters: Vec<KernelParameter>,
}

record! {
/// A parameter of a kernel, or a variable of its module.
KernelParameter in "warpload.ptx" {
    /// The name.
    name: String,
    /// The type as PTX writes it, with the length of an array: `.u64`, `.f32`, `.b8[24]`. A structure by value is an
    /// array of bytes.
    r#type: String,
    /// The size in bytes.
    bytes: u64,
}

}

impl KernelParameter {
    pub(crate) fn new(module: &Module<'_>, declared: &Declaration, bytes: u64) -> Self {
        let vector = match declared.vector {
            1 => String::new(),
            count => format!(".v{count}"),
        };
        let array = match declared.array {
            Array::Of(count) => format!("[{count}]"),
            _ => String::new(),
        };
        let r#type = format!("{vector}.{}{array}", declared.scalar.name());
        Self { name: module.text(declared.name).to_owned(), r#type, bytes }
    }
}

record! {
/// The numbers of blocks, warps and instructions that a launch executed.
LaunchCounts in "warpload.ptx" {
    /// Blocks.
    blocks: u64,
    /// Warps.
    warps: u64,
    /// Instructions, counted once for all lanes of a warp that execute them together.
    warp_instructions: u64,
    /// Instructions, counted once for each thread.
    thread_instructions: u64,
    /// Loads among the warp instructions, including loads of parameters.
    loads: u64,
    /// Stores among the warp instructions.
    stores: u64,
    /// Atomic operations and reductions among the warp instructions.
    atomics: u64,
}

}

impl LaunchCounts {
    fn new(counts: launch::LaunchCounts) -> Self {
        let launch::LaunchCounts { blocks, warps, warp_instructions, .. } = counts;
        let launch::LaunchCounts { thread_instructions, loads, stores, atomics, .. } = counts;
        Self { blocks, warps, warp_instructions, thread_instructions, loads, stores, atomics }
    }
}

record! {
/// A fault of a thread. The launch continued, except for threads that could not.
KernelFault in "warpload.ptx" {
    /// The kind of fault.
    kind: KernelFaultKind,
    /// A description of the fault.
    message: String,
    /// The line of the instruction in the module, from 1.
    line: u32,
    /// The text of `str()`: the place, what is wrong, and who executed the instruction.
    report: String,
    /// The instruction.
    instruction: String,
    /// The function that contains the instruction.
    function: String,
    /// The file of the source that `.loc` and `.file` name; `None` if the module does not name one.
    source_file: Option<String>,
    /// The line of the source that `.loc` names; `None` if the module does not name one.
    source_line: Option<u32>,
    /// The block's index, x first.
    block: (u32, u32, u32),
    /// The thread's index in its block, x first.
    thread: (u32, u32, u32),
    /// The thread's lane, 0 to 31.
    lane: u32,
    /// The generic address of the access; 0 for other faults.
    address: u64,
    /// The number, from 0, of the array argument that has the address, or is nearest to an out-of-bounds one; `None` if
    /// there is none, or another memory is nearer.
    argument: Option<usize>,
    /// The distance of an out-of-bounds address from the nearest memory, in bytes: from its end if positive; to its
    /// beginning, or for an access that begins inside, to its end, if negative. `None` for other faults.
    distance: Option<i64>,
    /// The variable of the module or of shared memory that has the address; `None` if none has.
    variable: Option<String>,
    /// The distance of the address from the beginning of the argument's array, of the variable, or of dynamic shared
    /// memory; `None` for faults without an address, and for those out of bounds.
    offset: Option<u64>,
    /// The line of the other instruction of a race, or of the last one that changed what threads wait for; `None` for
    /// other faults.
    other_line: Option<u32>,
}
repr |this| format!(
    "KernelFault('{}', line={}, block={:?}, thread={:?}, address={:#x})",
    this.kind.0, this.line, this.block, this.thread, this.address
);
{
    fn __str__(&self) -> &str {
        &self.report
    }
}
}

impl KernelFault {
    fn new(fault: &launch::KernelFault, instruction: String) -> Self {
        Self {
            kind: KernelFaultKind(fault.kind.name()),
            message: fault.to_string(),
            report: visible_lines(&fault.report(&instruction)).into_owned(),
            line: fault.line(),
            instruction,
            function: fault.function.to_string(),
            source_file: fault.source_file.as_deref().map(str::to_owned),
            source_line: fault.source_line,
            block: fault.block.into(),
            thread: fault.thread.into(),
            lane: fault.lane,
            address: fault.address,
            argument: fault.argument(),
            distance: fault.distance(),
            variable: fault.variable().map(str::to_owned),
            offset: fault.offset(),
            other_line: fault.kind.other().map(|other| other.at.line()),
        }
    }
}

record! {
/// An instruction that was reached but is not supported. It was skipped, so its results are unknown.
SkippedInstruction in "warpload.ptx" {
    /// The line in the module, from 1.
    line: u32,
    /// The instruction.
    text: String,
    /// How many times a warp reached it.
    count: u64,
}

repr |this| {
    let SkippedInstruction { line, text, count } = this;
    format!("SkippedInstruction(line={line}, text='{}', count={count})", visible(text))
};
}

record! {
/// The bytes of an array or of a variable that a launch left unknown.
UnknownBytes in "warpload.ptx" {
    /// The number of the array's argument, from 0; `None` for a variable of the module.
    argument: Option<usize>,
    /// The name of the parameter or of the variable.
    name: String,
    /// The number of unknown bytes.
    bytes: u64,
    /// The offset of the first one.
    first: u64,
    /// The reason: an instruction that was not executed, or a register that was never written.
    cause: String,
}
{
    fn __str__(&self) -> String {
        let place = match self.argument {
            Some(number) => format!("argument {number} `{}`", self.name),
            None => format!("`{}`", self.name),
        };
        let Self { bytes, first, cause, .. } = self;
        let noun = if *bytes == 1 { "byte is" } else { "bytes are" };
        format!("{place}: {bytes} {noun} unknown, the first at offset {first}: {cause}")
    }
}
}

/// The result of a launch, apart from the arrays, which it has changed.
///
/// `str()` has the counts, the skipped instructions, the unknown bytes, and the first four faults of each instruction.
#[pyclass(frozen, get_all, module = "warpload.ptx")]
pub(crate) struct Launch {
    /// The name of the kernel.
    kernel: String,
    /// The numbers of blocks, warps and instructions that were executed.
    counts: LaunchCounts,
    /// The number of faults.
    fault_count: u64,
    /// The first faults in the order in which they happened, at most 20 of each kind at each instruction.
    faults: Vec<KernelFault>,
    /// The instructions that were skipped because they are not supported, such as texture instructions, in the order of
    /// the text.
    skipped: Vec<SkippedInstruction>,
    /// The arrays and variables with unknown bytes, which depend on a skipped instruction or on an uninitialized
    /// register. Such an array is unchanged as a whole, unless the launch had `dump_unknown=True`.
    unknown: Vec<UnknownBytes>,
    /// The variables of the module after the launch.
    globals: Globals,
    /// The text that `printf` has printed; its first MiB.
    printed: String,
    /// The findings in a line: faults by kind, or else what was not checked, and what is not known.
    verdict: String,
    /// The text of `str()`.
    report: String,
    /// The index of the only block that was run; `None` if all of the grid were.
    only_block: Option<(u32, u32, u32)>,
    /// Sectors, bank conflicts and other counts of each instruction, except for loads of parameters.
    /// `launch.replay.rows` is a table, and `launch.replay.html("page.html")` writes a page.
    replay: Py<Replay>,
    /// The accesses that `replay` counts, with their values; `None` unless the launch had `trace=True`. Its program
    /// counters are places in the module's text, in bytes.
    trace: Option<OpenTrace>,
}

#[pymethods]
impl Launch {
    /// Whether there was no fault, every instruction was executed, and every byte of the arrays is known.
    #[getter]
    fn ok(&self) -> bool {
        self.fault_count == 0 && self.skipped.is_empty() && self.unknown.is_empty()
    }

    /// Raises an error if the launch is not `ok`.
    ///
    /// Raises
    /// ------
    /// Error
    ///     Of the kind `"fault"`. Its message is `str()` of the launch, and its line is the first fault's, or else that
    ///     of the first instruction that was not executed.
    fn raise_for_faults(&self, py: Python<'_>) -> PyResult<()> {
        if self.ok() {
            return Ok(());
        }
        let lines = self.faults.iter().map(|fault| fault.line);
        let line = lines.chain(self.skipped.iter().map(|skipped| skipped.line)).next();
        let raised = error(py, ErrorKind::Fault, format!("{}: {}", self.kernel, self.report));
        raised.value(py).setattr("line", line)?;
        Err(raised)
    }

    fn __str__(&self) -> &str {
        &self.report
    }

    fn __repr__(&self) -> String {
        let LaunchCounts { blocks, warps, warp_instructions, .. } = &self.counts;
        let (kernel, verdict) = (visible(&self.kernel), &self.verdict);
        format!(
            "Launch('{kernel}', {blocks} blocks, {warps} warps, {warp_instructions} warp instructions, {verdict})"
        )
    }

    fn _repr_html_(&self) -> String {
        let texts = [&self.printed, &self.report].into_iter().filter(|text| !text.is_empty());
        texts.map(|text| format!("<pre>{}</pre>", escaped_lines(text))).collect()
    }
}

/// The most faults of an instruction in the report.
const SHOWN: usize = 4;

/// Returns the findings in a line, which says what was looked for if there are none, and the text of a launch.
fn report(
    result: &KernelResult,
    faults: &[KernelFault],
    unknown: &[UnknownBytes],
    only_block: Option<[u32; 3]>,
) -> (String, String) {
    let mut verdict = result.verdict();
    for (count, what) in
        [(result.skipped.len(), "not executed"), (unknown.len(), "with unknown bytes")]
    {
        if count > 0 {
            verdict += &format!("; {count} {what}");
        }
    }
    if let Some([x, y, z]) = only_block {
        verdict += &format!("; only block ({x}, {y}, {z}) was run");
    }
    let mut lines = vec![result.counts.to_string()];
    lines.extend(result.skipped.iter().map(ToString::to_string));
    let mut shown = BTreeMap::new();
    for fault in faults {
        let count: &mut usize = shown.entry(fault.line).or_default();
        *count += 1;
        // Many threads usually have the same fault.
        if *count <= SHOWN {
            lines.push(fault.report.clone());
        }
    }
    lines.extend(unknown.iter().map(UnknownBytes::__str__));
    lines.push(verdict.clone());
    (verdict, visible_lines(&lines.join("\n")).into_owned())
}

/// A parameter: its bytes, or a pointer, as the number of a buffer and an offset in bytes.
enum Argument {
    Bytes(Vec<u8>),
    Pointer { buffer: usize, offset: usize },
}

/// Bytes that a launch reads and writes: one array, or several arrays that overlap in memory.
struct Buffer {
    /// The lowest argument number of the buffer's arrays.
    argument: usize,
    bytes: Vec<u8>,
}

/// The results of a launch.
struct Ended {
    /// Holds the buffers and the variables until they are read.
    turn: Turn,
    result: KernelResult,
    faults: Vec<KernelFault>,
    summary: Summary,
    trace: Option<BinaryTrace>,
}

/// The options of a launch, except for the launch itself.
struct Asked {
    variables: Vec<(String, Vec<u8>)>,
    /// Whether a module that breaks a rule is refused.
    allow_illegal: bool,
    /// Whether the accesses are traced.
    trace: bool,
}

#[pymethods]
impl PtxKernel {
    #[new]
    #[pyo3(signature = (module, name = None))]
    fn new(py: Python<'_>, module: KernelSource<'_>, name: Option<&str>) -> PyResult<Self> {
        let module = match module.0.cast::<KernelModule>() {
            Ok(module) => module.clone().unbind(),
            Err(_) => Py::new(py, KernelModule::new(py, PtxModule(module.0))?)?,
        };
        let shared = &module.get().0;
        let read = shared.module();
        let kernel = Kernel::chosen(read, name);
        let kernel = kernel.map_err(|error| shared.text().refused(&error).raise(py))?;
        let declared = read.declarations().get(kernel.function().parameters.clone());
        let sized = declared.unwrap_or_default().iter().zip(kernel.parameter_bytes());
        let parameters = sized.map(|(declared, bytes)| KernelParameter::new(read, declared, bytes));
        let (parameters, name) = (parameters.collect(), kernel.name().to_owned());
        Ok(Self { module, name, parameters })
    }

    /// The module. All of its kernels share its variables.
    #[getter]
    fn module(&self, py: Python<'_>) -> Py<KernelModule> {
        self.module.clone_ref(py)
    }

    /// The kernel's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The file of the module, `<text>` if it was given as text.
    #[getter]
    fn file(&self) -> &str {
        self.module.get().file()
    }

    /// The parameters in order, each with its name, type and size in bytes.
    #[getter]
    fn parameters(&self) -> Vec<KernelParameter> {
        self.parameters.clone()
    }

    /// The `.global` and `.const` variables of the module, each with its name, type and size in bytes.
    #[getter]
    fn globals(&self) -> Vec<KernelParameter> {
        self.module.get().globals()
    }

    /// Launches the kernel. An argument is the bytes of a parameter, or a writeable array of bytes.
    #[allow(clippy::too_many_arguments, reason = "what `warpload.ptx.Kernel` passes on")]
    #[pyo3(name = "_launch", signature = (grid, block, only_block, arguments, variables, shared_bytes, steps, allow_illegal, check, trace, dump_unknown))]
    fn launch(
        &self,
        py: Python<'_>,
        grid: [u32; 3],
        block: [u32; 3],
        only_block: Option<[u32; 3]>,
        arguments: Vec<Bound<'_, PyAny>>,
        variables: Vec<(String, Vec<u8>)>,
        shared_bytes: u64,
        steps: Option<u64>,
        allow_illegal: bool,
        check: &str,
        trace: bool,
        dump_unknown: bool,
    ) -> PyResult<Launch> {
        let mut launch = KernelLaunch::new(grid, block).shared_bytes(shared_bytes);
        launch.options.only_block = only_block;
        launch.options.steps = steps.unwrap_or(launch.options.steps);
        launch.options.checks = match check {
            "" => Checks::default(),
            list => list
                .parse()
                .map_err(|error: ChecksError| PyValueError::new_err(error.to_string()))?,
        };
        let (mut values, mut given) = (Vec::new(), Vec::new());
        for (argument, value) in arguments.into_iter().enumerate() {
            values.push(match value.cast::<PyBytes>() {
                Ok(bytes) => Argument::Bytes(bytes.as_bytes().to_vec()),
                Err(_) => {
                    given.push((argument, value.cast_into::<PyArray1<u8>>()?));
                    Argument::Pointer { buffer: 0, offset: 0 }
                }
            });
        }
        let buffers = buffers_of(&given, &mut values)?;
        let places = Arc::new(values);
        let shared = Arc::new(Shared::default());
        let (module, name) = (Arc::clone(&self.module.get().0), self.name.clone());
        let arguments = Arc::clone(&places);
        let mut watch = LaunchWatch::new();
        watch.interrupt = Arc::clone(&shared.interrupt);
        let asked = Asked { variables, allow_illegal, trace };
        let work = move || run(module, &name, launch, asked, &arguments, buffers, &watch);
        let ended = wait(py, &shared, None, work)?;
        let Ended { turn, result, faults, summary, trace } =
            ended.map_err(|failure| failure.raise(py))?;
        let mut unknown = Vec::new();
        let shared = &self.module.get().0;
        let variables = turn.with(|_, Loaded { memory, buffers, .. }| {
            for (argument, array) in given {
                let Some(Argument::Pointer { buffer, offset }) = places.get(argument) else {
                    continue;
                };
                let base = buffers.get(*buffer).copied().unwrap_or_default();
                let part = *offset..*offset + array.len();
                if let Some((bytes, first)) = memory.unknown_in(base, part) {
                    let found = result.unknown.iter().find(|unknown| unknown.base == base);
                    let cause = found.map_or(String::new(), |unknown| unknown.cause.to_string());
                    let parameter = self.parameters.get(argument);
                    let name = parameter.map(|parameter| parameter.name.clone());
                    let (name, argument) = (name.unwrap_or_default(), Some(argument));
                    unknown.push(UnknownBytes { argument, name, bytes, first, cause });
                    if !dump_unknown {
                        continue;
                    }
                }
                let mut array = array.try_readwrite()?;
                let array = array.as_slice_mut()?;
                let bytes = memory.bytes(base).and_then(|bytes| bytes.get(*offset..));
                if let Some(bytes) = bytes.and_then(|bytes| bytes.get(..array.len())) {
                    array.copy_from_slice(bytes);
                }
            }
            let read = |Variable { base, about, .. }: &Variable| {
                let bytes = memory.bytes(*base).unwrap_or_default();
                let cause = memory.unknown_in(*base, 0..bytes.len()).map(|_| {
                    let found = result.unknown.iter().find(|unknown| unknown.base == *base);
                    found.map_or("its initial value has no value here".to_owned(), |unknown| {
                        unknown.cause.to_string()
                    })
                });
                (about.name.clone(), PyBytes::new(py, bytes), cause)
            };
            Ok::<Vec<_>, PyErr>(shared.variables.iter().map(read).collect())
        })?;
        drop(turn);
        unknown.extend(result.unknown.iter().filter_map(|unknown| {
            let AllocationUse::Variable(name) = &unknown.purpose else { return None };
            let name = name.clone();
            let (bytes, first) = (unknown.bytes, unknown.first);
            let cause = unknown.cause.to_string();
            Some(UnknownBytes { argument: None, name, bytes, first, cause })
        }));
        let trace = trace.map(|trace| Trace::of(trace, self.file().into()));
        let (verdict, report) = report(&result, &faults, &unknown, only_block);
        let skipped = result.skipped.into_iter().map(|skipped| SkippedInstruction {
            line: skipped.at.line(),
            text: skipped.text,
            count: skipped.count,
        });
        Ok(Launch {
            kernel: self.name.clone(),
            counts: LaunchCounts::new(result.counts),
            fault_count: result.fault_count,
            faults,
            skipped: skipped.collect(),
            unknown,
            globals: Globals::make(py, (variables, dump_unknown))?,
            printed: String::from_utf8_lossy(&result.printed).into_owned(),
            verdict,
            report,
            only_block: only_block.map(Into::into),
            replay: Py::new(py, Replay::of_launch(summary, self.file()))?,
            trace: trace.map(|trace| OpenTrace::new(py, trace)).transpose()?,
        })
    }
}

impl Text {
    /// Describes why a kernel cannot be launched, or did not end.
    pub(crate) fn refused(&self, error: &KernelError) -> Failure {
        let mut message = format!("{}: {error}", self.name);
        let (kind, position) = match error {
            KernelError::Steps { line, result, .. } => {
                // A launch that does not end has often gone wrong before.
                for skipped in &result.skipped {
                    message += &format!("\n{skipped}");
                }
                if let Some(fault) = result.faults.first() {
                    let (count, line) = (result.fault_count, fault.line());
                    message +=
                        &format!("\n{count} faults until then; the first: line {line}: {fault}");
                }
                let text =
                    self.source.lines().nth((*line as usize).saturating_sub(1)).unwrap_or_default();
                let column = 1 + text.chars().take_while(|char| char.is_whitespace()).count();
                (ErrorKind::Fault, Some((u64::from(*line), column as u64)))
            }
            _ => (ErrorKind::Argument, None),
        };
        Failure { file: Some(self.name.clone()), position, ..Failure::new(kind, message) }
    }
}

/// Copies arrays into buffers, and puts each array's place into `values`. Arrays that overlap share a buffer, so that a
/// store through one is seen through the other.
fn buffers_of(
    given: &[(usize, Bound<'_, PyArray1<u8>>)],
    values: &mut [Argument],
) -> PyResult<Vec<Buffer>> {
    let mut places: Vec<_> = given
        .iter()
        .map(|(argument, array)| (array.data() as usize, array.len(), *argument, array))
        .collect();
    places.sort_by_key(|(start, length, ..)| (*start, *length));
    let mut buffers: Vec<Buffer> = Vec::new();
    // The addresses of the last buffer.
    let mut last = 0..0;
    for (start, length, argument, array) in places {
        let array = array.try_readonly()?;
        let bytes = array.as_slice()?;
        match buffers.last_mut() {
            Some(buffer) if last.contains(&start) && length > 0 => {
                buffer.argument = buffer.argument.min(argument);
                if let Some(more) = bytes.get(last.end - start..) {
                    buffer.bytes.extend_from_slice(more);
                    last.end = start + length;
                }
            }
            _ => {
                buffers.push(Buffer { argument, bytes: bytes.to_vec() });
                last = start..start + length;
            }
        }
        if let Some(value) = values.get_mut(argument) {
            *value = Argument::Pointer { buffer: buffers.len() - 1, offset: start - last.start };
        }
    }
    Ok(buffers)
}

/// Launches the kernel on its buffers, until `watch` ends it.
fn run(
    shared: Arc<SharedModule>,
    name: &str,
    mut launch: KernelLaunch,
    asked: Asked,
    arguments: &[Argument],
    buffers: Vec<Buffer>,
    watch: &LaunchWatch,
) -> Result<Ended, Failure> {
    if !asked.allow_illegal {
        shared.check()?;
    }
    let turn = Turn::wait(Arc::clone(&shared), &watch.interrupt)?;
    let text = shared.text();
    let ended = turn.with(|module, loaded| {
        let refused = |error: KernelError| text.refused(&error);
        let kernel = Kernel::named(module, name).map_err(refused)?;
        for (name, bytes) in asked.variables {
            launch.variables.push((shared.variable(&kernel, &name).map_err(refused)?, bytes));
        }
        let Loaded { module: loaded, memory, buffers: bases } = loaded;
        bases.resize(buffers.len(), 0);
        let mut buffers: Vec<_> = buffers.into_iter().zip(&mut *bases).collect();
        // Allocated in the order of the arguments rather than of their addresses in this process, so that every launch
        // has the same device addresses.
        buffers.sort_by_key(|(buffer, _)| buffer.argument);
        for (Buffer { argument, bytes }, base) in buffers {
            let allocated = memory.allocate(bytes, AllocationUse::Argument(argument));
            *base = allocated.map_err(|error| refused(error.into()))?;
        }
        for (argument, size) in arguments.iter().zip(kernel.parameter_bytes()) {
            launch.parameters.push(match argument {
                Argument::Bytes(bytes) => bytes.clone(),
                Argument::Pointer { buffer, offset } => {
                    let address = bases.get(*buffer).map_or(0, |base| base + *offset as u64);
                    address.to_le_bytes()[..size.min(8) as usize].to_vec()
                }
            });
        }
        let failed = |error: std::io::Error| Failure::of(&error, ErrorKind::System);
        let begin = || {
            let source = import_source(Path::new(&text.name));
            LaunchTrace::new(&kernel, &launch, source, Cursor::new(Vec::new()))
        };
        let trace = asked.trace.then(begin).transpose().map_err(failed)?;
        let mut observer = (LaunchCounter::new(&kernel, &launch), trace);
        let ran = loaded.launch(&kernel, &launch, memory, Some(&mut observer), Some(watch));
        let result = ran.map_err(refused)?;
        let (counter, trace) = observer;
        let summary = counter.summary(&result);
        let trace = trace.map(LaunchTrace::finish).transpose().map_err(failed)?;
        let trace = trace.map(|bytes| BinaryTrace::new(bytes.into_inner().into())).transpose();
        let trace = trace.map_err(|error| Failure::of(&error, ErrorKind::System))?;
        let written = |statement: StatementId| {
            let found = module.statements().get(statement.index());
            found.map_or(String::new(), |found| module.statement(found.span, module.lines()).text)
        };
        let faults =
            result.faults.iter().map(|one| KernelFault::new(one, written(one.site.into())));
        Ok((faults.collect(), result, summary, trace))
    });
    let (faults, result, summary, trace) = ended?;
    Ok(Ended { turn, result, faults, summary, trace })
}
