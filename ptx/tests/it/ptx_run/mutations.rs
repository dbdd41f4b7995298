//! Damaged modules are executed, or refused, without a panic.

use std::collections::BTreeSet;
use std::convert::Infallible;

use warpload::machine::Machine;
use warpload_ptx::meaning::Register;
use warpload_ptx::run::{Launch, LaunchStep, WarpTensorMemory};
use warpload_ptx::syntax::StateSpace;
use warpload_ptx::tensor::TensorMemory;
use warpload_ptx::{Module, read};

const LOADS: &str = include_str!("../../ptx/mutations/loads.ptx");
const DECLARATIONS: &str = include_str!("../../ptx/mutations/declarations.ptx");
const TENSOR: &str = include_str!("../../ptx/mutations/tensor.ptx");

/// Runs every function; every register that has a declaration of its own has this value.
fn run(module: &Module<'_>, value: &str) -> usize {
    let mut executed = 0;
    for function in module.functions() {
        let mut launch = Launch::default();
        launch.function = Some(module.text(function.name).to_owned());
        launch.tensor = Some(WarpTensorMemory::new(TensorMemory::new(), 0));
        let (mut registers, mut parameters) = (BTreeSet::new(), BTreeSet::new());
        for (id, declaration) in module.declarations_with_ids() {
            let name = module.text(declaration.name);
            let is_own = !module.variables_named(Some(function), name).is_empty();
            if declaration.space == StateSpace::Param && is_own {
                parameters.insert(name);
            }
            for number in 0..declaration.count.unwrap_or(1).min(10) {
                for component in 0..declaration.vector {
                    let register = Register { declaration: id, number, component };
                    let name = module.register_name(register);
                    if !module.registers_named(function, &name).is_empty() {
                        registers.insert(name);
                    }
                }
            }
        }
        let parameters = parameters.into_iter();
        launch.parameters = parameters.map(|name| (name.to_owned(), "1".to_owned())).collect();
        launch.registers = registers.into_iter().map(|name| (name, value.to_owned())).collect();
        let Ok(mut run) = launch.prepare(module, Machine::default()) else { continue };
        let each = run.each(|step| {
            executed += usize::from(matches!(step, LaunchStep::Executed { .. }));
            Ok::<(), Infallible>(())
        });
        each.unwrap();
    }
    executed
}

#[test]
fn damaged_modules_do_not_panic() {
    let mut executed = 0;
    for (source, value) in [(LOADS, "-1"), (DECLARATIONS, "-1"), (TENSOR, "1")] {
        for at in 0..source.len() {
            for with in ["", "9", "]", ",", "999999999999"] {
                let Some((before, rest)) = source.split_at_checked(at) else { continue };
                let after = rest.get(1..).unwrap_or_default();
                if let Ok(module) = read(&format!("{before}{with}{after}")) {
                    executed += run(&module, value);
                }
            }
        }
    }
    assert!(executed > 1000, "{executed} loads");
}
