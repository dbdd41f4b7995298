//! Lowers PTX loads to the SPA 5.0 instructions that NVIDIA's assembler would emit for SM 5.x.
//!
//! Each load is lowered on its own, with its address as far as it is known. ptxas also removes, unrolls and merges
//! loads; we do not. The instructions are those of ptxas 12.9 (docs/ptx-lower.md) except for register numbers, which
//! are assigned here; [`Binding`]s tell the contents of each register.

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
use crate::module::{Function, Module, VariableLayout};
use crate::rules::{Rule, StatementVerdict, Unit, check_as};
use crate::syntax::load::PtxLoad;

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
/// // The parameter is an operand of its users; the address is the same in the whole warp.
/// assert!(lowered[0].instructions.is_empty());
/// assert_eq!(lowered[1].instructions[0].to_string(), "LD.E.U.128 R4, [R2], P0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The item of a load without an SPA 5.0 form is a [`LowerError`].
pub fn lower<'m>(
    module: &'m Module<'_>,
    level: OptimizationLevel,
) -> impl Iterator<Item = Result<LoweredLoad<'m>, LowerError>> + use<'m> {
    let layout = VariableLayout::new(module);
    module.functions().iter().flat_map(move |function| {
        let own = match &layout {
            Ok(layout) => layout.with_function(module, function),
            Err(error) => Err(*error),
        };
        match own {
            Ok(own) => lower_function(module, function, &own, level),
            Err(error) => {
                let instructions = module.instructions(function);
                let loads = instructions.filter(|instruction| instruction.opcode.is_load());
                let kind = LowerErrorKind::Layout(error);
                let error = |load: PtxLoad<'_>| LowerError { load: load.id, span: load.span, kind };
                loads.map(|load| Err(error(load))).collect()
            }
        }
    })
}

/// A judged statement, with its lowered form if it is a load.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoweredStatement<'m> {
    /// Whether it is legal, apart from the rules of current assemblers on address sizes: SM 5.x has loads with 32-bit
    /// addresses.
    pub verdict: StatementVerdict<'m>,
    /// The lowered load, legal or not; `None` for other statements.
    pub lowered: Option<Result<LoweredLoad<'m>, LowerError>>,
}

impl<'m> LoweredStatement<'m> {
    /// Returns the lowered load, or the reason why there is none. An illegal load gives its first violation, even if it
    /// was lowered. `None` for other statements.
    #[must_use]
    pub fn result(&self) -> Option<Result<&LoweredLoad<'m>, String>> {
        let lowered = self.lowered.as_ref()?;
        if let Some(violation) = self.verdict.violations.first() {
            return Some(Err(violation.message.clone()));
        }
        Some(lowered.as_ref().map_err(ToString::to_string))
    }
}

/// Returns the judged statements of a module in the order of the text, its loads with their lowered form.
pub fn lower_statements<'m>(
    module: &'m Module<'m>,
    level: OptimizationLevel,
) -> impl Iterator<Item = LoweredStatement<'m>> + 'm {
    let mut all_lowered = lower(module, level);
    check_as(module, Unit::Part).map(move |mut verdict| {
        // Judged statements other than loads have no lowered item, so the two sequences are matched by id.
        let lowered = verdict.load.and_then(|load| {
            all_lowered.find(|lowered| match lowered {
                Ok(lowered) => lowered.load.id == load.id,
                Err(error) => error.load == load.id,
            })
        });
        if lowered.is_some() {
            let is_of_today = |rule| matches!(rule, Rule::AddressSize | Rule::AddressWidth);
            verdict.violations.retain(|violation| !is_of_today(violation.rule));
        }
        LoweredStatement { verdict, lowered }
    })
}

fn lower_function<'m>(
    module: &'m Module<'_>,
    function: &Function,
    layout: &VariableLayout<'_>,
    level: OptimizationLevel,
) -> Vec<Result<LoweredLoad<'m>, LowerError>> {
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
    for id in module.statement_ids(function) {
        if let Some(name) = module.label(id) {
            if selector.flow.label(module.text(name)) {
                selector.anchors.forget();
            }
            continue;
        }
        let Some(instruction) = module.instruction(id) else { continue };
        if ends_block(&instruction) {
            selector.anchors.forget();
        }
        if instruction.opcode.is_load() {
            let span = instruction.span;
            let result = selector.load(instruction);
            let is_lowered = result.is_ok();
            let error = |kind: LowerErrorKind| LowerError { load: id, span: kind.span(span), kind };
            results.push(result.map_err(error));
            if is_lowered {
                continue;
            }
        }
        selector.store(&instruction);
        selector.flow.instruction(&instruction);
    }
    results
}
