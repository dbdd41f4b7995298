//! [`Launch`]: the input of a function, as users give it.

use std::collections::BTreeMap;
use std::fmt;

use warpload::lane::{LANES, LaneMask};
use warpload::machine::Machine;

use super::value::{ValueError, bits_of, lane_bits};
use super::variables::filled;
use super::{PlacementError, PtxRun, WarpTensorMemory};
use crate::launch::{Kernel, KernelLaunch, LaunchOptions, RegisterLanes, shared_elsewhere};
use crate::module::{
    Array, Declaration, DeclarationId, Function, FunctionId, Module, VariableLayout, variable_bytes,
};
use crate::syntax::{ScalarType, StateSpace};

/// The input of a function. Values are constant expressions of PTX.
///
/// ```
/// use warpload::machine::Machine;
/// use warpload_ptx::read;
/// use warpload_ptx::run::{Launch, LaunchStep};
///
/// let module = read(".version 7.0\n.target sm_70\n.address_size 64
///     .entry k(.param .u64 in) {
///         .reg .b64 %rd<2>;
///         ld.param.u64 %rd1, [in];
///     }")?;
/// let launch = Launch::default().parameter("in", "0x80000000");
/// let mut values = Vec::new();
/// let mut run = launch.prepare(&module, Machine::default())?;
/// run.each(|step| {
///     if let LaunchStep::Executed { executed, .. } = step {
///         values.extend(executed.written.iter().map(|(_, held)| held.values[31]));
///     }
///     Ok::<(), std::convert::Infallible>(())
/// })?;
/// assert_eq!(values, [0x8000_0000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Launch {
    /// The function's name; optional if a module has only one.
    pub function: Option<String>,
    /// Registers and their values, for each lane, or a mask for a predicate: `%rd1`, `0x1000+16*lane`.
    pub registers: Vec<(String, String)>,
    /// Parameters and their values, or the values of their elements, separated by commas.
    pub parameters: Vec<(String, String)>,
    /// Variables and their addresses in their spaces.
    pub places: Vec<(String, String)>,
    /// The active lanes.
    #[cfg_attr(feature = "serde", serde(with = "mask"))]
    pub active: LaneMask,
    /// Tensor Memory; `None` if the loads do not need it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub tensor: Option<WarpTensorMemory>,
}

impl Default for Launch {
    fn default() -> Self {
        Self {
            function: None,
            registers: Vec::new(),
            parameters: Vec::new(),
            places: Vec::new(),
            active: LaneMask::ALL,
            tensor: None,
        }
    }
}

/// The kind of a value in a [`Launch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchValue {
    /// A register.
    Register,
    /// A parameter.
    Parameter,
    /// The address of a variable.
    Place,
}

impl fmt::Display for LaunchValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Register => "register",
            Self::Parameter => "parameter",
            Self::Place => "place",
        })
    }
}

/// The reason why a function cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The module has no function with this name.
    #[error("no function {name}; the module has {}", functions.join(", "))]
    NoFunction {
        /// The name.
        name: String,
        /// The names of the module's functions.
        functions: Vec<String>,
    },
    /// The module has no function with a body.
    #[error("no function with a body")]
    NoBody,
    /// The module has several functions, and the launch names none.
    #[error("several functions; expected the name of one: {}", functions.join(", "))]
    SeveralFunctions {
        /// The names of the functions.
        functions: Vec<String>,
    },
    /// A name occurs twice. It is ambiguous which value is meant.
    #[error("{what} {name} is given twice")]
    Twice {
        /// The kind of value.
        what: LaunchValue,
        /// The name.
        name: String,
    },
    /// A value does not suit its register, parameter or variable.
    #[error("{what} {name}={value}")]
    Value {
        /// The kind of value.
        what: LaunchValue,
        /// The name.
        name: String,
        /// The value.
        value: String,
        /// The reason.
        source: LaunchValueError,
    },
    /// The variables cannot be placed.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

/// The reason why a value of a [`Launch`] cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchValueError {
    /// The text is not a value of the type.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The function has no such register.
    #[error("no register `{name}` in {function}")]
    NoRegister {
        /// The name.
        name: String,
        /// The function.
        function: String,
    },
    /// The function has no such variable or parameter.
    #[error("no variable or parameter `{name}` in {function}")]
    NoVariable {
        /// The name.
        name: String,
        /// The function.
        function: String,
    },
    /// The variable is not a parameter.
    #[error("`{name}` is a .{space} variable, not a parameter")]
    NoParameter {
        /// The name.
        name: String,
        /// Its space.
        space: StateSpace,
    },
    /// The type of the parameter has no size.
    #[error("its type has no size")]
    NoSize,
    /// There are more values than elements.
    #[error("more values than its {0}")]
    TooMany(u64),
    /// The parameter is larger than any GPU's parameter space.
    #[error("a parameter of {0} bytes; expected at most {MAX_PARAMETER}")]
    TooLarge(u64),
    /// Parameters have no address of their own: they are in the bytes that the launch passes.
    #[error("`{name}` is a parameter, which has no address; give it a value")]
    IsParameter {
        /// The name.
        name: String,
    },
}

