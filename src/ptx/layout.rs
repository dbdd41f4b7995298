//! Where the variables of a module lie, and the bytes that they begin with.
//!
//! Each space is laid out on its own, in the order of the declarations, each variable at the next
//! multiple of its alignment: the module's variables first, then those of the one function that is
//! looked at. Parameters lie in a space of their own. What a linker or a driver would
//! make of a module is not public; a caller who knows better gives addresses.

use std::collections::HashMap;

use super::module::{Declaration, DeclarationId, Function, Module, Role};
use super::{Initializer, Span, StateSpace};

/// No space of variables is larger, in bytes.
pub const MAX_SPACE: u64 = 1 << 32;

/// No space's initial values have more bytes.
const MAX_INITIAL: u64 = 1 << 24;

/// Where variables lie, each in its own space: those of a module, or of a module and one of its
/// functions.
#[derive(Clone, Debug, Default)]
pub struct Layout<'m> {
    /// The module's, of a function's layout.
    outer: Option<&'m Layout<'m>>,
    places: HashMap<DeclarationId, u64>,
    sizes: [u64; SPACES.len()],
}

/// The spaces that have variables.
const SPACES: [StateSpace; 5] = [
    StateSpace::Const,
    StateSpace::Global,
    StateSpace::Local,
    StateSpace::Param,
    StateSpace::Shared,
];

/// Why variables cannot be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// The variables of a space have more than 4 GiB.
    #[error("more than 4 GiB of .{} variables", .space.name())]
    TooLarge {
        /// The space.
        space: StateSpace,
        /// The variable that does not fit.
        name: Span,
    },
    /// An initial value cannot be read.
    #[error("not an initial value of this variable")]
    Initial(Span),
}

impl LayoutError {
    /// Where.
    pub fn span(self) -> Span {
        match self {
            Self::TooLarge { name, .. } => name,
            Self::Initial(span) => span,
        }
    }
}

impl<'m> Layout<'m> {
    /// Lays out the variables of the module.
    ///
    /// ```
    /// use warpload::ptx::{Layout, StateSpace, read};
    ///
    /// let module = read(".version 8.0\n.target sm_50\n.address_size 64\n
    ///     .global .u8 a; .global .align 8 .b32 b[3]; .global .u16 c;")?;
    /// let layout = Layout::of(&module)?;
    /// let places: Vec<_> = module.declarations_with_ids().map(|d| layout.offset(d.0)).collect();
    /// assert_eq!(places, [Some(0), Some(8), Some(20)]);
    /// assert_eq!(layout.size(StateSpace::Global), 22);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LayoutError`] where the variables of a space have more than 4 GiB.
    pub fn of(module: &Module<'_>) -> Result<Self, LayoutError> {
        let mut layout = Self::default();
        for (id, declaration) in module.declarations_with_ids() {
            if declaration.role == Role::Module {
                layout.add(module, id, declaration)?;
            }
        }
        Ok(layout)
    }

    /// Lays out the variables and parameters of a function behind those of the module.
    ///
    /// # Errors
    /// [`LayoutError`] where the variables of a space have more than 4 GiB.
    pub fn with_function(
        &'m self,
        module: &Module<'_>,
        function: &Function,
    ) -> Result<Self, LayoutError> {
        let mut layout = Self { outer: Some(self), places: HashMap::new(), sizes: self.sizes };
        // What a function declares stands together.
        let first = function.parameters.start.min(function.returns.start);
        let own = module.declarations_from(first).take_while(|(_, declaration)| {
            let around = module.function_of(declaration.scope);
            around.is_some_and(|around| std::ptr::eq(around, function))
        });
        for (id, declaration) in own {
            layout.add(module, id, declaration)?;
        }
        Ok(layout)
    }

    fn add(
        &mut self,
        module: &Module<'_>,
        id: DeclarationId,
        declaration: &Declaration,
    ) -> Result<(), LayoutError> {
        let Some(space) = space_index(declaration.space) else { return Ok(()) };
        // An array without a length has that of its initial value.
        let initial = || module.initial_value(declaration)?.ok().map(|initial| initial.bytes);
        let bytes = declaration.bytes().or_else(initial).unwrap_or(0);
        let place = self.sizes[space].next_multiple_of(declaration.alignment());
        let end = place.checked_add(bytes).filter(|end| *end <= MAX_SPACE);
        let too_large = LayoutError::TooLarge { space: SPACES[space], name: declaration.name };
        self.sizes[space] = end.ok_or(too_large)?;
        self.places.insert(id, place);
        Ok(())
    }

