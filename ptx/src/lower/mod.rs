//! What PTX loads become on SM 5.x: the SPA 5.0 instructions that NVIDIA's assembler would emit.
//!
//! Each load is lowered by itself, with what is known of its address: which other code removes,
//! unrolls or combines, it stays the load that it is. The instructions are those of ptxas 12.9
//! (docs/ptx-lower.md); the numbers of their registers are given here, and [`Binding`]s say what each
//! register holds.

mod anchors;
mod flow;
mod lowered;
mod operand;
mod registers;
mod select;
mod sources;
mod spaces;
mod uniform;
mod value;

use self::anchors::{Anchors, ends_block};
use self::flow::Flow;
pub use self::lowered::{Binding, LowerError, LowerErrorKind, LoweredLoad, OptimizationLevel};
use self::registers::Numbers;
use self::select::Selector;
use self::uniform::Uniformity;
use crate::module::{Function, Module, StatementKind, VariableLayout};
use crate::rules::{Rule, StatementVerdict, Unit, check_as};

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
    let layout = VariableLayout::new(module);
    module.functions().iter().flat_map(move |function| {
        let own = match &layout {
            Ok(layout) => layout.with_function(module, function),
            Err(error) => Err(*error),
        };
        match own {
            Ok(own) => lower_function(module, function, &own, level),
            Err(error) => {
                let loads = module.body(function).iter().filter_map(|found| module.load(found));
                let kind = LowerErrorKind::Layout(error);
                loads.map(|load| Err(LowerError { span: load.span, kind })).collect()
            }
        }
    })
}

/// A statement that is judged, and, if it is a load, what it becomes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoweredStatement {
    /// Whether it is legal. What only today's assemblers refuse is not counted: SM 5.x has loads with 32-bit addresses.
    pub verdict: StatementVerdict,
    /// What the load becomes, legal or not; `None` of other statements.
    pub lowered: Option<Result<LoweredLoad, LowerError>>,
}

impl LoweredStatement {
    /// Returns what the load becomes, or why it becomes nothing: that it is illegal comes first. `None` of other
    /// statements.
    #[must_use]
    pub fn result(&self) -> Option<Result<&LoweredLoad, String>> {
        let lowered = self.lowered.as_ref()?;
        if let Some(violation) = self.verdict.violations.first() {
            return Some(Err(violation.message.clone()));
        }
        Some(lowered.as_ref().map_err(ToString::to_string))
    }
}

/// Returns what the loads of a module become, with the verdicts on all of its statements that are judged, in the order
/// of the text.
pub fn lower_statements<'m>(
    module: &'m Module<'m>,
    level: OptimizationLevel,
) -> impl Iterator<Item = LoweredStatement> + 'm {
    let mut all_lowered = lower(module, level);
    check_as(module, Unit::Part).map(move |mut verdict| {
        // Statements that are not loads are judged as well.
        let lowered = verdict.load.as_ref().and_then(|_| all_lowered.next());
        if lowered.is_some() {
            let is_of_today = |rule| matches!(rule, Rule::AddressSize | Rule::AddressWidth);
            verdict.violations.retain(|violation| !is_of_today(violation.rule));
        }
        LoweredStatement { verdict, lowered }
    })
}

fn lower_function(
    module: &Module<'_>,
    function: &Function,
    layout: &VariableLayout<'_>,
    level: OptimizationLevel,
) -> Vec<Result<LoweredLoad, LowerError>> {
    let mut results = Vec::new();
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
        instructions: Vec::new(),
        bindings: Vec::new(),
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
    results
}
