//! A replay's summary on a screen: the counts, then the program counters that waste most.

use super::name::{cell, plural, visible};
use warpload::trace::{Counts, Data, ProgramCounter, Replayed, Summary};

/// How many program counters are shown: with the counts they fill a screen of 24 lines.
const ROWS: usize = 8;
/// How many faults and mismatches are shown; JSON has more of them.
const LISTED: usize = 5;

pub(crate) fn text(summary: &Summary, replayed: &Replayed<'_>) -> String {
    let counts = &summary.counts;
    let mut text = always(counts);
    let options = replayed.options();
    text += &match options.get_data() {
        Data::Image(_) => "allocated   what the image names\n".to_owned(),
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
    text += &per_pc(replayed.program_counters().collect());
    text + &listed(summary)
}

/// The lines that every replay has.
fn always(counts: &Counts) -> String {
    let Counts { records, loads, skipped, lanes, bytes, .. } = counts;
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
fn not_replayed(counts: &Counts) -> String {
    let named: Vec<(&str, u64)> = counts.not_replayed().collect();
    if named.is_empty() { String::new() } else { format!("not replayed: {}\n", nonzero(&named)) }
}

/// The lines of what most replays do not have.
fn where_there_are_some(counts: &Counts) -> String {
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
    if counts.checked > 0 {
        text +=
            &format!("checked     {} loads, {} mismatches\n", counts.checked, counts.mismatches);
    }
    text
}

/// The first mismatches and faults.
fn listed(summary: &Summary) -> String {
    let mut text = String::new();
    if !summary.first_mismatches.is_empty() {
        text += "\nfirst mismatches\n";
    }
    for mismatch in summary.first_mismatches.iter().take(LISTED) {
        text += &format!(
            "record {} {}+{} lane {} register {}: expected {}, got {}\n",
            mismatch.record,
            cell(&mismatch.kernel),
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
            cell(&fault.kernel),
            fault.pc,
            fault.lane,
            fault.kind,
            fault.address
        );
    }
    text
}

/// The opcodes with most loads, as many as a line or two hold.
fn opcodes(counts: &Counts) -> String {
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

/// The program counters that touch most sectors beyond the ideal, worst first, with the SASS where
/// it is known.
fn per_pc(mut rows: Vec<ProgramCounter<'_>>) -> String {
    rows.sort_by(|one, other| other.waste().total_cmp(&one.waste()));
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    let instruction =
        |row: &ProgramCounter<'_>| row.sass().unwrap_or_else(|| cell(&row.summary.opcode));
    let shown: Vec<String> = rows.iter().map(instruction).collect();
    let width = shown.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(16);
    let mut text = format!(
        "\n      pc  {:<width$} {:>8}  lanes/load  sectors/load  ideal/load  kernel\n",
        "load", "loads"
    );
    for (counter, load) in rows.iter().zip(shown) {
        let row = &counter.summary;
        let loads = row.loads as f64;
        let sectors =
            |mean: f64| if counter.has_sectors() { format!("{mean:.2}") } else { "-".to_owned() };
        text += &format!(
            "{:>8}  {load:<width$} {:>8}  {:>10.1}  {:>12}  {:>10}  {}\n",
            row.pc.to_string(),
            row.loads,
            row.lanes as f64 / loads,
            sectors(row.sectors.mean),
            sectors(row.ideal_sectors as f64 / loads),
            cell(&row.kernel)
        );
        if let Some(source) = counter.source() {
            text += &format!("          {}:{}\n", cell(&source.file), source.line);
        }
    }
    if more > 0 {
        text += &format!("          and {more} more\n");
    }
    text
}
