//! Feeds inputs to the [`targets`]. `--help` describes the options. Built by cargo-fuzz it is a program of libFuzzer
//! instead, for the target that the variable `WARPLOAD_FUZZ` names.
#![cfg_attr(fuzzing, no_main, allow(dead_code, unused_imports, reason = "libFuzzer is the runner"))]

mod mutate;
mod seeds;
mod targets;
mod worker;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Parser;
use clap::builder::PossibleValuesParser;
use fastrand::Rng;
use mutate::mutant;
use seeds::{Seed, read, read_file, repository};
use targets::{TARGETS, Target};
use worker::{Worker, work};

/// Feeds files to the targets: properties of warpload that hold for any input
///
/// Exit status 1 if an input fails a target; the input is then in target/failures/, in a file named after the target.
#[derive(Parser)]
#[command(bin_name = "cargo xtask fuzz", max_term_width = 100)]
struct Arguments {
    /// The target to run; all if omitted
    #[arg(value_parser = PossibleValuesParser::new(TARGETS.iter().map(|target| target.name)))]
    target: Option<String>,
    /// Files to run instead of the target's seeds
    file: Vec<PathBuf>,
    /// Also run N mutants of each input
    #[arg(long, value_name = "N", default_value_t = 0)]
    mutations: u64,
    /// Run other mutants
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Address space of a target in MiB, on Linux
    #[arg(long, value_name = "N", default_value_t = 2048)]
    memory: u64,
    /// Time for an input in seconds
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// Write the inputs to FOLDER/TARGET/ as a corpus for libFuzzer, and run nothing
    #[arg(long, value_name = "FOLDER")]
    write_seeds: Option<PathBuf>,
    /// Run the target on inputs from standard input
    #[arg(long, hide = true)]
    worker: bool,
}

#[cfg(fuzzing)]
static NAMED: std::sync::LazyLock<&Target> = std::sync::LazyLock::new(|| {
    let name = std::env::var("WARPLOAD_FUZZ").unwrap_or_default();
    let target = TARGETS.iter().find(|target| target.name == name);
    target.unwrap_or_else(|| panic!("WARPLOAD_FUZZ={name}: no such target"))
});

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(
    init: std::sync::LazyLock::force(&NAMED),
    |input: &[u8]| (NAMED.run)(input)
);

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let name = arguments.target.as_deref();
    let mut all_held = true;
    for target in TARGETS.iter().filter(|target| name.is_none_or(|name| name == target.name)) {
        if arguments.worker {
            #[cfg(target_os = "linux")]
            worker::limit_memory(arguments.memory << 20)?;
            work(target.run)?;
            continue;
        }
        let inputs = if arguments.file.is_empty() {
            read(target.sources)?
        } else {
            arguments.file.iter().map(|file| read_file(file)).collect::<Result<_>>()?
        };
        match &arguments.write_seeds {
            Some(folder) => write(&folder.join(target.name), &inputs)?,
            None => all_held &= holds(target, &inputs, &arguments)?,
        }
    }
    Ok(u8::from(!all_held).into())
}

fn write(folder: &Path, inputs: &[Seed]) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (number, input) in inputs.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:04}")), &input.bytes)?;
    }
    Ok(())
}

/// Runs a target on all inputs and their mutants. Stops at the first failure, and writes the failing input to a file, so
/// that it can be run again. Returns whether there was no failure.
fn holds(target: &Target, inputs: &[Seed], arguments: &Arguments) -> Result<bool> {
    let (name, memory) = (target.name, arguments.memory.to_string());
    let (start, time) = (Instant::now(), Duration::from_secs(arguments.seconds));
    let mut worker = Command::new(std::env::current_exe()?);
    worker.args([name, "--worker", "--memory", &memory]);
    let (mut worker, mut random) = (Worker::start(worker)?, Rng::with_seed(arguments.seed));
    for seed in inputs {
        // Mutant 0 is the input itself.
        for number in 0..=arguments.mutations {
            let input = match number {
                0 => seed.bytes.clone(),
                _ => mutant(seed, inputs, &mut random),
            };
            if let Err(end) = worker.run(&input, time) {
                let folder = repository().join("target/failures");
                fs::create_dir_all(&folder)?;
                let (file, seed) = (folder.join(name), &seed.name);
                fs::write(&file, &input)?;
                let file = file.display();
                eprintln!("{name}: {end}: {seed}, mutant {number}; the input is in {file}");
                return Ok(false);
            }
        }
    }
    worker.end()?;
    let (count, mutants) = (inputs.len(), inputs.len() as u64 * arguments.mutations);
    println!("{name}: {count} inputs, {mutants} mutants, {:.1?}", start.elapsed());
    Ok(true)
}
