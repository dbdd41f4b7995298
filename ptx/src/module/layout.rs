//! The layout of a module's variables, and their initial bytes.
//!
//! Each space is laid out on its own, in the order of the declarations, each variable at the next multiple of its
//! alignment: first the module's variables, then the variables of one function. Dynamic shared memory, `.extern .shared
//! .b8 d[]`, begins after all other shared variables, whatever the order; all its names have the same address.
//! Parameters are a space of their own. The layouts of linkers and drivers are not public, so a caller who knows better
//! can set addresses.

use std::collections::HashMap;
use std::ops::Range;

use crate::module::{
    Array, Declaration, DeclarationId, Function, Initializer, Linkage, Module, Role,
};
use crate::syntax::{Span, StateSpace};

/// The limit on the size of a space of variables, in bytes.
pub const MAX_SPACE: u64 = 1 << 32;

/// The limit on an initializer, in bytes.
const MAX_INITIAL: u64 = 1 << 26;

/// The offsets of variables in their spaces, for a module alone or together with one of its functions.
#[derive(Clone, Debug, Default)]
pub struct VariableLayout<'m> {
    /// The layout of the module, if this is a function's.
    outer: Option<&'m VariableLayout<'m>>,
    places: HashMap<DeclarationId, Placed>,
    sizes: [u64; SPACES.len()],
    /// All names of dynamic shared memory, the module's included, each with its alignment.
    dynamic: Vec<(DeclarationId, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Placed {
    offset: u64,
    bytes: u64,
}

/// The spaces that can hold variables.
const SPACES: [StateSpace; 5] = [
    StateSpace::Const,
    StateSpace::Global,
    StateSpace::Local,
    StateSpace::Param,
    StateSpace::Shared,
];

/// The reason why variables have no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The variables of a space exceed [`MAX_SPACE`].
    #[error("more than 4 GiB of .{space} variables")]
    TooLarge {
        /// The space.
        space: StateSpace,
        /// The variable that does not fit.
        name: Span,
    },
    /// The length of an array is unknown, and so the offset of every variable after it.
    #[error("this array has no length, and its initializer cannot be read")]
    Length(Span),
}

impl LayoutError {
    /// Returns the name of the variable at fault.
    #[must_use]
    pub fn span(self) -> Span {
        match self {
            Self::TooLarge { name, .. } | Self::Length(name) => name,
        }
    }
}

impl<'m> VariableLayout<'m> {
    /// Lays out the variables of the module.
    ///
    /// ```
    /// use warpload_ptx::module::VariableLayout;
    /// use warpload_ptx::syntax::StateSpace;
    /// use warpload_ptx::read;
    ///
    /// let module = read(".version 8.0\n.target sm_50\n.address_size 64\n
    ///     .global .u8 a; .global .align 8 .b32 b[3]; .global .u16 c;")?;
    /// let layout = VariableLayout::new(&module)?;
    /// let places: Vec<_> = module.declarations_with_ids().map(|d| layout.offset(d.0)).collect();
    /// assert_eq!(places, [Some(0), Some(8), Some(20)]);
    /// assert_eq!(layout.size(StateSpace::Global), 22);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LayoutError`] if a space exceeds [`MAX_SPACE`], or if the length of an array is unknown.
    pub fn new(module: &Module<'_>) -> Result<Self, LayoutError> {
        let mut layout = Self::default();
        for (id, declaration) in module.declarations_with_ids() {
            if declaration.role == Role::Module {
                layout.add(module, id, declaration)?;
            }
        }
        layout.place_dynamic();
        Ok(layout)
    }

    /// Lays out the variables and parameters of a function after those of the module.
    ///
    /// # Errors
    /// Returns [`LayoutError`] if a space exceeds [`MAX_SPACE`], or if the length of an array is unknown.
    pub fn with_function(
        &'m self,
        module: &Module<'_>,
        function: &Function,
    ) -> Result<Self, LayoutError> {
        let mut layout = Self {
            outer: Some(self),
            places: HashMap::new(),
            sizes: self.sizes,
            dynamic: self.dynamic.clone(),
        };
        // The declarations of a function are adjacent.
        let first = function.parameters.start.min(function.returns.start);
        let own = module.declarations_from(first).take_while(|(_, declaration)| {
            let around = module.function_of(declaration.scope);
            around.is_some_and(|around| std::ptr::eq(around, function))
        });
        for (id, declaration) in own {
            layout.add(module, id, declaration)?;
        }
        layout.place_dynamic();
        Ok(layout)
    }

    fn add(
        &mut self,
        module: &Module<'_>,
        id: DeclarationId,
        declaration: &Declaration,
    ) -> Result<(), LayoutError> {
        let Some(space) = space_index(declaration.space) else { return Ok(()) };
        if is_dynamic(declaration) {
            self.dynamic.push((id, declaration.alignment()));
            return Ok(());
        }
        let too_large = LayoutError::TooLarge { space: SPACES[space], name: declaration.name };
        let bytes = size(module, declaration)?.ok_or(too_large)?;
        let offset = self.sizes[space].next_multiple_of(declaration.alignment());
        let end = offset.checked_add(bytes).filter(|end| *end <= MAX_SPACE);
        self.sizes[space] = end.ok_or(too_large)?;
        self.places.insert(id, Placed { offset, bytes });
        Ok(())
    }

