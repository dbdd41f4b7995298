//! [`Meaning`]: the memory, width, address and destinations of a legal load, with every name looked up. Both
//! [`run`](crate::run) and [`lower`](crate::lower::lower) begin here.

use crate::module::operands::Named;
use crate::module::{Declaration, DeclarationId, Module, ScopeId};
use crate::syntax::load::{
    AddressForm, AddressOperand, CacheOperator, Element, ElementKind, MemoryOrder, Opcode,
    OperandKind, PtxLoad, QualifierKind,
};
use crate::syntax::special::special_register;
use crate::syntax::{ScalarType, Span, StateSpace};
use warpload::memory::AddressSpace;

/// The constant bank of `.const` variables.
pub const CONST_BANK: u8 = 3;

/// The constant bank of a kernel's parameters.
pub const PARAMETER_BANK: u8 = 0;

/// The offset of the first parameter in its bank, as on SM 5.x. In PTX, parameters are a space of their own, and their
/// addresses begin at 0.
pub const PARAMETER_BASE: u64 = 0x140;

/// The address space of `.const` variables.
pub(crate) const CONSTANTS: AddressSpace = AddressSpace::Constant { bank: CONST_BANK };

/// The address space of parameters. [`PARAMETER_BASE`] is added to their addresses.
pub(crate) const PARAMETERS: AddressSpace = AddressSpace::Constant { bank: PARAMETER_BANK };

/// A load with its names looked up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Meaning {
    /// The memory. A generic load from a named variable has the space of the variable. `.const` is bank [`CONST_BANK`],
    /// `.param` is bank [`PARAMETER_BANK`].
    pub space: AddressSpace,
    /// The type of one element.
    pub scalar: ScalarType,
    /// The number of elements, 1 to 8.
    pub elements: u8,
    /// The cache operator, if any. `.volatile` is not one: see [`Self::is_volatile`].
    pub cache: Option<CacheOperator>,
    /// `.nc`.
    pub is_non_coherent: bool,
    /// `.volatile`.
    pub is_volatile: bool,
    /// The destination of each element, the first one first; `None` for a sink.
    pub destinations: Vec<Option<Register>>,
    /// The address of the first element.
    pub address: ResolvedAddress,
    /// The guard, and whether it is negated.
    pub guard: Option<(Register, bool)>,
}

impl Meaning {
    /// Returns the access size in bytes, 1 to 32; the address is aligned to it.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.scalar.bytes() * u32::from(self.elements)
    }
}

/// A register, or an element of a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    /// The declaration of the register, its run or its vector.
    pub declaration: DeclarationId,
    /// The number in a run of registers, else 0.
    pub number: u32,
    /// The element of a vector register, else 0.
    pub component: u8,
}

/// An address: a base plus an offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResolvedAddress {
    /// The base.
    pub base: AddressBase,
    /// The offset in bytes, added modulo 2^64.
    pub offset: i64,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressBase {
    /// No base: the offset is the address.
    Zero,
    /// A register.
    Register(Register),
    /// A variable or parameter.
    Variable(DeclarationId),
    /// A variable, plus a register that counts its elements.
    Indexed(DeclarationId, Register),
}

/// The reason why a load has no meaning. [`check`](crate::rules::check) gives more detail on most of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeaningError {
    /// It is a load of Tensor Memory.
    #[error("this is a load of Tensor Memory; use `tensor_load`")]
    Tensor,
    /// A name is not declared.
    #[error("undeclared name")]
    Undeclared(Span),
    /// A name is a special register's.
    #[error("the value of a special register is unknown here")]
    Special(Span),
    /// The load is malformed.
    #[error("illegal load")]
    Illegal(Span),
}

impl MeaningError {
    /// Returns the place of the error; `None` for loads of Tensor Memory.
    #[must_use]
    pub fn span(self) -> Option<Span> {
        match self {
            Self::Tensor => None,
            Self::Undeclared(span) | Self::Special(span) | Self::Illegal(span) => Some(span),
        }
    }
}

