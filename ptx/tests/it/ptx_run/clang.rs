//! Modules that a compiler wrote: every load of every function is executed, or says what it needs.

use std::collections::BTreeSet;
use std::convert::Infallible;

use warpload::machine::Machine;
use warpload_ptx::read;
use warpload_ptx::run::{Launch, LaunchStep, RunErrorKind};
use warpload_ptx::syntax::StateSpace;

use crate::compiled::modules;

#[test]
fn loads_of_compiled_modules_execute_or_say_what_they_need() {
    let (mut executed, mut needing) = (0, 0);
    for (name, source) in modules() {
        let module = read(&source).unwrap();
        for function in module.functions() {
            let mut launch = Launch::default();
            launch.function = Some(module.text(function.name).to_owned());
            let all = module.declarations().iter();
            let parameters = all.filter(|known| known.space == StateSpace::Param);
            let own = |name: &&str| !module.variables_named(Some(function), name).is_empty();
            let names = parameters.map(|known| module.text(known.name)).filter(own);
            for name in names.collect::<BTreeSet<_>>() {
                launch = launch.parameter(name, "0x40");
            }
            let Ok(mut run) = launch.prepare(&module, Machine::default()) else { continue };
            let each = run.each(|step| {
                match step {
                    LaunchStep::Executed { .. } => executed += 1,
                    LaunchStep::Failed { error, .. } => match &error.kind {
                        RunErrorKind::NoValue { .. } => needing += 1,
                        other => panic!("{name} {other}"),
                    },
                    LaunchStep::Illegal { verdict, .. } => panic!("{name} {verdict:?}"),
                    _ => {}
                }
                Ok::<(), Infallible>(())
            });
            each.unwrap();
        }
    }
    // Loads of parameters and variables execute; addresses that are computed are not known.
    assert!(executed > 100 && needing > 100, "{executed} executed, {needing} without a value");
}
