//! The layout of a module's variables, and their initial bytes.
//!
//! Each space is laid out on its own, in the order of the declarations, each variable at the next multiple of its
//! alignment: first the module's variables, then the variables of one function. Dynamic shared memory, `.extern .shared
//! .b8 d[]`, begins after all other shared variables, whatever the order; all its names have the same address.
//! Parameters are a space of their own. The layouts of linkers and drivers are not public, so a caller who knows better
//! can set addresses.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::module::{
    Array, Declaration, DeclarationId, Function, FunctionId, Initializer, Linkage, Module, Role,
};
use crate::syntax::{Span, StateSpace};

/// The limit on the size of a space of variables, in bytes.
pub const MAX_SPACE: u64 = 1 << 32;

/// The address of the first `.global` variable. All other spaces begin at 0.
pub const GLOBAL_BASE: u64 = 0x8000_0000;

/// The limit on an initializer, in bytes.
const MAX_INITIAL: u64 = 1 << 26;

/// The addresses of variables in their spaces, for a module alone or together with one of its functions.
#[derive(Clone, Debug)]
pub struct VariableLayout<'m> {
    /// The layout of the module, if this is a function's.
    outer: Option<&'m VariableLayout<'m>>,
    places: HashMap<DeclarationId, Range<u64>>,
    /// The size of each space in bytes.
    sizes: [u64; StateSpace::Texture as usize + 1],
    /// All names of dynamic shared memory, the module's included, each with its alignment.
    dynamic: Vec<(DeclarationId, u64)>,
}

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
    /// Two variables of one space overlap.
    #[error("two variables overlap: both have byte {address:#x} of their space")]
    Overlap {
        /// The first common byte.
        address: u64,
        /// The name of the variable that is placed higher.
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
    /// The length of an array is unknown, and so the offset of every variable after it.
    #[error("this array has no length, and its initializer cannot be read")]
    Length(Span),
}