impl Module<'_> {
    /// Resolves the names of a load and returns its [`Meaning`].
    ///
    /// ```
    /// use warpload::memory::AddressSpace;
    /// use warpload_ptx::syntax::ScalarType;
    /// use warpload_ptx::read;
    ///
    /// let module = read(".version 8.0\n.target sm_50\n.address_size 64\n.shared .b32 tile[64];\n
    ///     .entry k() { .reg .f32 %f<3>; ld.v2.f32 {%f1, _}, [tile+8]; ret; }")?;
    /// let load = module.loads().next().expect("one load");
    /// let meaning = module.meaning(&load)?;
    /// // Generic as it is written, but the variable is shared.
    /// assert_eq!(meaning.space, AddressSpace::Shared);
    /// assert_eq!((meaning.scalar, meaning.bytes()), (ScalarType::F32, 8));
    /// assert_eq!(meaning.destinations[1], None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`MeaningError`] if the load is malformed or uses an undeclared name. Accepts some illegal loads;
    /// [`check`](crate::rules::check) finds them.
    pub fn meaning(&self, load: &PtxLoad<'_>) -> Result<Meaning, MeaningError> {
        if load.opcode != Opcode::Ld {
            return Err(MeaningError::Tensor);
        }
        let illegal = MeaningError::Illegal(load.span);
        let address = load.address().filter(|_| load.fault.is_none()).ok_or(illegal)?;
        let address = self.place(load.scope, &address, illegal)?;
        let written = match load.space() {
            None => AddressSpace::Generic,
            Some((space, _)) => space.addresses().ok_or(illegal)?,
        };
        let of_variable = self.variable_of(address).and_then(|known| known.space.addresses());
        let space = match written {
            AddressSpace::Generic => of_variable.unwrap_or(written),
            _ => written,
        };
        let cache = load.first(|kind| match kind {
            QualifierKind::Cache(cache) => Some(cache),
            _ => None,
        });
        let guard = load.guard.map(|guard| {
            let register = self.register(load.scope, guard.register)?;
            Ok((register, guard.is_negated))
        });
        Ok(Meaning {
            space,
            scalar: load
                .scalar()
                .filter(|scalar| scalar.variable_bytes().is_some())
                .ok_or(illegal)?,
            elements: load.elements(),
            cache: cache.map(|found| found.0),
            is_non_coherent: load.has(QualifierKind::NonCoherent),
            is_volatile: load.has(QualifierKind::Order(MemoryOrder::Volatile)),
            destinations: self.destinations(load, illegal)?,
            address,
            guard: guard.transpose()?,
        })
    }

    /// Returns the variable at the base of an address, if there is one.
    #[must_use]
    pub fn variable_of(&self, place: ResolvedAddress) -> Option<&Declaration> {
        match place.base {
            AddressBase::Variable(id) | AddressBase::Indexed(id, _) => self.declaration(id),
            AddressBase::Zero | AddressBase::Register(_) => None,
        }
    }

    /// The meaning of a name, or of an element `Q.x`.
    fn known(&self, scope: ScopeId, written: Span) -> Result<Named<'_>, MeaningError> {
        self.named(scope, written).map_err(|name| match special_register(self.text(name)) {
            Some(_) => MeaningError::Special(name),
            None => MeaningError::Undeclared(name),
        })
    }

    fn register(&self, scope: ScopeId, written: Span) -> Result<Register, MeaningError> {
        self.known(scope, written)?.register().ok_or(MeaningError::Illegal(written))
    }

    fn place(
        &self,
        scope: ScopeId,
        address: &AddressOperand,
        illegal: MeaningError,
    ) -> Result<ResolvedAddress, MeaningError> {
        let offset = address.displacement() as i64;
        let Some(name) = address.base else {
            return Ok(ResolvedAddress { base: AddressBase::Zero, offset });
        };
        let (base, unit) = match (self.known(scope, name)?, address.index) {
            (Named::Register(register), None) if address.form == AddressForm::Bracketed => {
                (AddressBase::Register(register), Some(1))
            }
            (Named::Variable(symbol), index) => {
                let index = index.map(|index| self.register(scope, index)).transpose()?;
                let indexed = |index| AddressBase::Indexed(symbol.id, index);
                let base = index.map_or(AddressBase::Variable(symbol.id), indexed);
                (base, symbol.declaration.unit(address.form))
            }
            _ => return Err(illegal),
        };
        let offset = offset.wrapping_mul(unit.ok_or(illegal)? as i64);
        Ok(ResolvedAddress { base, offset })
    }

    fn destinations(
        &self,
        load: &PtxLoad<'_>,
        illegal: MeaningError,
    ) -> Result<Vec<Option<Register>>, MeaningError> {
        let operand = load.destination().ok_or(illegal)?;
        let destinations = match operand.kind {
            OperandKind::Name | OperandKind::Component(_) => {
                self.known(load.scope, operand.span)?.registers().map(Some).collect()
            }
            OperandKind::Vector(elements) => {
                let element = |element: &Element| match element.kind {
                    ElementKind::Name | ElementKind::Component(_) => {
                        self.register(load.scope, element.span).map(Some)
                    }
                    ElementKind::Sink => Ok(None),
                    ElementKind::Constant(_) => Err(illegal),
                };
                load.elements_in(elements).iter().map(element).collect::<Result<Vec<_>, _>>()?
            }
            _ => return Err(illegal),
        };
        if destinations.len() == usize::from(load.elements()) {
            Ok(destinations)
        } else {
            Err(illegal)
        }
    }
}

impl StateSpace {
    /// Returns the address space that loads of this state space use; `None` if no load reads it.
    #[must_use]
    pub fn addresses(self) -> Option<AddressSpace> {
        match self {
            Self::Global => Some(AddressSpace::Global),
            Self::Local => Some(AddressSpace::Local),
            Self::Shared => Some(AddressSpace::Shared),
            Self::Const => Some(CONSTANTS),
            Self::Param => Some(PARAMETERS),
            Self::Register | Self::Texture => None,
        }
    }
}
