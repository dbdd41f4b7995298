//! Damaged modules are executed, or refused, without a panic.

use warpload::lane::LANES;
use warpload::machine::Machine;
use warpload_ptx::meaning::Register;
use warpload_ptx::run::{Placement, RegisterFile, WarpTensorMemory};
use warpload_ptx::tensor::TensorMemory;
use warpload_ptx::{Module, read};

const LOADS: &str = include_str!("../../ptx/mutations/loads.ptx");
const DECLARATIONS: &str = include_str!("../../ptx/mutations/declarations.ptx");
const TENSOR: &str = include_str!("../../ptx/mutations/tensor.ptx");

/// Runs every function; every register that has a declaration of its own has this value.
fn run(module: &Module<'_>, value: u128) -> usize {
    let mut executed = 0;
    for function in module.functions() {
        let Ok(mut placement) = Placement::for_function(module, function) else { continue };
        let mut registers = RegisterFile::new();
        for (id, declaration) in module.declarations_with_ids() {
            placement.set_parameter(id, &[1; 3]);
            for number in 0..declaration.count.unwrap_or(1).min(10) {
                for component in 0..declaration.vector {
                    let register = Register { declaration: id, number, component };
                    registers.set(register, [value; LANES]);
                }
            }
        }
        let Ok(mut environment) = placement.into_environment(Machine::default()) else { continue };
        environment.tensor = Some(WarpTensorMemory::new(TensorMemory::new(), 0));
        let steps = environment.run(function, &mut registers);
        executed += steps.filter(|step| step.result.is_ok()).count();
    }
    executed
}

#[test]
fn damaged_modules_do_not_panic() {
    let mut executed = 0;
    for (source, value) in [(LOADS, u128::MAX), (DECLARATIONS, u128::MAX), (TENSOR, 1)] {
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