impl LayoutError {
    /// Returns the name of the variable at fault.
    #[must_use]
    pub fn span(self) -> Span {
        match self {
            Self::TooLarge { name, .. }
            | Self::Overlap { name, .. }
            | Self::Beyond { name, .. }
            | Self::Misaligned { name, .. }
            | Self::Length(name) => name,
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
    /// let places: Vec<_> = module.declarations_with_ids().map(|d| layout.address(d.0)).collect();
    /// assert_eq!(places, [Some(0x8000_0000), Some(0x8000_0008), Some(0x8000_0014)]);
    /// assert_eq!(layout.size(StateSpace::Global), 22);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LayoutError`] if a space exceeds [`MAX_SPACE`], or if the length of an array is unknown.
    pub fn new(module: &Module<'_>) -> Result<Self, LayoutError> {
        Self::after(None, module, of_module(module), &HashMap::new())
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
        Self::after(Some(self), module, of_function(module, function), &HashMap::new())
    }

    /// Lays out the variables and parameters of a module and of one of its functions, except those of `elsewhere`. `places`
    /// has the caller's addresses.
    pub(crate) fn with_places(
        module: &Module<'_>,
        function: &Function,
        places: &HashMap<DeclarationId, u64>,
        elsewhere: &HashSet<DeclarationId>,
    ) -> Result<Self, LayoutError> {
        let all =
            of_module(module).filter(|(id, _)| places.contains_key(id) || !elsewhere.contains(id));
        Self::after(None, module, all.chain(of_function(module, function)), places)
    }

    /// Lays out variables after those of another layout. One with an address from the caller leaves its place empty, so
    /// that all others stay where they are.
    pub(crate) fn after<'d>(
        outer: Option<&'m VariableLayout<'m>>,
        module: &'d Module<'_>,
        variables: impl Iterator<Item = (DeclarationId, &'d Declaration)>,
        places: &HashMap<DeclarationId, u64>,
    ) -> Result<Self, LayoutError> {
        let mut layout = Self {
            outer,
            places: HashMap::new(),
            sizes: outer.map_or([0; _], |outer| outer.sizes),
            dynamic: outer.map_or_else(Vec::new, |outer| outer.dynamic.clone()),
        };
        let mut moved = Vec::new();
        for (id, declared) in variables {
            layout.add(module, id, declared)?;
            moved.extend(places.get(&id).map(|address| (id, declared, *address)));
        }
        for (id, declared, address) in &moved {
            layout.dynamic.retain(|known| known.0 != *id);
            let (address, bytes) = (*address, layout.bytes(*id).unwrap_or(0));
            let beyond = LayoutError::Beyond { address, name: declared.name };
            let end = address.checked_add(bytes).ok_or(beyond)?;
            layout.places.insert(*id, address..end);
            if declared.space == StateSpace::Shared {
                let size = &mut layout.sizes[declared.space as usize];
                *size = end.max(*size);
            }
        }
        for (id, declared, _) in moved {
            layout.check(module, id, declared)?;
        }
        // The module's names are placed again for each function, because its shared variables come first.
        let first = layout.dynamic();
        layout.places.extend(layout.dynamic.iter().map(|(id, _)| (*id, first..first)));
        Ok(layout)
    }

    fn add(
        &mut self,
        module: &Module<'_>,
        id: DeclarationId,
        declaration: &Declaration,
    ) -> Result<(), LayoutError> {
        let Declaration { space, name, .. } = *declaration;
        let first = match space {
            StateSpace::Register | StateSpace::Texture => return Ok(()),
            StateSpace::Global => GLOBAL_BASE,
            _ => 0,
        };
        if is_dynamic(declaration) {
            self.dynamic.push((id, declaration.alignment()));
            return Ok(());
        }
        let too_large = LayoutError::TooLarge { space, name };
        let bytes = size(module, declaration)?.ok_or(too_large)?;
        let all = &mut self.sizes[space as usize];
        let offset = all.next_multiple_of(declaration.alignment());
        let end = offset.checked_add(bytes).filter(|end| *end <= MAX_SPACE);
        *all = end.ok_or(too_large)?;
        self.places.insert(id, first + offset..first + *all);
        Ok(())
    }

    /// Checks a variable at the caller's address.
    fn check(
        &self,
        module: &Module<'_>,
        id: DeclarationId,
        moved: &Declaration,
    ) -> Result<(), LayoutError> {
        let Some(own) = self.placed(id) else { return Ok(()) };
        for (other, known) in module.declarations_with_ids() {
            let Some(range) = self.placed(other) else { continue };
            let (first, end) = (range.start.max(own.start), range.end.min(own.end));
            if known.space == moved.space && other != id && first < end {
                let name = if range.start > own.start { known.name } else { moved.name };
                return Err(LayoutError::Overlap { address: first, name });
            }
        }
        let (address, alignment, name) = (own.start, moved.alignment(), moved.name);
        match address.is_multiple_of(alignment) {
            true => Ok(()),
            false => Err(LayoutError::Misaligned { address, alignment, name }),
        }
    }

    /// The address of dynamic shared memory.
    pub(crate) fn dynamic(&self) -> u64 {
        let alignment = self.dynamic.iter().map(|(_, alignment)| *alignment).max();
        let end = self.size(StateSpace::Shared);
        end.checked_next_multiple_of(alignment.unwrap_or(1)).unwrap_or(end)
    }

    /// Returns the address of a variable in its space; `None` if it was not laid out.
    #[must_use]
    pub fn address(&self, id: DeclarationId) -> Option<u64> {
        self.placed(id).map(|placed| placed.start)
    }

    /// Returns the size of a variable in bytes; an array without a length is as long as its initializer. `None` if the
    /// variable was not laid out.
    #[must_use]
    pub fn bytes(&self, id: DeclarationId) -> Option<u64> {
        self.placed(id).map(|placed| placed.end - placed.start)
    }

    pub(crate) fn placed(&self, id: DeclarationId) -> Option<Range<u64>> {
        let outer = || self.outer.and_then(|outer| outer.placed(id));
        self.places.get(&id).cloned().or_else(outer)
    }

    /// Returns the size of a space's variables in bytes, padding included.
    #[must_use]
    pub fn size(&self, space: StateSpace) -> u64 {
        self.sizes[space as usize]
    }
}

/// The variables of a module outside its functions.
fn of_module<'d>(module: &'d Module<'_>) -> impl Iterator<Item = (DeclarationId, &'d Declaration)> {
    module.declarations_with_ids().filter(|(_, declared)| declared.role == Role::Module)
}

/// The variables and parameters of a function. Its declarations are adjacent.
fn of_function<'d>(
    module: &'d Module<'_>,
    function: &Function,
) -> impl Iterator<Item = (DeclarationId, &'d Declaration)> {
    let first = function.parameters.start.min(function.returns.start);
    module.declarations_from(first).take_while(move |(_, declared)| {
        let around = module.function_of(declared.scope);
        around.is_some_and(|around| std::ptr::eq(around, function))
    })
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

/// The initial bytes of a variable of `size` bytes. `address` and `function` resolve the names of other variables and of
/// functions.
pub(crate) fn initial_bytes(
    module: &Module<'_>,
    declaration: &Declaration,
    size: u64,
    address: Addresses<'_>,
    function: fn(FunctionId) -> Option<u64>,
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
        match element(module, declaration, placed.value, address, function) {
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
    function: fn(FunctionId) -> Option<u64>,
) -> Option<u64> {
    match value {
        Initializer::Number(number) => number.bits(declaration.scalar),
        Initializer::Address { name, offset, is_generic, mask } => {
            let text = module.text(name);
            let address = match module.find(declaration.scope, text) {
                Some(symbol) => address(symbol.id, is_generic)?,
                None => function(module.function_id_of(text)?)?,
            };
            let address = address.wrapping_add(offset);
            // Shifts the selected byte to the lowest place.
            Some(mask.map_or(address, |mask| (address & mask) >> (mask.trailing_zeros() & 63)))
        }
    }
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
