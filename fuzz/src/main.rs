//! Passes files and simple mutants of them to the targets. `--help` describes the options.

mod arguments;

use std::fs;
use std::io::Result;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use arguments::Arguments;
use clap::Parser;
use warpload_fuzz::mutate::{Random, mutant};
use warpload_fuzz::seeds::{Seed, read, write_corpus};
use warpload_fuzz::targets::{TARGETS, Target};

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(held) => u8::from(!held).into(),
        Err(error) => {
            eprintln!("error: {error}");
            2.into()
        }
    }
}

/// Runs the targets. True if each of them held for all its inputs.
fn run(arguments: &Arguments) -> Result<bool> {
    let is_asked = |target: &&Target| arguments.target.as_deref().is_none_or(|n| n == target.name);
    let mut all_held = true;
    for target in TARGETS.iter().filter(is_asked) {
        let mut inputs = Vec::new();
        for path in &arguments.path {
            inputs.extend(read(path)?);
        }
        if arguments.path.is_empty() {
            inputs = target.seeds()?;
        }
        match &arguments.write_seeds {
            Some(folder) => {
                let folder = folder.join(target.name);
                write_corpus(&folder, &inputs)?;
                println!("{}: {} inputs", folder.display(), inputs.len());
            }
            None => all_held &= holds(target, &inputs, arguments)?,
        }
    }
    Ok(all_held)
}

/// Runs a target on all inputs and their mutants, up to the first failure. The failing input is then in a file named
/// after the target. With `keep`, every input is written there before it runs, because a crash may end the process.
fn holds(target: &Target, inputs: &[Seed], arguments: &Arguments) -> Result<bool> {
    let start = Instant::now();
    fs::create_dir_all(&arguments.failures)?;
    let (name, file) = (target.name, arguments.failures.join(target.name));
    for (which, seed) in inputs.iter().enumerate() {
        // Mutant 0 is the input itself.
        for number in 0..=arguments.mutations {
            let input = match number {
                0 => seed.bytes.clone(),
                _ => {
                    let numbers = [which as u64, number - 1];
                    mutant(inputs, which, &mut Random::new(arguments.seed, &numbers))
                }
            };
            if arguments.keep {
                fs::write(&file, &input)?;
            }
            if catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err() {
                fs::write(&file, &input)?;
                let (seed, file) = (&seed.name, file.display());
                eprintln!(
                    "{name}: does not hold for {seed}, mutant {number}; the input is in {file}"
                );
                return Ok(false);
            }
        }
    }
    if arguments.keep && file.exists() {
        fs::remove_file(&file)?;
    }
    let (count, mutants) = (inputs.len(), inputs.len() as u64 * arguments.mutations);
    println!("{name}: {count} inputs, {mutants} mutants, {:.1?}", start.elapsed());
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSES_ZEROES: Target = Target {
        name: "refuses_zeroes",
        run: |input| assert!(!input.contains(&0), "a zero"),
        sources: "",
    };

    /// Whether the target held for an input and its mutants, and the input that was kept.
    fn kept(input: &[u8], mutations: u64) -> Result<(bool, Option<Vec<u8>>)> {
        let folder = tempfile::tempdir()?;
        let failures = folder.path().to_owned();
        let arguments =
            Arguments { mutations, keep: true, failures, ..Arguments::parse_from([""]) };
        let seed = Seed { name: "a seed".to_owned(), bytes: input.to_vec() };
        let held = holds(&REFUSES_ZEROES, &[seed], &arguments)?;
        Ok((held, fs::read(folder.path().join("refuses_zeroes")).ok()))
    }

    #[test]
    fn an_input_that_fails_is_kept() -> Result<()> {
        assert_eq!(kept(b"1", 0)?, (true, None));
        assert_eq!(kept(b"1\0x", 0)?, (false, Some(b"1\0x".to_vec())));
        Ok(())
    }

    #[test]
    fn a_mutant_that_fails_is_kept() -> Result<()> {
        let (held, kept) = kept(b"no zero", 2000)?;
        assert!(!held && kept.is_some_and(|kept| kept.contains(&0)));
        Ok(())
    }
}
