use warpload::encoding::Sm;
use warpload_binary::sass::{Format, Functions, read, read_raw};

/// The number of functions of an input that are looked up.
const MAX_FUNCTIONS: usize = 4;

/// Any bytes are refused, or are SASS with no more instructions than bytes. In a cubin, any offset can be looked up.
pub(super) fn sass_does_not_panic(input: &[u8]) {
    let mut names = Vec::new();
    let wide = read_raw(input, 0, Sm::new(80));
    let sources = [read(input, Format::Detect), read(input, Format::Raw), wide];
    for instructions in sources.into_iter().flatten() {
        for (n, instruction) in instructions.enumerate() {
            assert!(n < input.len());
            let Ok(instruction) = instruction else { break };
            names.extend(instruction.function);
        }
    }
    let mut functions = Functions::default();
    if functions.add(input).is_ok() {
        names.dedup();
        for function in names.iter().take(MAX_FUNCTIONS).filter_map(|name| functions.get(name)) {
            let found = (0..=input.len() as u64).filter(|at| function.at(*at).is_some()).count();
            assert!(found <= input.len() / 8);
        }
    }
}
