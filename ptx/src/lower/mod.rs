//! What PTX loads become on SM 5.x: the SPA 5.0 instructions that NVIDIA's assembler would emit.
//!
//! Each load is lowered by itself, with what is known of its address: which other code removes,
//! unrolls or combines, it stays the load that it is. The instructions are those of ptxas 12.9
//! (docs/ptx-lower.md); the numbers of their registers are given here, and [`Binding`]s say what each
//! register holds.

mod anchors;
mod flow;
mod operand;
mod piece;
mod registers;
mod select;
mod sources;
mod spaces;
mod uniform;
mod value;
mod width;

use warpload::encoding::{Instruction, Pred, Reg};

use self::anchors::{Anchors, ends_block};
use self::flow::Flow;
use self::registers::Numbers;
use self::select::Selector;
use self::uniform::Uniformity;
use crate::meaning::{MeaningError, Place, Register};
use crate::module::{Function, Layout, LayoutError, Module, Statement, StatementKind};
use crate::syntax::Span;
use crate::syntax::load::Load;

/// How much the assembler optimizes, as ptxas counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OptimizationLevel {
    /// `-O0`: addresses are unknown, and parameters are loaded.
    O0,
    /// `-O1`.
    O1,
    /// `-O2`.
    O2,
    /// `-O3`, the assembler's default.
    #[default]
    O3,
}

/// A load and what it becomes.
#[derive(Clone, Debug)]
pub struct LoweredLoad {
    /// The load.
    pub load: Load,
    /// The instructions in their order; empty if the load becomes a constant operand of what
    /// uses it, or a register of the calling convention.
    pub instructions: Vec<Instruction>,
    /// What the instructions' registers hold.
    pub bindings: Vec<Binding>,
}

/// What a register of a lowered load holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// In front of the load: an address.
    Address {
        /// The register; the lower word of two if the address is wide.
        register: Reg,
        /// Whether it has 64 bits, in two registers.
        is_wide: bool,
        /// What it is the address of.
        place: Place,
    },
    /// Before the load: true if the generic address is not in shared memory.
    Plg {
        /// The predicate.
        predicate: Pred,
        /// The address.
        place: Place,
    },
    /// In front of the load: the guard.
    Guard {
        /// The predicate.
        predicate: Pred,
        /// The PTX register that it is.
        register: Register,
    },
    /// In front of the load: the offset in local memory from which on the function's own variables
    /// lie.
    Frame {
        /// The register.
        register: Reg,
    },
    /// Instead of an instruction: the place of the elements as an operand of what uses them,
    /// `c[bank][offset]`.
    Constant {
        /// The constant bank.
        bank: u8,
        /// The first byte.
        offset: u32,
        /// The PTX registers, the first element first; `None` for a sink.
        elements: Vec<Option<Register>>,
    },
    /// Behind the load: elements, side by side from the lowest byte of the first register on.
    Destination {
        /// The instruction's place in [`LoweredLoad::instructions`].
        instruction: usize,
        /// The first register.
        register: Reg,
        /// How many there are, 1, 2 or 4.
        count: u32,
        /// The PTX registers, the first element first; `None` for a sink.
        elements: Vec<Option<Register>>,
    },
}

/// Why a load has no SPA 5.0 form, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct LowerError {
    /// The place at fault in it.
    pub span: Span,
    /// Why.
    pub kind: LowerErrorKind,
}

/// Why a load has no SPA 5.0 form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerErrorKind {
    /// The load has no meaning.
    #[error(transparent)]
    Meaning(#[from] MeaningError),
    /// The variables that it may name have no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// It reads Tensor Memory.
    #[error("SM 5.x has no Tensor Memory")]
    Tensor,
    /// It orders memory as only later machines do.
    #[error("no load of SM 5.x is `.relaxed`, `.acquire` or `.mmio`")]
    Ordered,
    /// It loads more than 16 bytes, or 16 bytes from a constant bank.
    #[error("no load of SM 5.x has {bytes} bytes in this space")]
    TooWide {
        /// The bytes of a lane.
        bytes: u32,
    },
}

impl LowerErrorKind {
    /// Returns the place at fault in the load at `load`.
    fn span(self, load: Span) -> Span {
        match self {
            Self::Meaning(error) => error.span().unwrap_or(load),
            Self::Layout(error) => error.span(),
            Self::Tensor | Self::Ordered | Self::TooWide { .. } => load,
        }
    }
}

/// Lowers every load of a module, in the order of the text.
///
/// ```
/// use warpload_ptx::lower::OptimizationLevel;
/// use warpload_ptx::{lower, read};
///
/// let module = read(".version 8.0\n.target sm_50\n.address_size 64\n
///     .entry k(.param .u64 a) {
///         .reg .b64 %rd<2>; .reg .f32 %f<5>;
///         ld.param.u64 %rd1, [a];
///         ld.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
///         ret;
///     }")?;
/// let lowered: Vec<_> = lower(&module, OptimizationLevel::O3).collect::<Result<_, _>>()?;
/// // The parameter is an operand of what uses it; the address is the same in the whole warp.
/// assert!(lowered[0].instructions.is_empty());
/// assert_eq!(lowered[1].instructions[0].to_string(), "LD.E.U.128 R4, [R2], P0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LowerError`] in the place of each load that has no SPA 5.0 form.
pub fn lower<'m>(
    module: &'m Module<'_>,
    level: OptimizationLevel,
) -> impl Iterator<Item = Result<LoweredLoad, LowerError>> + 'm {
    let layout = Layout::new(module);
    module.functions().iter().flat_map(move |function| {
        let mut results = Vec::new();
        let own = match &layout {
            Ok(layout) => layout.with_function(module, function),
            Err(error) => Err(*error),
        };
        match own {
            Ok(own) => lower_function(module, function, &own, level, &mut results),
            Err(error) => refuse_all(module, function, error, &mut results),
        }
        results
    })
}

type Results = Vec<Result<LoweredLoad, LowerError>>;

fn lower_function(
    module: &Module<'_>,
    function: &Function,
    layout: &Layout<'_>,
    level: OptimizationLevel,
    results: &mut Results,
) {
    let is_optimized = level > OptimizationLevel::O0;
    let mut selector = Selector {
        module,
        function,
        layout,
        level,
        uniformity: is_optimized.then(|| Uniformity::of(module, function)),
        flow: Flow::new(module, function, layout, is_optimized),
        anchors: Anchors::default(),
        numbers: Numbers::default(),
    };
    for statement in module.body(function) {
        let instruction = match &statement.kind {
            StatementKind::Instruction(instruction) => instruction,
            StatementKind::Label(name) => {
                if selector.flow.label(module.text(*name)) {
                    selector.anchors.forget();
                }
                continue;
            }
            _ => continue,
        };
        if ends_block(module, instruction) {
            selector.anchors.forget();
        }
        if let Some(load) = module.load(statement) {
            let span = load.span;
            let result = selector.load(load);
            let is_lowered = result.is_ok();
            results.push(result.map_err(|kind| LowerError { span: kind.span(span), kind }));
            if is_lowered {
                continue;
            }
        }
        selector.store(statement, instruction);
        selector.flow.instruction(statement, instruction);
    }
}

/// Every load of a function whose variables have no layout.
fn refuse_all(module: &Module<'_>, function: &Function, error: LayoutError, results: &mut Results) {
    let loads = |statement: &Statement| module.load(statement);
    results.extend(
        module
            .body(function)
            .iter()
            .filter_map(loads)
            .map(|load| Err(LowerError { span: load.span, kind: LowerErrorKind::Layout(error) })),
    );
}
