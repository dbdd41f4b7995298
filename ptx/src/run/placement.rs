//! [`Placement`]: the addresses of a module's variables, and its parameters.

use std::collections::HashMap;
use std::ops::Range;

use crate::module::{
    Declaration, DeclarationId, Function, LayoutError, Linkage, Module, VariableLayout,
};
use crate::syntax::{Span, StateSpace};
use warpload::memory::ConfigError;

/// The most memory allocated for the variables of one space, in bytes over all lanes. A module's text can declare far
/// more.
pub(super) const MAX_MADE: u64 = 64 << 20;

/// The address of the first `.global` variable without an address from the caller.
pub const GLOBAL_BASE: u64 = 0x8000_0000;

/// The addresses of the variables of a module and of one of its functions, each in the variable's own space, and the
/// values of the function's parameters.
///
/// ```
/// use warpload::machine::Machine;
/// use warpload_ptx::run::{Placement, RegisterFile};
/// use warpload_ptx::read;
///
/// let module = read(".version 8.0\n.target sm_50\n.address_size 64
///     .global .u32 table[4] = {10, 11, 12, 13};
///     .entry k(.param .u64 p) {
///         .reg .b32 %r<2>; .reg .b64 %rd<2>;
///         ld.param.u64 %rd1, [p];
///         ld.global.u32 %r1, [%rd1+4];
///     }")?;
/// let function = module.function("k").ok_or("no function")?;
/// let mut placement = Placement::for_function(&module, function)?;
/// let [table, p] = ["table", "p"].map(|name| module.variables_named(Some(function), name)[0]);
/// placement.place(table, 0x1000_0000);
/// placement.set_parameter(p, &0x1000_0000_u64.to_le_bytes());
/// let environment = placement.into_environment(Machine::default())?;
///
/// let mut registers = RegisterFile::new();
/// for step in environment.run(function, &mut registers) {
///     step.result?;
/// }
/// let r1 = module.registers_named(function, "%r1")[0];
/// assert_eq!(registers.get(r1).map(|held| held.values[31]), Some(11));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Placement<'m> {
    pub(super) module: &'m Module<'m>,
    /// The address and the size in bytes of each variable.
    addresses: HashMap<DeclarationId, (u64, u64)>,
    /// Addresses from the caller, which replace the layout's.
    pub(super) placed: HashMap<DeclarationId, u64>,
    pub(super) parameters: HashMap<DeclarationId, Vec<u8>>,
}

/// The reason why the variables of a module do not fit in a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// The variables have no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Two variables of one space overlap.
    #[error("two variables overlap: both have byte {address:#x} of their space")]
    Overlap {
        /// The first common byte.
        address: u64,
        /// The name of the variable that is placed higher.
        name: Span,
    },
    /// The variables of a space exceed the memory that is allocated for them.
    #[error(
        "more than {} MiB of memory for .{space} variables; use an image for memory of that size",
        MAX_MADE >> 20
    )]
    TooMuch {
        /// The space.
        space: StateSpace,
        /// The name of the first variable that does not fit.
        name: Span,
    },
    /// A variable at the caller's address would reach beyond the last address.
    #[error("at {address:#x} the variable reaches beyond the last address")]
    Beyond {
        /// Its address.
        address: u64,
        /// Its name.
        name: Span,
    },
    /// The caller's address of a variable violates its alignment.
    #[error("{address:#x} is not a multiple of the variable's alignment, {alignment}")]
    Misaligned {
        /// Its address.
        address: u64,
        /// Its alignment in bytes.
        alignment: u64,
        /// Its name.
        name: Span,
    },
    /// The memory is invalid: a window is too small, an allocation lies inside one, or a bank is too large. The message
    /// is the cause's.
    #[error("{cause}")]
    Memory {
        /// The cause.
        cause: ConfigError,
        /// The name of the variable that makes the memory invalid, if it is known.
        name: Option<Span>,
    },
}

impl PlacementError {
    /// Returns the variable's place in the module; `None` for an error of the memory as a whole.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Layout(error) => Some(error.span()),
            Self::Overlap { name, .. }
            | Self::TooMuch { name, .. }
            | Self::Beyond { name, .. }
            | Self::Misaligned { name, .. } => Some(*name),
            Self::Memory { name, .. } => *name,
        }
    }
}

impl<'m> Placement<'m> {
    /// Places the variables of the module as [`VariableLayout`] does: `.global` variables from [`GLOBAL_BASE`] on, and
    /// all others from address 0 of their space on.
    ///
    /// # Errors
    /// Returns [`LayoutError`] if the variables of a space have more than 4 GiB, or the length of
    /// an array is unknown.
    pub fn new(module: &'m Module<'m>) -> Result<Self, LayoutError> {
        Ok(Self::laid_out(module, &VariableLayout::new(module)?))
    }