/// The most bytes of a kernel's parameter, and far more than the 32,764 that PTX allows for all of them. The text of a
/// module can declare any number.
const MAX_PARAMETER: u64 = 1 << 20;

impl Launch {
    /// Sets a register.
    #[must_use]
    pub fn register(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.registers.push((name.into(), value.into()));
        self
    }

    /// Sets a parameter.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Sets the address of a variable.
    #[must_use]
    pub fn place(mut self, name: impl Into<String>, address: impl Into<String>) -> Self {
        self.places.push((name.into(), address.into()));
        self
    }

    /// Puts the variables of a function into the memory of a machine, and decodes its loads.
    ///
    /// # Errors
    /// Returns [`LaunchError`] if the launch does not fit the module.
    pub fn prepare<'m>(
        &self,
        module: &'m Module<'m>,
        Machine { memory, misaligned, .. }: Machine,
    ) -> Result<PtxRun<'m>, LaunchError> {
        let (id, function) = self.function_of(module)?;
        let places = self.placed(module, function, |_| false)?.into_iter().collect();
        let is_parameter = |id: DeclarationId| {
            module.declaration(id).is_some_and(|known| known.space == StateSpace::Param)
        };
        let given = self.given_parameters(module, function, is_parameter)?.into_iter().collect();
        let elsewhere = shared_elsewhere(module, id);
        let layout = VariableLayout::with_places(module, function, &places, &elsewhere);
        let layout = layout.map_err(PlacementError::from)?;
        let filled = filled(module, &layout, &given, &memory)?;
        let mut options = LaunchOptions::new([1; 3], [LANES as u32, 1, 1]);
        (options.misaligned, options.active) = (misaligned, self.active);
        options.tensor.clone_from(&self.tensor);
        let mut remarks = Vec::new();
        let registers = self.set_registers(module, function, &mut remarks)?;
        let function = (id, function);
        Ok(PtxRun::new(module, function, &layout, filled, registers, options, remarks))
    }

    /// The named function, or the only one.
    fn function_of<'m>(
        &self,
        module: &'m Module<'m>,
    ) -> Result<(FunctionId, &'m Function), LaunchError> {
        let ids = (0..).map(FunctionId).zip(module.functions());
        let mut bodies = ids.filter(|(_, function)| function.body.is_some());
        let names = bodies.clone().map(|(_, function)| module.text(function.name).to_owned());
        if let Some(name) = &self.function {
            let id = module.function_id_of(name);
            let found = bodies.find(|(known, _)| Some(*known) == id);
            let (name, functions) = (name.clone(), names.collect());
            return found.ok_or(LaunchError::NoFunction { name, functions });
        }
        match (bodies.next(), bodies.next()) {
            (None, _) => Err(LaunchError::NoBody),
            (Some(only), None) => Ok(only),
            _ => Err(LaunchError::SeveralFunctions { functions: names.collect() }),
        }
    }

    /// Transfers the values to the launch of a kernel: registers, addresses of variables, active lanes and Tensor
    /// Memory. Returns the bytes of the named parameters, by parameter number.
    ///
    /// # Errors
    /// Returns [`LaunchError`] if the kernel has no such register, variable or parameter, or a value does not fit.
    pub fn set_up(
        &self,
        kernel: &Kernel<'_>,
        launch: &mut KernelLaunch,
    ) -> Result<BTreeMap<usize, Vec<u8>>, LaunchError> {
        let (module, function) = (kernel.module(), kernel.function());
        launch.registers = self.set_registers(module, function, &mut Vec::new())?;
        launch.options.active = self.active;
        launch.options.tensor.clone_from(&self.tensor);
        let is_parameter = |id: DeclarationId| function.parameters.contains(&id.index());
        launch.places.extend(self.placed(module, function, is_parameter)?);
        let given = self.given_parameters(module, function, is_parameter)?.into_iter();
        Ok(given.map(|(id, bytes)| (id.index() - function.parameters.start, bytes)).collect())
    }

    /// The addresses of variables. `is_parameter` tells which ones have no address to choose.
    fn placed(
        &self,
        module: &Module<'_>,
        function: &Function,
        is_parameter: impl Fn(DeclarationId) -> bool,
    ) -> Result<Vec<(DeclarationId, u64)>, LaunchError> {
        let mut placed = Vec::new();
        for (name, value, wrong) in given(LaunchValue::Place, &self.places)? {
            let address = bits_of(value, ScalarType::B64).map_err(|error| wrong(error.into()))?;
            for (id, _) in variables(module, function, name).map_err(&wrong)? {
                if is_parameter(id) {
                    return Err(wrong(LaunchValueError::IsParameter { name: name.to_owned() }));
                }
                placed.push((id, address as u64));
            }
        }
        Ok(placed)
    }

    /// The bytes of parameters: missing elements are zero. `is_parameter` tells which variables are ones.
    fn given_parameters(
        &self,
        module: &Module<'_>,
        function: &Function,
        is_parameter: impl Fn(DeclarationId) -> bool,
    ) -> Result<Vec<(DeclarationId, Vec<u8>)>, LaunchError> {
        let mut parameters = Vec::new();
        for (name, value, wrong) in given(LaunchValue::Parameter, &self.parameters)? {
            for (id, declared) in variables(module, function, name).map_err(&wrong)? {
                if !is_parameter(id) {
                    let (name, space) = (name.to_owned(), declared.space);
                    return Err(wrong(LaunchValueError::NoParameter { name, space }));
                }
                let mut bytes = elements(value, declared).map_err(&wrong)?;
                let size = variable_bytes(module, declared);
                if size > MAX_PARAMETER {
                    return Err(wrong(LaunchValueError::TooLarge(size)));
                }
                bytes.resize(size as usize, 0);
                parameters.push((id, bytes));
            }
        }
        Ok(parameters)
    }

    fn set_registers(
        &self,
        module: &Module<'_>,
        function: &Function,
        remarks: &mut Vec<String>,
    ) -> Result<Vec<RegisterLanes>, LaunchError> {
        let mut registers = Vec::new();
        for (name, value, wrong) in given(LaunchValue::Register, &self.registers)? {
            let found = module.registers_named(function, name);
            if found.is_empty() {
                let function = module.text(function.name).to_owned();
                return Err(wrong(LaunchValueError::NoRegister {
                    name: name.to_owned(),
                    function,
                }));
            }
            for register in found {
                let declared = module.declaration(register.declaration);
                let scalar = declared.map_or(ScalarType::Unknown, |declared| declared.scalar);
                let is_mask = !value.contains("lane") && !value.contains(',');
                if scalar == ScalarType::Pred && is_mask {
                    let lanes = bits_of(value, ScalarType::B32);
                    let lanes = LaneMask::from_bits(lanes.map_err(|e| wrong(e.into()))? as u32);
                    let count = lanes.count();
                    if !value.starts_with("0x") && (1..32).contains(&count) {
                        remarks.push(format!(
                            "`{name}={value}` is a mask of lanes: true in {count} of 32; \
                             `{name}=0xffffffff` is true in all"
                        ));
                    }
                    let is_true = |lane| u128::from(lanes.contains(lane));
                    registers.push((register, Box::new(std::array::from_fn(is_true))));
                } else {
                    let bits = lane_bits(value, scalar).map_err(|error| wrong(error.into()))?;
                    registers.push((register, Box::new(bits)));
                }
            }
        }
        Ok(registers)
    }
}

