//! Verdicts: [`StatementVerdict`], [`Violation`] and [`Rule`]; and [`Unit`], the kind of module that is judged.

use std::fmt;

use crate::module::StatementId;
use crate::syntax::Span;
use crate::syntax::load::PtxLoad;
use warpload_machine::named;

/// The verdict on one statement. Every load has one; other statements and declarations only if they are illegal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatementVerdict<'m> {
    /// The statement's text. It ends where the semicolon is missing, if the next word is on a later line.
    pub span: Span,
    /// The load; `None` for an illegal declaration or another illegal statement.
    pub load: Option<PtxLoad<'m>>,
    /// The statement's id; `None` for a verdict on a declaration, a directive, a label or the function that a call
    /// names.
    pub statement: Option<StatementId>,
    /// The violations in the order of the text; none for a legal load.
    pub violations: Vec<Violation>,
}

impl StatementVerdict<'_> {
    /// The verdict on a statement that is not a load.
    pub(super) fn of_statement(id: StatementId, span: Span, violations: Vec<Violation>) -> Self {
        Self { span, load: None, statement: Some(id), violations }
    }

    /// Whether the verdict is about a declaration, a directive, a label or the function that a call names.
    #[must_use]
    pub fn is_declaration(&self) -> bool {
        self.statement.is_none()
    }

    /// Whether the statement is legal.
    #[must_use]
    pub fn is_legal(&self) -> bool {
        self.violations.is_empty()
    }
}

/// The kind of module that is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// A whole program, which defines every variable. The default of assemblers.
    #[default]
    Program,
    /// A part to be linked with others later, as with `--compile-only`.
    Part,
}

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The words at fault.
    pub span: Span,
    /// The violation in one line.
    pub message: String,
    /// The change that would make the statement legal, if a single one would.
    pub help: Option<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

