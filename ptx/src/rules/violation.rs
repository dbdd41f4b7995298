//! What is judged as what, [`Unit`], and the verdicts: [`StatementVerdict`], [`Violation`] and [`Rule`].

use std::fmt;

use crate::module::StatementId;
use crate::syntax::Span;
use crate::syntax::load::PtxLoad;
use crate::syntax::named::named;

/// The verdict on one statement: on every load, and on what is wrong elsewhere.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatementVerdict<'m> {
    /// The statement; up to where its semicolon is missing, if the next one is on a later line.
    pub span: Span,
    /// The load; `None` for another statement or a declaration, which is wrong.
    pub load: Option<PtxLoad<'m>>,
    /// The statement's place in [`Module::statements`](crate::Module::statements); `None` for a
    /// verdict on a declaration, a directive, a label or the function that a call names.
    pub statement: Option<StatementId>,
    /// The rules that are broken, in the order of the text; none for a legal load.
    pub violations: Vec<Violation>,
}

impl StatementVerdict<'_> {
    /// The verdict on a statement that is not a load.
    pub(super) fn of_statement(id: StatementId, span: Span, violations: Vec<Violation>) -> Self {
        Self { span, load: None, statement: Some(id), violations }
    }

    /// Whether it is about a declaration, a directive, a label or the function that a call names.
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

/// What a module is assembled to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// A program: every variable is defined in it. What an assembler takes it for by default.
    #[default]
    Program,
    /// A part that is linked with others later, as with `--compile-only`.
    Part,
}

/// A rule that a load breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The words at fault.
    pub span: Span,
    /// What is wrong, in one line.
    pub message: String,
    /// What would make it legal, if one change would.
    pub help: Option<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

named! {
    /// A rule that loads are held to. Names do not change between versions of this crate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Rule: "the name of a rule such as `vector-size`" {
        /// The statement is malformed.
        Syntax = "syntax",
        /// The opcode is not an instruction of PTX.
        UnknownInstruction = "unknown-instruction",
        /// A qualifier that the load does not have.
        UnknownQualifier = "unknown-qualifier",
        /// Two qualifiers of one kind.
        DuplicateQualifier = "duplicate-qualifier",
        /// Not exactly one type.
        OneType = "one-type",
        /// A type that the load does not have.
        LoadType = "load-type",
        /// A feature needs a later `.version`.
        NeedsVersion = "needs-version",
        /// A feature needs a higher, or another, `.target`.
        NeedsTarget = "needs-target",
        /// A target that the module's `.version` does not know.
        TargetVersion = "target-version",
        /// `.address_size 32`, which is not compiled for any more.
        AddressSize = "address-size",
        /// Not the operands that the load takes.
        Operands = "operands",
        /// A guard that is not a predicate register.
        Guard = "guard",
        /// Two of `.weak`, `.volatile`, `.relaxed` and `.acquire`.
        OrderConflict = "order-conflict",
        /// `.relaxed` or `.acquire` without a scope.
        OrderWithoutScope = "order-without-scope",
        /// A scope without `.relaxed` or `.acquire`.
        ScopeWithoutOrder = "scope-without-order",
        /// An order that the state space does not have.
        OrderSpace = "order-space",
        /// `.mmio` without `.relaxed` or `.acquire`.
        MmioOrder = "mmio-order",
        /// `.mmio` with another scope than `.sys`.
        MmioScope = "mmio-scope",
        /// `.mmio` outside of global memory.
        MmioSpace = "mmio-space",
        /// `.mmio` with a qualifier that it does not go with.
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
        /// `.unified` on a variable without that attribute.
        UnifiedVariable = "unified-variable",
        /// A variable with the attribute `.unified`, and no `.unified` after its address.
        UnifiedMissing = "unified-missing",
        /// `.nc` without `.global`.
        NcSpace = "nc-space",
        /// `.nc` on a load with an order.
        NcOrder = "nc-order",
        /// `.nc` with `.lu` or `.cv`.
        NcCacheOp = "nc-cache-op",
        /// A vector of more than 128 bits that has no 256-bit form, or one of eight that is not one.
        VectorWidth = "vector-width",
        /// A 256-bit load outside of global memory.
        WideSpace = "wide-space",
        /// Not as many destination registers as elements.
        VectorSize = "vector-size",
        /// A vector of sinks alone.
        SinkOnly = "sink-only",
        /// A sink in place of a scalar.
        SinkScalar = "sink-scalar",
        /// A destination that is not a register.
        DestinationRegister = "destination-register",
        /// A destination narrower than the type.
        DestinationWidth = "destination-width",
        /// A destination of a type that the value does not go into.
        DestinationType = "destination-type",
        /// Elements of a vector that do not go together.
        VectorMix = "vector-mix",
        /// A constant address outside of local memory.
        ImmediateAddress = "immediate-address",
        /// An offset that is not an integer.
        OffsetInteger = "offset-integer",
        /// A base that is neither a register for addresses nor a variable.
        AddressBase = "address-base",
        /// A 32-bit address of a space whose addresses have 64 bits.
        AddressWidth = "address-width",
        /// A variable of another state space than the load's.
        AddressSpace = "address-space",
        /// Brackets after what is not an array, or an invalid index.
        AddressIndex = "address-index",
        /// A variable that a whole program cannot have.
        CompileOnly = "compile-only",
        /// A guard on a load of a body's own parameter.
        ParamGuard = "param-guard",
        /// A load of the parameter that the function returns in.
        ParamReturn = "param-return",
        /// A load of a kernel's own `.param` variable before a call that returns in it.
        ParamCall = "param-call",
        /// The sub-qualifier of the other kind of parameter, `::entry` or `::func`.
        ParamWindow = "param-window",
        /// A declaration that the version does not know, or that contradicts itself.
        Declaration = "declaration",
        /// A name that its scope has twice.
        DuplicateName = "duplicate-name",
        /// Declarations of one name that differ.
        Redefinition = "redefinition",
        /// A function that is called or declared and not defined.
        UnresolvedFunction = "unresolved-function",
        /// An initial value of another type, too many of them, or one in the wrong space.
        InitialValue = "initial-value",
        /// A declaration in a space that it cannot be in.
        DeclarationSpace = "declaration-space",
        /// An alignment that is not a power of two.
        Alignment = "alignment",
        /// A directive, or a word of one, that is unknown, misplaced or there twice.
        Directive = "directive",
        /// A character that is not ASCII.
        NonAscii = "non-ascii",
        /// A qualifier that `tcgen05.ld` cannot do without.
        MissingQualifier = "missing-qualifier",
        /// A shape that a reduction does not have.
        TensorShape = "tensor-shape",
        /// More repeats than the shape has, or too few for a reduction.
        TensorRepeat = "tensor-repeat",
        /// `.pack::16b`, `.abs` or `.NaN` on a load that does not take it.
        TensorModifier = "tensor-modifier",
        /// The offset of the second half: missing, surplus, or not a constant.
        TensorOffset = "tensor-offset",
        /// A register that `tcgen05.ld` would write twice.
        TensorRegister = "tensor-register",
    }
}