/// The names and values of a list, each with a function that makes the error for a wrong value. A name that occurs
/// twice is an error.
#[allow(clippy::type_complexity, reason = "used in loops alone")]
fn given(
    what: LaunchValue,
    values: &[(String, String)],
) -> Result<Vec<(&str, &str, impl Fn(LaunchValueError) -> LaunchError)>, LaunchError> {
    for (i, (name, _)) in values.iter().enumerate() {
        if values[..i].iter().any(|(before, _)| before == name) {
            return Err(LaunchError::Twice { what, name: name.clone() });
        }
    }
    let each = values.iter().map(move |(name, value)| {
        let wrong = move |source| LaunchError::Value {
            what,
            name: name.clone(),
            value: value.clone(),
            source,
        };
        (name.as_str(), value.as_str(), wrong)
    });
    Ok(each.collect())
}

fn variables<'m>(
    module: &'m Module<'_>,
    function: &Function,
    name: &str,
) -> Result<Vec<(DeclarationId, &'m Declaration)>, LaunchValueError> {
    let ids = module.variables_named(Some(function), name).into_iter();
    let found: Vec<_> = ids.filter_map(|id| Some((id, module.declaration(id)?))).collect();
    if found.is_empty() {
        let (name, function) = (name.to_owned(), module.text(function.name).to_owned());
        return Err(LaunchValueError::NoVariable { name, function });
    }
    Ok(found)
}

/// The bytes of a parameter, from the values of its elements.
pub(crate) fn elements(text: &str, declared: &Declaration) -> Result<Vec<u8>, LaunchValueError> {
    let size = declared.scalar.variable_bytes().ok_or(LaunchValueError::NoSize)? as usize;
    let count = match declared.array {
        Array::Single => 1,
        Array::Of(count) => count,
        Array::Unknown | Array::TooMany => u64::MAX,
    };
    let count = count.saturating_mul(u64::from(declared.vector));
    let mut bytes = Vec::new();
    for (i, element) in text.split(',').enumerate() {
        if i as u64 >= count {
            return Err(LaunchValueError::TooMany(count));
        }
        bytes.extend(&bits_of(element, declared.scalar)?.to_le_bytes()[..size]);
    }
    Ok(bytes)
}

/// Serializes lanes as a number.
#[cfg(feature = "serde")]
mod mask {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use warpload::lane::LaneMask;

    pub(super) fn serialize<S: Serializer>(mask: &LaneMask, to: S) -> Result<S::Ok, S::Error> {
        mask.bits().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<LaneMask, D::Error> {
        u32::deserialize(from).map(LaneMask::from_bits)
    }
}
