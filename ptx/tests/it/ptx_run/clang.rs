//! Modules that a compiler wrote: every load of every function is executed, or says what it needs.

use warpload::machine::Machine;
use warpload_ptx::read;
use warpload_ptx::run::{Placement, RegisterFile, RunErrorKind};

use crate::compiled::modules;

#[test]
fn loads_of_compiled_modules_execute_or_say_what_they_need() {
    let (mut executed, mut needing) = (0, 0);
    for (name, source) in modules() {
        let module = read(&source).unwrap();
        for function in module.functions() {
            let mut placement = Placement::for_function(&module, function).unwrap();
            for index in module.declarations_with_ids() {
                placement.set_parameter(index.0, &[0x80; 8]);
            }
            let environment = placement.into_environment(Machine::default()).unwrap();
            for step in environment.run(function, &mut RegisterFile::new()) {
                match step.result.map_err(|error| error.kind) {
                    Ok(_) => executed += 1,
                    Err(RunErrorKind::NoValue { .. }) => needing += 1,
                    Err(other) => panic!("{name} {other}"),
                }
            }
        }
    }
    // Loads of parameters and variables execute; addresses that are computed are not known.
    assert!(executed > 100 && needing > 100, "{executed} executed, {needing} without a value");
}