    /// The offset of a variable in its space, in bytes; nothing where it was not laid out.
    pub fn offset(&self, id: DeclarationId) -> Option<u64> {
        let outer = || self.outer.and_then(|outer| outer.offset(id));
        self.places.get(&id).copied().or_else(outer)
    }

    /// How many bytes the variables of a space take, gaps included.
    pub fn size(&self, space: StateSpace) -> u64 {
        space_index(space).map_or(0, |index| self.sizes[index])
    }

    /// The bytes that the variables of a space begin with; zero where no value is given.
    ///
    /// # Errors
    /// [`LayoutError`] where a value cannot be read or more than 16 MiB are to be written.
    pub fn initial_bytes(
        &self,
        module: &Module<'_>,
        space: StateSpace,
    ) -> Result<Vec<u8>, LayoutError> {
        self.initial_bytes_at(module, space, &|id, _| self.offset(id))
    }

    /// [`Layout::initial_bytes`] where variables lie elsewhere: `address` says for a variable
    /// what its name stands for in an initial value, the address in its space or, where the
    /// second argument is true, its generic one.
    ///
    /// # Errors
    /// [`LayoutError`] where a value cannot be read, names a variable without an address, or more
    /// than 16 MiB are to be written.
    pub fn initial_bytes_at(
        &self,
        module: &Module<'_>,
        space: StateSpace,
        address: Addresses<'_>,
    ) -> Result<Vec<u8>, LayoutError> {
        let mut bytes = Vec::new();
        for (id, declaration) in module.declarations_with_ids() {
            if let Some(offset) = self.offset(id).filter(|_| declaration.space == space) {
                write_initial(module, declaration, offset, address, &mut bytes)?;
            }
        }
        let whole = self.size(space).min(MAX_INITIAL);
        bytes.resize(bytes.len().max(whole as usize), 0);
        Ok(bytes)
    }
}

/// The address of a variable: in its space, or its generic one.
type Addresses<'a> = &'a dyn Fn(DeclarationId, bool) -> Option<u64>;

/// Writes the values that one variable begins with, `offset` bytes from the start of its space.
fn write_initial(
    module: &Module<'_>,
    declaration: &Declaration,
    offset: u64,
    address: Addresses<'_>,
    bytes: &mut Vec<u8>,
) -> Result<(), LayoutError> {
    let initial = match module.initial_value(declaration) {
        None => return Ok(()),
        Some(Err(error)) => return Err(LayoutError::Initial(error.span)),
        Some(Ok(initial)) => initial,
    };
    for placed in initial.values {
        let wrong = LayoutError::Initial(placed.span);
        let width = u64::from(declaration.scalar.bytes().ok_or(wrong)?);
        let at = offset.checked_add(placed.offset).filter(|at| at + width <= MAX_INITIAL);
        let at = at.ok_or(wrong)? as usize;
        let element = element(module, declaration, placed.value, address).ok_or(wrong)?;
        let range = at..at + width as usize;
        bytes.resize(bytes.len().max(range.end), 0);
        bytes[range].copy_from_slice(&u128::from(element).to_le_bytes()[..width as usize]);
    }
    Ok(())
}

/// One value as the lowest bytes of a number.
fn element(
    module: &Module<'_>,
    declaration: &Declaration,
    value: Initializer,
    address: Addresses<'_>,
) -> Option<u64> {
    match value {
        Initializer::Number(number) => number.bits(declaration.scalar),
        Initializer::Address { name, offset, is_generic, mask } => {
            let symbol = module.find(declaration.scope, module.text(name))?;
            let address = address(symbol.id, is_generic)?.wrapping_add(offset);
            // One byte of the address, at the mask's place.
            Some(mask.map_or(address, |mask| (address & mask) >> (mask.trailing_zeros() & 63)))
        }
    }
}

fn space_index(space: StateSpace) -> Option<usize> {
    SPACES.iter().position(|known| *known == space)
}

impl Module<'_> {
    /// Every declaration with the id that names it.
    pub fn declarations_with_ids(&self) -> impl Iterator<Item = (DeclarationId, &Declaration)> {
        self.declarations_from(0)
    }

    fn declarations_from(
        &self,
        first: usize,
    ) -> impl Iterator<Item = (DeclarationId, &Declaration)> {
        let rest = self.declarations.get(first..).unwrap_or_default();
        (first as u32..).map(DeclarationId).zip(rest)
    }
}
