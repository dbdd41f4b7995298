//! What the loads execute on: memory, variables, parameters and registers as the arguments say.

use anyhow::{Context, bail};
use warpload::lane::LaneMask;
use warpload::machine::Machine;

use warpload_ptx::module::{Array, Declaration, DeclarationId, Function};
use warpload_ptx::run::{
    Environment, Placement, PlacementError, RegisterFile, WarpTensorMemory, bits_of, lane_bits,
};
use warpload_ptx::syntax::{ScalarType, StateSpace};
use warpload_ptx::tensor::Rules;

use super::{Arguments, Pair};
use crate::diagnostic::{self, Labelled};
use crate::io::Output;
use crate::name::Name;
use crate::ptx::file::File;

impl<'f> File<'f> {
    /// Returns what the function executes on; `None` if its variables cannot be placed.
    pub(super) fn set_up(
        &self,
        function: &'f Function,
        machine: Machine,
        arguments: &Arguments,
        output: &mut Output,
    ) -> anyhow::Result<Option<(Environment<'f>, RegisterFile)>> {
        let placed = self.environment(machine, function, arguments)?;
        let mut environment = match placed {
            Ok(environment) => environment,
            Err(error) => {
                let title = error.to_string();
                let Some(span) = error.span() else {
                    return Err(anyhow::Error::msg(title).context(Name::from(self.name)));
                };
                self.draw(Labelled { title: &title, rule: None, help: None, span }, output)?;
                return Ok(None);
            }
        };
        environment.active = arguments.active;
        if let Some(contents) = &arguments.tensor_memory {
            let rules = Rules::default().lane_mode(arguments.lane_mode.mode());
            let (memory, warp) = (contents.memory()?, arguments.warp);
            environment.tensor = Some(WarpTensorMemory::new(memory, warp).rules(rules));
        }
        Ok(Some((environment, self.registers(function, &arguments.set)?)))
    }

    fn environment(
        &self,
        machine: Machine,
        function: &'f Function,
        arguments: &Arguments,
    ) -> anyhow::Result<Result<Environment<'f>, PlacementError>> {
        let mut placement = match Placement::for_function(self.module, function) {
            Ok(placement) => placement,
            Err(error) => return Ok(Err(error.into())),
        };
        self.place_variables(&mut placement, function, arguments)?;
        Ok(placement.into_environment(machine))
    }

    /// The parameters' values and the addresses of variables.
    fn place_variables(
        &self,
        placement: &mut Placement<'_>,
        function: &Function,
        arguments: &Arguments,
    ) -> anyhow::Result<()> {
        for (i, Pair { name, value }) in arguments.place.iter().enumerate() {
            once("place", name, &arguments.place[..i])?;
            let wrong = || format!("{}: --place {name}={value}", self.name);
            let address = bits_of(value, ScalarType::B64).with_context(wrong)?;
            for (id, _) in self.variables(function, name).with_context(wrong)? {
                placement.place(id, address as u64);
            }
        }
        for (i, Pair { name, value }) in arguments.parameter.iter().enumerate() {
            once("parameter", name, &arguments.parameter[..i])?;
            let wrong = || format!("{}: --parameter {name}={value}", self.name);
            for (id, declared) in self.variables(function, name).with_context(wrong)? {
                if declared.space != StateSpace::Param {
                    bail!("{}: `{name}` is a .{} variable", wrong(), declared.space);
                }
                placement.set_parameter(id, &elements(value, declared).with_context(wrong)?);
            }
        }
        Ok(())
    }

    fn variables(
        &self,
        function: &Function,
        name: &str,
    ) -> anyhow::Result<Vec<(DeclarationId, &'f Declaration)>> {
        let ids = self.module.variables_named(Some(function), name).into_iter();
        let found: Vec<_> = ids.filter_map(|id| Some((id, self.module.declaration(id)?))).collect();
        if found.is_empty() {
            bail!("no variable or parameter `{name}` in {}", self.module.text(function.name));
        }
        Ok(found)
    }

    fn registers(&self, function: &Function, sets: &[Pair]) -> anyhow::Result<RegisterFile> {
        let mut registers = RegisterFile::new();
        for (i, Pair { name, value }) in sets.iter().enumerate() {
            once("set", name, &sets[..i])?;
            let wrong = || format!("{}: --set {name}={value}", self.name);
            let found = self.module.registers_named(function, name);
            if found.is_empty() {
                let function = self.module.text(function.name);
                bail!("{}: no register `{name}` in {function}", wrong());
            }
            for register in found {
                let declared = self.module.declaration(register.declaration);
                let scalar = declared.map_or(ScalarType::Other, |declared| declared.scalar);
                let is_mask = !value.contains("lane") && !value.contains(',');
                if scalar == ScalarType::Pred && is_mask {
                    let lanes = bits_of(value, ScalarType::B32).with_context(wrong)?;
                    let count = LaneMask::from_bits(lanes as u32).count();
                    if !value.starts_with("0x") && (1..32).contains(&count) {
                        diagnostic::note(format_args!(
                            "`{name}={value}` is a mask of lanes: true in {count} of 32; \
                             `{name}=0xffffffff` is true in all"
                        ));
                    }
                    registers.set_predicate(register, LaneMask::from_bits(lanes as u32));
                } else {
                    registers.set(register, lane_bits(value, scalar).with_context(wrong)?);
                }
            }
        }
        Ok(registers)
    }
}

/// Refuses a name that an option has already set: which value is meant is unknown.
fn once(option: &str, name: &str, before: &[Pair]) -> anyhow::Result<()> {
    if before.iter().any(|pair| pair.name == name) {
        bail!("--{option} {name} is given twice");
    }
    Ok(())
}

/// The bytes of a parameter out of its elements' values.
fn elements(text: &str, declared: &Declaration) -> anyhow::Result<Vec<u8>> {
    let size = declared.scalar.bytes().context("its type has no size")? as usize;
    let count = match declared.array {
        Array::Single => 1,
        Array::Of(count) => count,
        Array::Unknown | Array::TooMany => u64::MAX,
    };
    let count = count.saturating_mul(u64::from(declared.vector));
    let mut bytes = Vec::new();
    for (i, element) in text.split(',').enumerate() {
        if i as u64 >= count {
            bail!("more values than its {count}");
        }
        bytes.extend(&bits_of(element, declared.scalar)?.to_le_bytes()[..size]);
    }
    Ok(bytes)
}
