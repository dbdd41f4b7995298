//! A replay's summary on a screen: the counts, then the program counters that waste most.

use std::io::{self, Write};

use super::name::{cell, plural, visible};
use super::rows::{self, PcRows, Sort};
use super::table::{self, Column};
use warpload_binary::names::Demangled;
use warpload_replay::{LoadCounts, ReplayData, Replayed, ReuseCounts, Summary, TrafficCounts};

/// How many rows tables have unless told otherwise: with the counts they fill a screen of 24 lines.
const ROWS: usize = 8;
/// How many faults and mismatches are shown; JSON has more of them.
const LISTED: usize = 5;

/// How tables are shaped.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) sort: Sort,
    pub(crate) top: Option<usize>,
}

pub(crate) fn text(
    summary: &Summary,
    replayed: &Replayed<'_>,
    demangled: &Demangled,
    shape: Shape,
) -> String {
    let counts = &summary.counts;
    let mut text = always(counts);
    if let Some(selected) = &summary.selected {
        text += &format!("selected    {}\n", visible(&selected.to_string()));
    }
    let options = replayed.options();
    text += &match options.get_data() {
        ReplayData::Image(_) => "allocated   what the image names\n".to_owned(),
        _ => format!("allocated   every address below 2^{}\n", options.get_address_bits()),
    };
    text += &where_there_are_some(counts);
    match &summary.digest {
        Some(digest) => text += &format!("digest      {digest}\n"),
        None => text += "digest      none: there were no data (--image or --fill)\n",
    }
    for note in &summary.notes {
        text += &format!("note        {}\n", visible(note));
    }
    let mut loads = rows::program_counters(replayed, demangled).loads;
    rows::sort_program_counters(&mut loads, shape.sort);
    text += &shaped(&rows::pc_columns(), loads, shape.top);
    let mut kernels = rows::kernels(summary);
    if kernels.len() > 1 {
        rows::sort_kernels(&mut kernels, shape.sort);
        text += &shaped(&rows::kernel_columns(), kernels, shape.top);
    }
    text + &listed(summary, demangled)
}

/// Writes the table by program counter as CSV, with rows of loads, stores, atomics and copies.
pub(crate) fn csv(
    replayed: &Replayed<'_>,
    demangled: &Demangled,
    shape: Shape,
    to: &mut dyn Write,
) -> io::Result<()> {
    let PcRows { loads: mut rows, others } = rows::program_counters(replayed, demangled);
    rows.extend(others);
    rows::sort_program_counters(&mut rows, shape.sort);
    rows.truncate(shape.top.unwrap_or(usize::MAX));
    rows::pc_csv(&rows, to)
}

/// Returns the first rows as a table, and how many more there are.
fn shaped<R>(columns: &[Column<R>], mut rows: Vec<R>, top: Option<usize>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let top = top.unwrap_or(ROWS);
    let more = rows.len().saturating_sub(top);
    rows.truncate(top);
    let mut text = format!("\n{}", table::text(columns, &rows));
    if more > 0 {
        text += &format!("          and {more} more\n");
    }
    text
}