named! {
    /// A rule for loads and the code around them. The names are stable across versions of this crate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Rule: "the name of a rule such as `vector-size`" {
        /// The statement is malformed.
        Syntax = "syntax",
        /// The opcode is not an instruction of PTX.
        UnknownInstruction = "unknown-instruction",
        /// A qualifier that the opcode does not have.
        UnknownQualifier = "unknown-qualifier",
        /// Two qualifiers of one kind.
        DuplicateQualifier = "duplicate-qualifier",
        /// No type, or more than one.
        OneType = "one-type",
        /// A type that the opcode does not have.
        LoadType = "load-type",
        /// A feature needs a later `.version`.
        NeedsVersion = "needs-version",
        /// A feature needs a higher or another `.target`.
        NeedsTarget = "needs-target",
        /// A target newer than the module's `.version`.
        TargetVersion = "target-version",
        /// `.address_size 32`, which current assemblers do not compile.
        AddressSize = "address-size",
        /// The wrong number or form of operands.
        Operands = "operands",
        /// A guard that is not a predicate register.
        Guard = "guard",
        /// Two memory orders: `.weak`, `.volatile`, `.relaxed`, `.acquire`.
        OrderConflict = "order-conflict",
        /// `.relaxed` or `.acquire` without a scope.
        OrderWithoutScope = "order-without-scope",
        /// A scope without `.relaxed` or `.acquire`.
        ScopeWithoutOrder = "scope-without-order",
        /// An order that the state space does not support.
        OrderSpace = "order-space",
        /// `.mmio` without `.relaxed` or `.acquire`.
        MmioOrder = "mmio-order",
        /// `.mmio` with a scope other than `.sys`.
        MmioScope = "mmio-scope",
        /// `.mmio` outside of global memory.
        MmioSpace = "mmio-space",
        /// `.mmio` with an incompatible qualifier.
        MmioCombination = "mmio-combination",
        /// A cache operator on an ordered load.
        CacheOpOrder = "cache-op-order",
        /// A cache operator and an L1 eviction priority.
        CacheOpEviction = "cache-op-eviction",
        /// An eviction priority outside of global memory.
        EvictionSpace = "eviction-space",
        /// An L1 eviction priority on a volatile load.
        EvictionOrder = "eviction-order",
        /// An L2 eviction priority on a load that is not 256 bits wide.
        L2EvictionWidth = "l2-eviction-width",
        /// `.L2::cache_hint` outside of global memory.
        CacheHintSpace = "cache-hint-space",
        /// `.L2::cache_hint` on a volatile load.
        CacheHintOrder = "cache-hint-order",
        /// `.L2::cache_hint` without a policy.
        HintWithoutPolicy = "hint-without-policy",
        /// A policy without `.L2::cache_hint`.
        PolicyWithoutHint = "policy-without-hint",
        /// A policy that is neither a 64-bit register nor a constant.
        PolicyOperand = "policy-operand",
        /// A prefetch size outside of global memory.
        PrefetchSpace = "prefetch-space",
        /// `.unified` outside of global memory, or on a reduction.
        UnifiedSpace = "unified-space",
        /// `.unified` on a variable without the attribute.
        UnifiedVariable = "unified-variable",
        /// No `.unified` after the address of a variable with the attribute.
        UnifiedMissing = "unified-missing",
        /// `.nc` without `.global`.
        NcSpace = "nc-space",
        /// `.nc` on a load with an order.
        NcOrder = "nc-order",
        /// `.nc` with `.lu` or `.cv`.
        NcCacheOp = "nc-cache-op",
        /// A vector of more than 128 bits, or of eight elements, that is not one of the 256-bit forms.
        VectorWidth = "vector-width",
        /// A 256-bit load outside of global memory.
        WideSpace = "wide-space",
        /// A number of destination registers other than the number of elements.
        VectorSize = "vector-size",
        /// A vector that consists of sinks.
        SinkOnly = "sink-only",
        /// A sink in place of a scalar.
        SinkScalar = "sink-scalar",
        /// A destination that is not a register.
        DestinationRegister = "destination-register",
        /// A destination narrower than the type.
        DestinationWidth = "destination-width",
        /// A destination of an incompatible type.
        DestinationType = "destination-type",
        /// Elements of a vector with incompatible types.
        VectorMix = "vector-mix",
        /// A constant address outside of local memory.
        ImmediateAddress = "immediate-address",
        /// An offset that is not an integer.
        OffsetInteger = "offset-integer",
        /// A base that is neither an address register nor a variable.
        AddressBase = "address-base",
        /// A 32-bit register for an address of 64 bits.
        AddressWidth = "address-width",
        /// A variable in a state space other than the load's.
        AddressSpace = "address-space",
        /// An index on a name that is not an array, or an invalid index.
        AddressIndex = "address-index",
        /// A variable that only a linked module can use.
        CompileOnly = "compile-only",
        /// A guard on a load of a `.param` variable of a body.
        ParamGuard = "param-guard",
        /// A load of a parameter that the function returns in.
        ParamReturn = "param-return",
        /// A load of a kernel's `.param` variable without a call before it that returns in the variable.
        ParamCall = "param-call",
        /// `::entry` or `::func` on the other kind of parameter.
        ParamWindow = "param-window",
        /// A declaration that is too new for the version, or that contradicts itself.
        Declaration = "declaration",
        /// A name that its scope declares twice.
        DuplicateName = "duplicate-name",
        /// Declarations of one name that disagree.
        Redefinition = "redefinition",
        /// A function that is called or declared, but not defined.
        UnresolvedFunction = "unresolved-function",
        /// An initial value of the wrong type, in the wrong space, or too many of them.
        InitialValue = "initial-value",
        /// A declaration in an invalid state space.
        DeclarationSpace = "declaration-space",
        /// An alignment that is not a power of two.
        Alignment = "alignment",
        /// An unknown, misplaced or repeated directive, or word of a directive.
        Directive = "directive",
        /// A character that is not ASCII.
        NonAscii = "non-ascii",
        /// A missing qualifier of `tcgen05.ld`.
        MissingQualifier = "missing-qualifier",
        /// A shape that reductions do not support.
        TensorShape = "tensor-shape",
        /// More repeats than the shape allows, or too few for a reduction.
        TensorRepeat = "tensor-repeat",
        /// `.pack::16b`, `.abs` or `.NaN` on a load that does not support it.
        TensorModifier = "tensor-modifier",
        /// A missing, superfluous or non-constant offset of the second half.
        TensorOffset = "tensor-offset",
        /// A register that `tcgen05.ld` writes twice.
        TensorRegister = "tensor-register",
    }
}