    /// Places the variables of the module as [`Self::new`] does, followed by the variables and parameters of one of its
    /// functions.
    ///
    /// # Errors
    /// Returns [`LayoutError`] as [`Self::new`] does.
    pub fn for_function(module: &'m Module<'m>, function: &Function) -> Result<Self, LayoutError> {
        let outer = VariableLayout::new(module)?;
        Ok(Self::laid_out(module, &outer.with_function(module, function)?))
    }

    fn laid_out(module: &'m Module<'m>, layout: &VariableLayout<'_>) -> Self {
        let placed = module.declarations_with_ids().filter_map(|(id, declaration)| {
            let base = if declaration.space == StateSpace::Global { GLOBAL_BASE } else { 0 };
            Some((id, (base + layout.offset(id)?, layout.bytes(id)?)))
        });
        let addresses = placed.collect();
        let (placed, parameters) = (HashMap::new(), HashMap::new());
        Self { module, addresses, placed, parameters }
    }

    /// Returns a variable's address in its space; `None` for a register, or a variable of another function. The first
    /// parameter has the address 0; see [`PARAMETER_BASE`](crate::meaning::PARAMETER_BASE).
    #[must_use]
    pub fn address(&self, id: DeclarationId) -> Option<u64> {
        let laid_out = || self.addresses.get(&id).map(|(address, _)| *address);
        self.placed.get(&id).copied().or_else(laid_out)
    }

    fn bytes(&self, id: DeclarationId) -> u64 {
        self.addresses.get(&id).map_or(0, |(_, bytes)| *bytes)
    }

    /// Places a variable at an address of its space, in bytes. Other variables do not move.
    pub fn place(&mut self, id: DeclarationId, address: u64) {
        self.placed.insert(id, address);
    }

    /// Sets the bytes of a parameter, lowest address first. Excess bytes are dropped, and missing ones are zero.
    pub fn set_parameter(&mut self, id: DeclarationId, bytes: &[u8]) {
        let size = usize::try_from(self.bytes(id)).unwrap_or(usize::MAX);
        let bytes = bytes.get(..size).unwrap_or(bytes);
        self.parameters.insert(id, bytes.to_vec());
    }

    /// Checks the caller's addresses: ends, overlaps and alignment.
    pub(super) fn check(&self) -> Result<(), PlacementError> {
        for (id, declaration, address) in self.placed() {
            if address.checked_add(self.bytes(id)).is_none() {
                return Err(PlacementError::Beyond { address, name: declaration.name });
            }
        }
        self.check_overlaps()?;
        for (_, declaration, address) in self.placed() {
            let (alignment, name) = (declaration.alignment(), declaration.name);
            if !address.is_multiple_of(alignment) {
                return Err(PlacementError::Misaligned { address, alignment, name });
            }
        }
        Ok(())
    }

    /// The variables of a space with an address and a size, and their ranges of bytes.
    pub(super) fn variables(
        &self,
        space: StateSpace,
    ) -> impl Iterator<Item = (DeclarationId, &'m Declaration, Range<u64>)> {
        self.module.declarations_with_ids().filter_map(move |(id, declaration)| {
            let address = self.address(id).filter(|_| declaration.space == space)?;
            let bytes = Some(self.bytes(id)).filter(|bytes| *bytes > 0)?;
            // `check` refuses variables that would saturate here.
            Some((id, declaration, address..address.saturating_add(bytes)))
        })
    }

    /// The variables with an address from the caller, in the order of the text.
    fn placed(&self) -> impl Iterator<Item = (DeclarationId, &'m Declaration, u64)> {
        let all = self.module.declarations_with_ids();
        all.filter_map(|(id, declaration)| Some((id, declaration, *self.placed.get(&id)?)))
    }

    fn check_overlaps(&self) -> Result<(), PlacementError> {
        use StateSpace::{Const, Global, Local, Param, Shared};
        for space in [Const, Global, Local, Param, Shared] {
            let mut ranges: Vec<_> = self.variables(space).collect();
            ranges.sort_by_key(|(_, _, range)| range.start);
            for pair in ranges.windows(2) {
                let (lower, (_, higher, range)) = (&pair[0].2, &pair[1]);
                let (address, name) = (range.start, higher.name);
                if address < lower.end {
                    return Err(PlacementError::Overlap { address, name });
                }
            }
        }
        Ok(())
    }
}

/// Whether the variable is defined in another module. `.extern .shared` is not: it is the dynamic shared memory of this
/// one.
pub(super) fn is_elsewhere(declaration: &Declaration) -> bool {
    declaration.linkage == Linkage::Extern && declaration.space != StateSpace::Shared
}