/// The lines that every replay has.
fn always(counts: &LoadCounts) -> String {
    let LoadCounts { records, loads, skipped, lanes, bytes, .. } = counts;
    let mut text = format!(
        "{records} instructions: {loads} loads, {} stores, {} atomics, {} others\n",
        skipped.store, skipped.atomic, skipped.other
    );
    text += &not_replayed(counts);
    text += &format!("{lanes} lanes asked for {bytes} bytes\n\n");
    text += &format!("opcodes     {}\n", opcodes(counts));
    let space = &counts.by_space;
    let spaces = [
        ("global", space.global),
        ("local", space.local),
        ("shared", space.shared),
        ("constant", space.constant),
        ("unresolved", space.unresolved),
    ];
    text += &format!("memories    {}\n", nonzero(&spaces));
    text += &format!(
        "global      {} sectors of 32 bytes, {} lines of 128; ideal {} sectors{}\n",
        counts.sectors,
        counts.lines,
        counts.ideal_sectors,
        ratio(counts.ideal_sectors, counts.sectors)
    );
    text += &other_memories(counts);
    text += &stores(counts);
    text += &copies(counts);
    text += &format!(
        "footprint   {} of 4 KiB, {}\n",
        plural(counts.footprint.pages, "page"),
        plural(counts.footprint.lines, "line")
    );
    let faults = &counts.lane_faults;
    let faults = [
        ("outside_window", faults.outside_window),
        ("outside_allocation", faults.outside_allocation),
        ("misaligned_address", faults.misaligned_address),
    ];
    text += &format!("lane faults {}\n", nonzero(&faults));
    text
}

/// The instructions that read memory but are not replayed, if there are any.
fn not_replayed(counts: &LoadCounts) -> String {
    let mut text = String::new();
    let named: Vec<(&str, u64)> = counts.not_replayed().collect();
    if !named.is_empty() {
        text += &format!("not replayed: {}\n", nonzero(&named));
    }
    if let Some(tma) = counts.tma.filter(|tma| tma.records > 0) {
        text += &format!(
            "TMA: {} with {} addresses moved {} bytes\n",
            plural(tma.records, "instruction"),
            tma.addresses,
            tma.bytes
        );
    }
    text
}

/// What loads of shared, local and constant memory cost.
fn other_memories(counts: &LoadCounts) -> String {
    let mut text = String::new();
    let shared = &counts.shared;
    if shared.loads > 0 {
        text += &format!(
            "shared      {} wavefronts; ideal {}{}, {} are bank conflicts\n",
            shared.wavefronts,
            shared.ideal_wavefronts,
            ratio(shared.ideal_wavefronts, shared.wavefronts),
            shared.conflicts
        );
    }
    let local = &counts.local;
    if local.loads > 0 {
        text += &format!(
            "local       {} sectors of 32 bytes; ideal {} sectors{}\n",
            local.sectors,
            local.ideal_sectors,
            ratio(local.ideal_sectors, local.sectors)
        );
    }
    let constant = &counts.constant;
    if constant.loads > 0 {
        text += &format!(
            "constant    {} addresses in {}\n",
            constant.addresses,
            plural(constant.loads, "load")
        );
    }
    text
}

/// What stores and atomics cost in global memory.
fn stores(counts: &LoadCounts) -> String {
    let mut text = String::new();
    for (name, traffic) in [("stores", counts.stores), ("atomics", counts.atomics)] {
        let Some(TrafficCounts { lanes, bytes, sectors, ideal_sectors, .. }) =
            traffic.filter(|traffic| traffic.count > 0)
        else {
            continue;
        };
        text += &format!(
            "{name:<11} {lanes} lanes, {bytes} bytes; {sectors} global sectors, ideal {ideal_sectors}{}\n",
            ratio(ideal_sectors, sectors)
        );
    }
    text
}

/// What copies from global to shared memory cost on either side, as far as the trace has it.
fn copies(counts: &LoadCounts) -> String {
    let Some(copies) = counts.ldgsts.filter(|copies| copies.records > 0) else {
        return String::new();
    };
    let mut costs = Vec::new();
    if let (Some(bytes), Some(sectors), Some(ideal)) =
        (copies.bytes.0, copies.sectors.0, copies.ideal_sectors.0)
    {
        let ratio = ratio(ideal, sectors);
        costs.push(format!("{bytes} bytes; {sectors} global sectors, ideal {ideal}{ratio}"));
    }
    if let (Some(wavefronts), Some(conflicts)) = (copies.wavefronts.0, copies.conflicts.0) {
        costs.push(format!("{wavefronts} shared wavefronts, {conflicts} are bank conflicts"));
    }
    if costs.is_empty() { String::new() } else { format!("copies      {}\n", costs.join("; ")) }
}

