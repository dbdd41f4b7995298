//! `cargo xtask oracle`: compares fresh words with NVIDIA's disassembler.

use std::fs::File;
use std::io::BufReader;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use clap::Args;
use warpload::encoding::{Decoded128, Instruction128, Sm};
use warpload_binary::sass;
use warpload_oracle::{Nvdisasm, TARGETS, run_wide};

use crate::metadata::Metadata;
use crate::nvdisasm;
use crate::step::Failed;

#[derive(Args)]
pub(crate) struct Arguments {
    /// How many words to compare, all instructions together
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    words: usize,
    /// The seed of the words, as printed by an earlier run; a new one each time if omitted
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Compare the 128-bit words of these SMs instead, `80,90,120`, or `all` that nvdisasm knows:
    /// that many words of each
    #[arg(long, value_name = "SM", value_delimiter = ',')]
    sm: Vec<String>,
}

/// Runs the comparison, which fails if a word differs.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.words >= TARGETS.len(), "--words: expected at least one word an instruction");
    let nvdisasm = match Nvdisasm::from_env() {
        Some(nvdisasm) => nvdisasm,
        None => nvdisasm::fetch(&Metadata::workspace()?.target()?.join("oracle"))?,
    };
    if !arguments.sm.is_empty() {
        return wide(&nvdisasm, arguments);
    }
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let seed = arguments.seed.unwrap_or_else(now);
    println!("nvdisasm {}, {}, --seed {seed}", nvdisasm.release()?, names.join(" "));

    let report = warpload_oracle::run(&nvdisasm, arguments.words, seed)?;
    println!("{report}");
    ensure!(report.differences == 0, Failed::SHOWN);
    Ok(())
}

/// The low bits of the time differ from run to run.
fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos() as u64)
}

/// Compares words of 128 bits.
fn wide(nvdisasm: &Nvdisasm, arguments: &Arguments) -> Result<()> {
    let seed = arguments.seed.unwrap_or_else(now);
    let all = arguments.sm.iter().any(|name| name == "all");
    let sms: Vec<Sm> = if all {
        let known = Sm::all().filter(|sm| sm.has_wide_words());
        known.filter(|sm| nvdisasm.disassemble_wide(&[NOP], *sm).is_ok()).collect()
    } else {
        let named = arguments.sm.iter().map(|name| Ok(name.parse::<Sm>()?));
        named.collect::<Result<_>>()?
    };
    println!("nvdisasm {}, {} words an SM, --seed {seed}", nvdisasm.release()?, arguments.words);
    let compiled = compiled()?;
    let mut differences = 0;
    for sm in sms {
        ensure!(sm.has_wide_words(), "SM {sm} has words of 64 bits; omit --sm");
        // Words of another group of SMs are as good: most mean something.
        let report = run_wide(nvdisasm, sm, arguments.words, seed, &compiled)?;
        println!("SM {sm}: {report}");
        differences += report.differences;
    }
    ensure!(differences == 0, Failed::SHOWN);
    Ok(())
}

const NOP: u128 = 0x000f_c000_0000_0000_0000_0000_0000_7918;

/// Returns the loads of the compiled code among the tests' data.
fn compiled() -> Result<Vec<u128>> {
    let folder = Metadata::workspace()?.root()?.join("tests/data/listings128");
    let mut words = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "cubin") {
            continue;
        }
        let file = BufReader::new(File::open(&path)?);
        for instruction in sass::read(file, sass::Format::Detect)? {
            let instruction = instruction?;
            let word = instruction.word.and_then(|word| word.wide()).zip(instruction.sm);
            if let Some((word, sm)) = word
                && matches!(Instruction128::decode(word, sm), Decoded128::Load(_))
            {
                words.push(word);
            }
        }
    }
    words.sort_unstable();
    words.dedup();
    Ok(words)
}
