//! Questions of `ptx-execute` with a `grid`. The answer is the memory after the launch of a kernel.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpload::json::{self, JsonError};
use warpload_ptx::launch::{AllocationUse, DeviceMemory, Kernel, KernelLaunch};
use warpload_ptx::read;

use super::family::{CaseAnswer, CaseExpectation, Uncomparable};
use crate::json::values::{HexBytes, digits};
use crate::text::difference;

/// A kernel and its launch. Other keys are ignored.
#[derive(Deserialize)]
struct LaunchQuestion<'q> {
    #[serde(borrow)]
    module: Cow<'q, str>,
    #[serde(default)]
    function: Option<String>,
    grid: [u32; 3],
    block: [u32; 3],
    #[serde(default)]
    shared_bytes: u64,
    #[serde(default)]
    arguments: Vec<LaunchArgument>,
}

/// A parameter of a kernel: the address of a buffer, or a value.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum LaunchArgument {
    /// A buffer with these bytes.
    Buffer(HexBytes),
    /// A buffer of this many zeros.
    Zeros(usize),
    /// The bytes of the parameter itself, little-endian.
    Value(HexBytes),
}

/// The answer to a launch.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchAnswer {
    /// The buffers that the launch changed, by argument number.
    buffers: BTreeMap<usize, HexBytes>,
    /// The number of failed accesses, counted for each lane.
    faults: u64,
}

/// The limit on the zeros in all buffers of a launch. An answer could not contain more, because its line has at most 1
/// MiB.
const MAX_ZEROS: usize = 1 << 19;

/// The limit on warp instructions of a launch, so that an endless loop gets an answer, too.
const MAX_STEPS: u64 = 1 << 22;

impl LaunchQuestion<'_> {
    /// Replaces zeros by buffers. Checks the limit first, because a question must not make us allocate without bound.
    fn fill(&mut self) -> Result<(), JsonError> {
        let mut room = MAX_ZEROS;
        for (number, argument) in self.arguments.iter_mut().enumerate() {
            let LaunchArgument::Zeros(bytes) = *argument else { continue };
            room = room.checked_sub(bytes).ok_or_else(|| {
                let message = format!("more than {MAX_ZEROS} zeros in all");
                JsonError::at(format!("arguments[{number}].zeros"), message)
            })?;
            *argument = LaunchArgument::Buffer(HexBytes(vec![0; bytes]));
        }
        Ok(())
    }

    /// The buffers before the launch, by argument number. Called after [`Self::fill`].
    fn buffers(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.arguments.iter().enumerate().filter_map(|(number, argument)| match argument {
            LaunchArgument::Buffer(bytes) => Some((number, &*bytes.0)),
            LaunchArgument::Zeros(_) | LaunchArgument::Value(_) => None,
        })
    }

    fn read(text: &str) -> Result<LaunchQuestion<'_>, JsonError> {
        let mut question: LaunchQuestion<'_> = json::from_str(text)?;
        question.fill()?;
        Ok(question)
    }
}

/// Compares two answers. Either may leave out unchanged buffers, like unchanged registers of a vector.
pub(super) fn compare(
    expected: &CaseExpectation<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    let question = LaunchQuestion::read(expected.case).map_err(Uncomparable::Case)?;
    let ours: LaunchAnswer = json::from_str(expected.answer).map_err(Uncomparable::Expected)?;
    let theirs: LaunchAnswer = json::from_str(answer).map_err(Uncomparable::Answer)?;
    let before: BTreeMap<usize, &[u8]> = question.buffers().collect();
    let check = |answer: &LaunchAnswer| {
        let other = answer.buffers.keys().find(|number| !before.contains_key(number));
        other.map_or(Ok(()), |number| {
            Err(JsonError::at(format!("buffers.{number}"), "no argument that is a buffer"))
        })
    };
    check(&ours).map_err(Uncomparable::Expected)?;
    check(&theirs).map_err(Uncomparable::Answer)?;
    let mut differences = Vec::new();
    for (number, before) in before {
        let [ours, theirs] = [&ours, &theirs]
            .map(|answer| answer.buffers.get(&number).map_or(before, |bytes| &bytes.0));
        if ours.len() != theirs.len() {
            let [ours, theirs] = [ours, theirs].map(|bytes| format!("{} bytes", bytes.len()));
            differences.push(difference(&format!("buffers.{number}"), &ours, &theirs));
            continue;
        }
        let words = ours.chunks(4).zip(theirs.chunks(4)).enumerate();
        for (word, (ours, theirs)) in words.filter(|(_, (ours, theirs))| ours != theirs) {
            let place = format!("buffers.{number} at byte {}", 4 * word);
            differences.push(difference(&place, &digits(ours), &digits(theirs)));
        }
    }
    if ours.faults != theirs.faults {
        differences.push(difference(&"faults", &ours.faults, &theirs.faults));
    }
    Ok(differences)
}

pub(super) fn answer(question: &str) -> Result<CaseAnswer, JsonError> {
    let question = LaunchQuestion::read(question)?;
    let failed =
        |error: &dyn ToString| JsonError { key: None, position: None, message: error.to_string() };
    let module = read(&question.module).map_err(|error| failed(&error.kind))?;
    let kernel = Kernel::chosen(&module, question.function.as_deref());
    let kernel = kernel.map_err(|error| failed(&error))?;
    let mut launch =
        KernelLaunch::new(question.grid, question.block).shared_bytes(question.shared_bytes);
    launch.options.steps = MAX_STEPS;
    let mut memory = DeviceMemory::new();
    let mut addresses = BTreeMap::new();
    for (number, argument) in question.arguments.iter().enumerate() {
        if let LaunchArgument::Value(bytes) = argument {
            launch = launch.parameter(&bytes.0);
        }
        if let LaunchArgument::Buffer(bytes) = argument {
            let address = memory.allocate(bytes.0.clone(), AllocationUse::Argument(number));
            let address = address.map_err(|error| failed(&error))?;
            addresses.insert(number, address);
            launch = launch.parameter(&address.to_le_bytes());
        }
    }
    let result = kernel.run(&launch, &mut memory, None).map_err(|error| failed(&error))?;
    if let Some(skipped) = result.skipped.first() {
        let reason = format!("line {}: `{}` is not executed", skipped.at.line(), skipped.text);
        return Ok(CaseAnswer::Skip(reason));
    }
    // Unknown bytes hold some value here, which is no answer.
    if let Some(unknown) = result.unknown.first() {
        let (bytes, cause) = (unknown.bytes, &unknown.cause);
        let reason = format!("{}: {bytes} unknown bytes: {cause}", unknown.purpose);
        return Ok(CaseAnswer::Skip(reason));
    }
    let changed = question.buffers().filter_map(|(number, before)| {
        let after = memory.bytes(*addresses.get(&number)?)?;
        (after != before).then(|| (number, HexBytes(after.to_vec())))
    });
    let answer = LaunchAnswer { buffers: changed.collect(), faults: result.fault_count };
    Ok(CaseAnswer::new(&answer))
}