/// The lines of what most replays do not have.
fn where_there_are_some(counts: &LoadCounts) -> String {
    let mut text = String::new();
    let uniform = &counts.uniform;
    if uniform.broadcast + uniform.divergent > 0 {
        text += &format!(
            "uniform     {} broadcast, {} divergent\n",
            uniform.broadcast, uniform.divergent
        );
    }
    if counts.width_disagreements > 0 {
        text += &format!(
            "widths      {} loads whose width in the trace was not the opcode's\n",
            counts.width_disagreements
        );
    }
    if counts.unattributable > 0 {
        text += &format!(
            "lanes       of {} are unknown: not executed\n",
            plural(counts.unattributable, "load")
        );
    }
    if counts.checked > 0 {
        text += &format!("checked     {} loads, {} mismatches", counts.checked, counts.mismatches);
        text += &format!(
            "; {} values, {} of them differ\n",
            counts.checked_words, counts.mismatched_words
        );
    } else if counts.valued_loads > 0 {
        text += &format!(
            "values      in the trace for {}, not compared\n",
            plural(counts.valued_loads, "load")
        );
    }
    if let Some(reuse) = &counts.reuse {
        text += &format!("reuse       {}\n", reuse_in_words(reuse));
    }
    text
}

/// How many touches of lines are first ones, and for the others the loads since the touch before.
fn reuse_in_words(reuse: &ReuseCounts) -> String {
    let range = |bound: u64| match bound {
        0..=2 => bound.to_string(),
        _ => format!("{}..{bound}", bound / 2 + 1),
    };
    let again =
        reuse.buckets.iter().map(|(bound, touches)| format!("{}: {touches}", range(*bound)));
    let again: Vec<String> = again.collect();
    let again = if again.is_empty() {
        "no other".to_owned()
    } else {
        format!("loads since the one before: {}", again.join(", "))
    };
    format!("{} first touches of lines; {again}", reuse.cold)
}

/// The first mismatches and faults.
fn listed(summary: &Summary, demangled: &Demangled) -> String {
    let mut text = String::new();
    if !summary.first_mismatches.is_empty() {
        text += "\nfirst mismatches\n";
    }
    for mismatch in summary.first_mismatches.iter().take(LISTED) {
        text += &format!(
            "record {} {}+{} lane {} register {}: expected {}, got {}\n",
            mismatch.record,
            cell(demangled.or_name(&mismatch.kernel)),
            mismatch.pc,
            mismatch.lane,
            mismatch.register,
            mismatch.expected,
            mismatch.got
        );
    }
    if !summary.first_faults.is_empty() {
        text += "\nfirst lane faults\n";
    }
    for fault in summary.first_faults.iter().take(LISTED) {
        text += &format!(
            "record {} {}+{} lane {}: {} at {}\n",
            fault.record,
            cell(demangled.or_name(&fault.kernel)),
            fault.pc,
            fault.lane,
            fault.kind,
            fault.address
        );
    }
    text
}

/// The opcodes with most loads, as many as a line or two hold.
fn opcodes(counts: &LoadCounts) -> String {
    let mut opcodes: Vec<(&str, u64)> =
        counts.by_opcode.iter().map(|(opcode, loads)| (&**opcode, *loads)).collect();
    opcodes.sort_by_key(|(_, loads)| std::cmp::Reverse(*loads));
    let more = opcodes.len().saturating_sub(ROWS);
    opcodes.truncate(ROWS);
    nonzero(&opcodes) + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

fn nonzero(counts: &[(&str, u64)]) -> String {
    let shown: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{} {count}", cell(name)))
        .collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

fn ratio(ideal: u64, sectors: u64) -> String {
    if sectors == 0 {
        return String::new();
    }
    format!(" ({:.0} %)", 100.0 * ideal as f64 / sectors as f64)
}
