//! Lowers PTX loads to SPA 5.0 instructions, the machine code of SM 5.x.
//!
//! Each load is lowered by itself: its kind, size, cache operator and displacement follow from its own text. What ptxas
//! makes of the code around it is not predicted: it follows values from instruction to instruction, and adds, merges
//! and removes loads. Whoever needs that runs ptxas (docs/ptx-lower.md). Registers are numbered for each load, from R2
//! and P0 on; a [`Binding`] has the value of each.

mod lowered;
mod select;

pub use self::lowered::{Binding, LowerError, LowerErrorKind, LoweredLoad};
use self::select::Selector;
use crate::module::{Module, VariableLayout};
use crate::rules::{Rule, StatementVerdict, Unit, check_as};

/// Lowers every load of a module, in the order of the text.
///
/// ```
/// use warpload_ptx::{lower, read};
///
/// let module = read(".version 8.0\n.target sm_50\n.address_size 64\n
///     .entry k(.param .u64 a) {
///         .reg .b64 %rd<2>; .reg .f32 %f<5>;
///         ld.param.u64 %rd1, [a];
///         ld.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
///         ret;
///     }")?;
/// let lowered: Vec<_> = lower(&module).collect::<Result<_, _>>()?;
/// // The parameter is an operand of the instructions that use it.
/// assert!(lowered[0].instructions.is_empty());
/// assert_eq!(lowered[1].instructions[0].to_string(), "LD.E.128 R4, [R2], P0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The item of a load without an SPA 5.0 form is a [`LowerError`].
pub fn lower<'m>(
    module: &'m Module<'_>,
) -> impl Iterator<Item = Result<LoweredLoad<'m>, LowerError>> + use<'m> {
    let layout = VariableLayout::new(module);
    module.functions().iter().flat_map(move |function| {
        let own = match &layout {
            Ok(layout) => layout.with_function(module, function),
            Err(error) => Err(*error),
        };
        let loads = module.instructions(function).filter(|one| one.opcode.is_load());
        loads
            .map(|load| {
                let (id, span) = (load.id, load.span);
                let lowered = match &own {
                    Ok(layout) => Selector::lower(module, function, layout, load),
                    Err(error) => Err(LowerErrorKind::Layout(*error)),
                };
                lowered.map_err(|kind| LowerError { load: id, span: kind.span(span), kind })
            })
            .collect::<Vec<_>>()
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
) -> impl Iterator<Item = LoweredStatement<'m>> + 'm {
    let mut all_lowered = lower(module);
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
