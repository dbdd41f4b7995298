//! Launches a kernel of a cubin: `launch FILE --function NAME --grid X,Y,Z --block X,Y,Z --arg VALUE --dump INDEX=FILE`,
//! with `--check LIST` of [`Checks`].

#![expect(clippy::print_stderr, reason = "a program")]

use std::collections::HashMap;

use warpload_machine::{AllocationUse, Checks, DeviceMemory, FaultKind, Site};
use warpload_sass::{SassLaunch, SassProgram};

fn dimensions(text: &str) -> Result<[u32; 3], Box<dyn std::error::Error>> {
    let mut sizes = [1; 3];
    for (size, part) in sizes.iter_mut().zip(text.split(',')) {
        *size = part.parse()?;
    }
    Ok(sizes)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "ptx" && word != "run");
    let file = arguments.next().ok_or("a cubin")?;
    let (mut grid, mut block, mut shared, mut function) = ([1; 3], [32, 1, 1], 0, None);
    let (mut values, mut dumps) = (Vec::new(), Vec::new());
    let mut checks = Checks::default();
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or("a value")?;
        match &*option {
            "--function" => function = Some(value),
            "--grid" => grid = dimensions(&value)?,
            "--block" => block = dimensions(&value)?,
            "--shared-bytes" => shared = value.parse()?,
            "--arg" => values.push(value),
            "--dump" => dumps.push(value),
            "--check" => checks = value.parse()?,
            _ => return Err(option.into()),
        }
    }
    let mut program = SassProgram::new(std::fs::read(&file)?)?;
    let mut memory = DeviceMemory::new();
    program.load(&mut memory)?;
    let kernel = program.kernel(function.as_deref())?;
    let mut launch = SassLaunch::new(grid, block);
    launch.options.shared_bytes = shared;
    launch.options.checks = checks;
    let (mut parameters, mut buffers) = (Vec::new(), HashMap::new());
    for (number, value) in values.iter().enumerate() {
        let bytes = match value.split_once(':') {
            _ if value.starts_with('@') => Some(std::fs::read(&value[1..])?),
            Some(("zeros", bytes)) => Some(vec![0; bytes.parse()?]),
            _ => None,
        };
        parameters.push(match (bytes, value.strip_prefix("hex:")) {
            (Some(bytes), _) => {
                let address = memory.allocate(bytes, AllocationUse::Argument(number))?;
                buffers.insert(number, address);
                address.to_le_bytes().to_vec()
            }
            (None, Some(digits)) => (0..digits.len() / 2)
                .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16))
                .collect::<Result<_, _>>()?,
            (None, None) => return Err(value.clone().into()),
        });
    }
    launch.parameters = parameters;
    let (outcome, lowered) = program.launch(kernel, &launch, &mut memory, None, None)?;
    let place = |site: Site| lowered.addresses.get(site.0 as usize).copied().unwrap_or(0);
    let text = |site: Site| {
        let address = place(site);
        let text = program.instruction(address).map(|one| one.text_at(address).to_string());
        format!("{address:#x} {}", text.unwrap_or_default())
    };
    for (site, count) in outcome.skipped.iter().take(5) {
        eprintln!("not executed ({count}): {}", text(*site));
    }
    for fault in outcome.faults.iter().take(5) {
        let what = match &fault.kind {
            FaultKind::Scoreboard { other, fault } => {
                fault.text(&format!("at {:#x}", place(*other)))
            }
            kind => format!("{kind:?}, {:#x}", fault.address),
        };
        eprintln!("{} at {}: {what}", fault.kind.name(), text(fault.site));
    }
    for dump in dumps {
        let (number, path) = dump.split_once('=').ok_or("INDEX=FILE")?;
        let address = buffers.get(&number.parse()?).ok_or("a buffer")?;
        std::fs::write(path, memory.bytes(*address).unwrap_or_default())?;
    }
    if !outcome.faults.is_empty() || !outcome.skipped.is_empty() {
        return Err(format!("{:?}: {} faults", outcome.end, outcome.fault_count).into());
    }
    Ok(())
}