    /// Places dynamic shared memory after all shared variables known so far. The module's names are placed again for
    /// each function, because its shared variables come first.
    fn place_dynamic(&mut self) {
        let alignment = self.dynamic.iter().map(|(_, alignment)| *alignment).max();
        let Some(alignment) = alignment else { return };
        let offset = self.size(StateSpace::Shared).next_multiple_of(alignment);
        self.places.extend(self.dynamic.iter().map(|(id, _)| (*id, Placed { offset, bytes: 0 })));
    }

    /// Returns the offset of a variable in its space, in bytes; `None` if it was not laid out.
    #[must_use]
    pub fn offset(&self, id: DeclarationId) -> Option<u64> {
        self.placed(id).map(|placed| placed.offset)
    }

    /// Returns the size of a variable in bytes; an array without a length is as long as its initializer. `None` if the
    /// variable was not laid out.
    #[must_use]
    pub fn bytes(&self, id: DeclarationId) -> Option<u64> {
        self.placed(id).map(|placed| placed.bytes)
    }

    fn placed(&self, id: DeclarationId) -> Option<Placed> {
        let outer = || self.outer.and_then(|outer| outer.placed(id));
        self.places.get(&id).copied().or_else(outer)
    }

    /// Returns the size of a space's variables in bytes, padding included.
    #[must_use]
    pub fn size(&self, space: StateSpace) -> u64 {
        space_index(space).map_or(0, |index| self.sizes[index])
    }
}

/// Whether the size is set at launch.
fn is_dynamic(declaration: &Declaration) -> bool {
    let Declaration { space, linkage, array, .. } = declaration;
    (*space, *linkage, *array) == (StateSpace::Shared, Linkage::Extern, Array::Unknown)
}

/// The size of a variable in bytes; 0 if it is unknown.
pub(crate) fn variable_bytes(module: &Module<'_>, declaration: &Declaration) -> u64 {
    size(module, declaration).ok().flatten().unwrap_or(0)
}

/// The size of a variable in bytes, 0 if its type has no size here; `None` for 2^64 or more.
fn size(module: &Module<'_>, declaration: &Declaration) -> Result<Option<u64>, LayoutError> {
    Ok(match declaration.array {
        // As long as its initializer.
        Array::Unknown => {
            let initial = module.initial_value(declaration).transpose();
            let initial = initial.map_err(|_| LayoutError::Length(declaration.name))?;
            Some(initial.map_or(0, |initial| initial.bytes))
        }
        Array::TooMany => None,
        Array::Single | Array::Of(_) if declaration.element_bytes().is_none() => Some(0),
        Array::Single | Array::Of(_) => declaration.bytes(),
    })
}

/// Returns the address of a variable: generic if the second argument is true, and otherwise in its space.
type Addresses<'a> = &'a dyn Fn(DeclarationId, bool) -> Option<u64>;

/// The initial bytes of a variable.
#[derive(Debug, Default)]
pub(crate) struct InitialBytes {
    /// From the first byte on; the rest of the variable is zero.
    pub(crate) bytes: Vec<u8>,
    /// The bytes of unknown value, with the part of the text that needs them.
    pub(crate) unknown: Vec<(Range<u64>, Span)>,
}

/// The initial bytes of a variable of `size` bytes. `address` resolves the names of other variables.
pub(crate) fn initial_bytes(
    module: &Module<'_>,
    declaration: &Declaration,
    size: u64,
    address: Addresses<'_>,
) -> InitialBytes {
    let mut initial = InitialBytes::default();
    let values = match module.initial_value(declaration) {
        None => return initial,
        Some(Ok(value)) => value.values,
        Some(Err(error)) => {
            initial.unknown.push((0..size, error.span));
            return initial;
        }
    };
    let width = declaration.scalar.variable_bytes().map_or(size, u64::from);
    for placed in values {
        let end = placed.offset.saturating_add(width).min(size);
        let range = placed.offset..end;
        // A value beyond the end is never read.
        if range.is_empty() {
            continue;
        }
        match element(module, declaration, placed.value, address) {
            Some(value) if end <= MAX_INITIAL && end - placed.offset == width && width <= 16 => {
                let range = range.start as usize..end as usize;
                initial.bytes.resize(initial.bytes.len().max(range.end), 0);
                let value = u128::from(value).to_le_bytes();
                initial.bytes[range].copy_from_slice(&value[..width as usize]);
            }
            _ => initial.unknown.push((range, placed.span)),
        }
    }
    initial
}

/// One value, in the low bytes.
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
            // Shifts the selected byte to the lowest place.
            Some(mask.map_or(address, |mask| (address & mask) >> (mask.trailing_zeros() & 63)))
        }
    }
}

fn space_index(space: StateSpace) -> Option<usize> {
    SPACES.iter().position(|known| *known == space)
}

impl Module<'_> {
    /// Iterates over the declarations, each with its id.
    pub fn declarations_with_ids(&self) -> impl Iterator<Item = (DeclarationId, &Declaration)> {
        self.declarations_from(0)
    }

    fn declarations_from(
        &self,
        first: usize,
    ) -> impl Iterator<Item = (DeclarationId, &Declaration)> {
        let rest = self.declarations.get(first..);
        debug_assert!(rest.is_some(), "a function's parameters are declarations");
        (first as u32..).map(DeclarationId).zip(rest.unwrap_or_default())
    }
}
