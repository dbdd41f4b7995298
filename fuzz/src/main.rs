//! Feeds files, and simple mutants of them, to the targets; `--help` says how.

mod arguments;

use std::fs;
use std::io::Result;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use arguments::Arguments;
use clap::Parser;
use warpload_fuzz::mutate::{Random, mutant};
use warpload_fuzz::seeds::{Seed, read};
use warpload_fuzz::targets::{TARGETS, Target};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether each target held for each of its inputs.
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
        if let Some(folder) = &arguments.write_seeds {
            write(&folder.join(target.name), &inputs)?;
            continue;
        }
        let runner = Runner::new(target, &arguments.failures)?;
        all_held &= runner.all(&inputs, arguments)?;
    }
    Ok(all_held)
}

/// Writes inputs as the files of a libFuzzer corpus.
fn write(folder: &Path, inputs: &[Seed]) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (i, input) in inputs.iter().enumerate() {
        fs::write(folder.join(format!("seed-{i:04}")), &input.bytes)?;
    }
    println!("{}: {} inputs", folder.display(), inputs.len());
    Ok(())
}

/// A target, and the file for an input that fails it.
struct Runner<'t> {
    target: &'t Target,
    file: PathBuf,
}

impl<'t> Runner<'t> {
    fn new(target: &'t Target, failures: &Path) -> Result<Self> {
        fs::create_dir_all(failures)?;
        Ok(Self { target, file: failures.join(target.name) })
    }

    /// Runs all inputs and their mutants, up to the first that fails.
    fn all(&self, inputs: &[Seed], arguments: &Arguments) -> Result<bool> {
        let start = Instant::now();
        if arguments.keep {
            eprintln!("{}: the input is in {}", self.target.name, self.file.display());
        }
        for (which, input) in inputs.iter().enumerate() {
            if !self.holds(&input.bytes, &input.name, arguments.keep)? {
                return Ok(false);
            }
            for number in 0..arguments.mutations {
                let mut random = Random::new(arguments.seed, &[which as u64, number]);
                let name = format!("{}, mutant {number} of seed {}", input.name, arguments.seed);
                if !self.holds(&mutant(inputs, which, &mut random), &name, arguments.keep)? {
                    return Ok(false);
                }
            }
        }
        if arguments.keep && self.file.exists() {
            fs::remove_file(&self.file)?;
        }
        let (count, name) = (inputs.len(), self.target.name);
        let mutants = count as u64 * arguments.mutations;
        println!("{name}: {count} inputs, {mutants} mutants, {:.1?}", start.elapsed());
        Ok(true)
    }

    /// Runs an input, and writes it to the file if it fails; with `keep` before it runs, in case the
    /// process ends.
    fn holds(&self, input: &[u8], name: &str, keep: bool) -> Result<bool> {
        if keep {
            fs::write(&self.file, input)?;
        }
        let result = catch_unwind(AssertUnwindSafe(|| (self.target.run)(input)));
        if result.is_err() {
            fs::write(&self.file, input)?;
            let (target, file) = (self.target.name, self.file.display());
            eprintln!("{target}: does not hold for {name}; the input is in {file}");
        }
        Ok(result.is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuses_zeroes(input: &[u8]) {
        assert!(!input.contains(&0), "a zero");
    }

    const REFUSES_ZEROES: Target =
        Target { name: "refuses_zeroes", run: refuses_zeroes, aim: 0, sources: &[] };

    fn arguments(mutations: u64) -> Arguments {
        Arguments { mutations, keep: true, ..Arguments::parse_from([""]) }
    }

    fn seed(bytes: &[u8]) -> Vec<Seed> {
        vec![Seed { name: "a seed".to_owned(), bytes: bytes.to_vec() }]
    }

    #[test]
    fn an_input_that_fails_is_kept() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let runner = Runner::new(&REFUSES_ZEROES, folder.path())?;
        let arguments = arguments(0);
        assert!(runner.all(&seed(b"1"), &arguments)?);
        assert_eq!(fs::read_dir(folder.path())?.count(), 0);
        assert!(!runner.all(&seed(b"1\0x"), &arguments)?);
        assert_eq!(fs::read(folder.path().join("refuses_zeroes"))?, b"1\0x");
        Ok(())
    }

    #[test]
    fn a_mutant_that_fails_is_kept() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let runner = Runner::new(&REFUSES_ZEROES, folder.path())?;
        assert!(!runner.all(&seed(b"no zero"), &arguments(2000))?);
        let kept = fs::read(folder.path().join("refuses_zeroes"))?;
        assert!(kept.contains(&0), "{kept:?}");
        Ok(())
    }
}
