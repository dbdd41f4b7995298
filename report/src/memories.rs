//! The panels of the memories: the cost of loads in [`global`], [`shared`], [`local`] and [`constant`] memory, the
//! banks of shared memory that they use, and the traffic of [`stores`].

use super::chart::{Bar, chart};
use super::html::{Context, LONG_NAME, Panel};
use super::rows::{conflicts, heaviest, ideal};
use super::table::{Cell, Column, PcTable, bar};
use super::text::{bytes, count, cut, of, per, percent};
use warpload_replay::{
    BANKS, KernelSummary, LocalCounts, PcSharedCounts, ProgramCounter, SectorSummary, TrafficCounts,
};

const GLOBAL_TABLE: PcTable = PcTable {
    id: "program-counters",
    caption: "Loads of global memory by program counter",
    space: "global",
    counts: ["loads", "lanes/load"],
    columns: &[
        ("mean", "sectors/load", |row| {
            let sectors = &row.summary.sectors;
            let bar = bar(ideal(row), sectors.mean, sectors.min, sectors.max);
            Cell::Shown(sectors.mean, format!("{:.2}{bar}", sectors.mean))
        }),
        ("ideal", "ideal", |row| Cell::Mean(ideal(row))),
        ("min", "min", |row| Cell::Count(row.summary.sectors.min)),
        ("max", "max", |row| Cell::Count(row.summary.sectors.max)),
        ("waste", "wasted sectors", |row| Cell::Count(row.waste().max(0.0).round() as u64)),
    ],
    sorted: "waste",
    weight: |row| row.waste(),
    heaviest: "that waste most sectors",
};

pub(crate) fn global(context: &Context<'_>) -> Panel {
    let (page, rows) = (context.page, &context.rows.global);
    let counts = &page.summary.counts;
    let mut body = format!(
        "<p class=\"note\">{} touched {}, and {} would do: efficiency {}.</p>\n",
        of(counts.by_space.global, "load"),
        of(counts.sectors, "sector"),
        count(counts.ideal_sectors),
        percent(counts.ideal_sectors, counts.sectors)
    );
    if context.kernels.is_none() {
        body += &sectors_chart(rows).unwrap_or_default();
    }
    if !rows.is_empty() {
        body += "<h3>Program counters</h3>\n";
        body += &GLOBAL_TABLE.html(rows, context);
    }
    if context.kernels.is_some() {
        body += &kernels_with_excess(context);
    }
    let title = "Global memory: sectors of loads";
    Panel { id: "global", tab: "Global", title, rows: Some(rows.len()), body }
}

fn sectors_chart(rows: &[ProgramCounter<'_>]) -> Option<String> {
    let bar = |row| Bar::new(row, row.summary.loads, row.summary.sectors, ideal(row));
    chart(&rows.iter().map(bar).collect::<Vec<_>>(), "sector")
}

/// The maximum number of kernels with a section of their own.
const MAX_SECTIONS: usize = 6;

/// A section for each of the busiest kernels.
fn kernels_with_excess(context: &Context<'_>) -> String {
    let kernels = context.page.summary.kernels.iter().enumerate();
    let loading: Vec<(usize, &KernelSummary)> =
        kernels.filter(|(_, kernel)| kernel.counts.loads > 0).collect();
    let mut html = String::new();
    if loading.len() > MAX_SECTIONS {
        html += &format!(
            "<p class=\"note\">Of {} with loads, the {MAX_SECTIONS} that touch most sectors follow one by \
             one.</p>\n",
            of(loading.len() as u64, "launch")
        );
    }
    let busiest = heaviest(&loading, MAX_SECTIONS, |(_, kernel)| kernel.counts.sectors as f64);
    for (kernel, KernelSummary { counts, .. }) in busiest {
        let number = kernel;
        html += &format!(
            "<section id=\"kernel-{number}\" data-k=\"{number}\"><h3>Kernel {number} <code>{}</code></h3>\n\
             <p class=\"note\">{}, {:.1} lanes per load; {}, efficiency {}; {}.</p>\n",
            context.name(kernel, LONG_NAME),
            of(counts.loads, "load"),
            per(counts.lanes, counts.loads),
            of(counts.sectors, "sector"),
            percent(counts.ideal_sectors, counts.sectors),
            of(counts.footprint.pages, "page")
        );
        let all = &context.rows.global;
        let own = all.partition_point(|row| row.kernel < kernel)
            ..all.partition_point(|row| row.kernel <= kernel);
        html += &sectors_chart(&all[own]).unwrap_or_default();
        html += "</section>\n";
    }
    html
}

const SHARED_TABLE: PcTable = PcTable {
    id: "shared-loads",
    caption: "Loads of shared memory by program counter",
    space: "shared",
    counts: ["loads", "lanes/load"],
    columns: &[
        ("mean", "wavefronts/load", |row| {
            wavefronts(row, |all, ideal| {
                let bar = bar(ideal, all.mean, all.min, all.max);
                Cell::Shown(all.mean, format!("{:.2}{bar}", all.mean))
            })
        }),
        ("ideal", "ideal", |row| wavefronts(row, |_, ideal| Cell::Mean(ideal))),
        ("min", "min", |row| wavefronts(row, |all, _| Cell::Count(all.min))),
        ("max", "max", |row| wavefronts(row, |all, _| Cell::Count(all.max))),
        ("conflicts", "bank conflicts", |row| Cell::Count(conflicts(row) as u64)),
    ],
    sorted: "conflicts",
    weight: conflicts,
    heaviest: "with most bank conflicts",
};

/// A cell with a row's wavefronts and the ideal.
fn wavefronts(row: &ProgramCounter<'_>, cell: fn(SectorSummary, f64) -> Cell) -> Cell {
    let cell = |shared: &PcSharedCounts| Some(cell(shared.wavefronts?, ideal_wavefronts(shared)));
    row.summary.shared.as_ref().and_then(cell).unwrap_or(Cell::Unknown)
}

fn ideal_wavefronts(shared: &PcSharedCounts) -> f64 {
    per(shared.ideal_wavefronts, shared.loads)
}

pub(crate) fn shared(context: &Context<'_>) -> Panel {
    let rows = &context.rows.shared;
    let shared = context.page.summary.counts.shared;
    let mut body = format!(
        "<p class=\"note\">{} took {}, and {} would do: {}.</p>\n",
        of(shared.loads, "load"),
        of(shared.wavefronts, "wavefront"),
        count(shared.ideal_wavefronts),
        of(shared.conflicts, "bank conflict")
    );
    if context.kernels.is_none() {
        let bars: Vec<Bar<'_>> = rows.iter().filter_map(wavefront_bar).collect();
        body += &chart(&bars, "wavefront").unwrap_or_default();
    }
    body += &bank_map(context).unwrap_or_default();
    if !rows.is_empty() {
        body += "<h3>Program counters</h3>\n";
    }
    let names = ["shared", "Shared", "Shared memory: wavefronts and bank conflicts"];
    SHARED_TABLE.panel(names, rows, body, context)
}

fn wavefront_bar<'r>(row: &'r ProgramCounter<'r>) -> Option<Bar<'r>> {
    let shared = row.summary.shared.as_ref()?;
    Some(Bar::new(row, shared.loads, shared.wavefronts?, ideal_wavefronts(shared)))
}

/// The maximum number of instructions with their banks.
const MAX_BANK_ROWS: usize = 16;

/// A table with a column for each bank and a row for each instruction, worst first; `None` without bank conflicts.
fn bank_map(context: &Context<'_>) -> Option<String> {
    let mut rows: Vec<_> = context.rows.all().filter(|row| conflicts(row) > 0.0).collect();
    if rows.is_empty() {
        return None;
    }
    let place = |row: &ProgramCounter<'_>| (row.kernel, row.pc);
    rows.sort_by(|one, other| {
        conflicts(other).total_cmp(&conflicts(one)).then(place(one).cmp(&place(other)))
    });
    rows.truncate(MAX_BANK_ROWS);
    let has_kernels = context.kernels.is_some();
    let mut html = "<h3>Banks of the worst instructions</h3>\n<figure class=\"banks\">\
        <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"banks-caption\">\
        <table id=\"banks\" data-s=\"shared\">\n<caption id=\"banks-caption\">Wavefronts in which each bank \
        serves a word, in percent</caption>\n<thead><tr>"
        .to_owned();
    if has_kernels {
        html += "<th scope=\"col\">kernel</th>";
    }
    html += "<th scope=\"col\" class=\"n\">pc</th><th scope=\"col\">opcode</th>\
             <th scope=\"col\" class=\"n\">wave&shy;fronts each</th><th scope=\"col\" class=\"n\">ideal</th>";
    for bank in 0..BANKS {
        html += &format!("<th scope=\"col\" class=\"bank\">{bank}</th>");
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += &bank_row(context, row, has_kernels).unwrap_or_default();
    }
    html += "</tbody></table></div>\n<figcaption>A bank at 100 serves a word in every wavefront. If a few \
             banks are high, lanes wait for these; if all are low, each access waits for another bank. \
             Shown are the loads, stores, atomics and copies with most bank conflicts.</figcaption></figure>\n";
    Some(html)
}

fn bank_row(context: &Context<'_>, row: &ProgramCounter<'_>, has_kernels: bool) -> Option<String> {
    let shared = row.summary.shared.as_ref()?;
    let (wavefronts, bank_words) = (shared.all_wavefronts()?, shared.bank_words.as_ref()?);
    let number = row.kernel;
    let mut html = format!("<tr data-k=\"{number}\">");
    if has_kernels {
        html += &format!(
            "<td class=\"name\">{number} <code>{}</code></td>",
            context.name(row.kernel, 20)
        );
    }
    html += &format!(
        "<th scope=\"row\" title=\"{}, {}\"><code>{}</code></th>\
         <td class=\"t\"><code>{}</code></td><td>{:.2}</td><td>{:.2}</td>",
        of(shared.loads, "access"),
        of(wavefronts, "wavefront"),
        row.place(),
        cut(&row.operation.opcode, 24),
        per(wavefronts, shared.loads),
        ideal_wavefronts(shared)
    );
    for (bank, words) in bank_words.iter().enumerate() {
        let share = per(*words, wavefronts);
        html += &format!(
            "<td class=\"bank{}\" title=\"bank {bank}: {}\">{}</td>",
            colour(share).map_or(String::new(), |colour| format!(" h{colour}")),
            of(*words, "word"),
            whole_percent(share)
        );
    }
    Some(html + "</tr>\n")
}

/// The number of colours of shares.
const COLOURS: usize = 8;

/// The colour of a share; `None` for 0.
fn colour(share: f64) -> Option<usize> {
    (share > 0.0).then(|| ((share * COLOURS as f64).ceil() as usize).clamp(1, COLOURS))
}

/// Whole percent. Shows a small share as `<1`, because 0 would be wrong.
fn whole_percent(share: f64) -> String {
    if share > 0.0 && share < 0.005 { "&lt;1".to_owned() } else { format!("{:.0}", 100.0 * share) }
}

const LOCAL_TABLE: PcTable = PcTable {
    id: "local-loads",
    caption: "Loads of local memory by program counter",
    space: "local",
    counts: ["loads", "lanes/load"],
    columns: &[
        ("mean", "sectors/load", |row| {
            cell(row, |local| Cell::Mean(per(local.sectors, local.loads)))
        }),
        ("ideal", "ideal", |row| {
            cell(row, |local| Cell::Mean(per(local.ideal_sectors, local.loads)))
        }),
        ("all", "sectors", |row| cell(row, |local| Cell::Count(local.sectors))),
        ("waste", "wasted sectors", |row| Cell::Count(waste(row) as u64)),
    ],
    sorted: "waste",
    weight: waste,
    heaviest: "that waste most sectors",
};

fn cell(row: &ProgramCounter<'_>, cell: fn(LocalCounts) -> Cell) -> Cell {
    row.summary.local.map_or(Cell::Unknown, cell)
}

/// The sectors beyond the ideal.
fn waste(row: &ProgramCounter<'_>) -> f64 {
    let waste = |local: LocalCounts| local.sectors.saturating_sub(local.ideal_sectors);
    row.summary.local.map_or(0, waste) as f64
}

pub(crate) fn local(context: &Context<'_>) -> Panel {
    let rows = &context.rows.local;
    let local = context.page.summary.counts.local;
    let body = format!(
        "<p class=\"note\">{} touched {}, and {} would do: efficiency {}. Local memory is taken to be \
         interleaved: word w of the 32 lanes lies side by side.</p>\n",
        of(local.loads, "load"),
        of(local.sectors, "sector"),
        count(local.ideal_sectors),
        percent(local.ideal_sectors, local.sectors)
    );
    let names = ["local", "Local", "Local memory: sectors of spills and arrays"];
    LOCAL_TABLE.panel(names, rows, body, context)
}

const CONSTANT_TABLE: PcTable = PcTable {
    id: "constant-loads",
    caption: "Loads of constant memory by program counter",
    space: "constant",
    counts: ["loads", "lanes/load"],
    columns: &[
        ("mean", "addresses/load", |row| {
            row.summary.constant.map_or(Cell::Unknown, |constant| {
                Cell::Mean(per(constant.addresses, constant.loads))
            })
        }),
        ("repeats", "repeats", |row| Cell::Count(repeats(row) as u64)),
    ],
    sorted: "repeats",
    weight: repeats,
    heaviest: "that repeat most",
};

/// The addresses beyond the first of each load.
fn repeats(row: &ProgramCounter<'_>) -> f64 {
    row.summary.constant.map_or(0, |constant| constant.addresses.saturating_sub(constant.loads))
        as f64
}

pub(crate) fn constant(context: &Context<'_>) -> Panel {
    let rows = &context.rows.constant;
    let constant = context.page.summary.counts.constant;
    let body = format!(
        "<p class=\"note\">{} asked for {}. One address serves all lanes at once; each further one \
         repeats the load.</p>\n",
        of(constant.loads, "load"),
        of(constant.addresses, "different address")
    );
    let names = ["constant", "Constant", "Constant memory: addresses of loads"];
    CONSTANT_TABLE.panel(names, rows, body, context)
}

const WAVEFRONTS_EACH: Column = ("wavefronts", "wavefronts each", |row| {
    let wavefronts = row.summary.shared.as_ref().and_then(|shared| shared.wavefronts);
    wavefronts.map_or(Cell::Unknown, |wavefronts| Cell::Mean(wavefronts.mean))
});

const STORES_TABLE: PcTable = PcTable {
    id: "stores-atomics",
    caption: "Stores and atomics by program counter",
    space: "global",
    counts: ["count", "lanes each"],
    columns: &[
        ("mean", "sectors each", |row| {
            sectors(row).map_or(Cell::Unknown, |(all, _)| each(row, all))
        }),
        WAVEFRONTS_EACH,
        ("ideal", "ideal", |row| {
            let of_sectors = sectors(row).map(|(_, ideal)| ideal);
            let ideal = of_sectors.or_else(|| {
                let shared = row.summary.shared.as_ref()?;
                shared.wavefronts.map(|_| shared.ideal_wavefronts)
            });
            ideal.map_or(Cell::Unknown, |ideal| each(row, ideal))
        }),
        ("excess", "sectors beyond the ideal, bank conflicts", |row| match is_known(row) {
            true => Cell::Count(excess(row) as u64),
            false => Cell::Unknown,
        }),
    ],
    sorted: "excess",
    weight: excess,
    heaviest: "with most sectors beyond the ideal or bank conflicts",
};

/// Whether a row's cost is known. It is not for atomics with lanes that share words of shared memory.
fn is_known(row: &ProgramCounter<'_>) -> bool {
    sectors(row).is_some()
        || row.summary.shared.as_ref().is_some_and(|shared| shared.conflicts.is_some())
}

/// The sectors of global and local memory, and the ideal; `None` if the row has neither.
fn sectors(row: &ProgramCounter<'_>) -> Option<(u64, u64)> {
    let global =
        row.has_sectors().then(|| (row.sectors().round() as u64, row.summary.ideal_sectors));
    let local = row.summary.local.map(|local| (local.sectors, local.ideal_sectors));
    // Generic addresses can be in both.
    [global, local]
        .into_iter()
        .flatten()
        .reduce(|(all, ideal), more| (all + more.0, ideal + more.1))
}

fn each(row: &ProgramCounter<'_>, all: u64) -> Cell {
    Cell::Mean(per(all, row.summary.loads))
}

/// The sectors beyond the ideal plus the bank conflicts.
fn excess(row: &ProgramCounter<'_>) -> f64 {
    sectors(row).map_or(0.0, |(all, ideal)| all.saturating_sub(ideal) as f64) + conflicts(row)
}

pub(crate) fn stores(context: &Context<'_>) -> Panel {
    let rows = &context.rows.stores;
    let counts = &context.page.summary.counts;
    let body = match (counts.stores, counts.atomics) {
        (Some(stores), Some(atomics)) => traffic("store", stores) + &traffic("atomic", atomics),
        _ => format!(
            "<p class=\"note\">{} and {}: this trace has no addresses of them.</p>\n",
            of(counts.skipped.store, "store"),
            of(counts.skipped.atomic, "atomic")
        ),
    };
    STORES_TABLE.panel(["stores", "Stores, atomics", "Stores and atomics"], rows, body, context)
}

const COPIES_TABLE: PcTable = PcTable {
    id: "copies-by-pc",
    caption: "Copies by program counter",
    space: "global",
    counts: ["global records", "lanes each"],
    columns: &[
        ("mean", "sectors each", |row| match row.summary.loads {
            0 => Cell::Unknown,
            _ => Cell::Mean(row.summary.sectors.mean),
        }),
        ("ideal", "ideal", |row| match row.summary.loads {
            0 => Cell::Unknown,
            _ => each(row, row.summary.ideal_sectors),
        }),
        ("shared", "shared records", |row| {
            row.summary.shared.as_ref().map_or(Cell::Unknown, |shared| Cell::Count(shared.loads))
        }),
        WAVEFRONTS_EACH,
        ("excess", "sectors beyond the ideal and bank conflicts", |row| {
            Cell::Count(excess(row) as u64)
        }),
    ],
    sorted: "excess",
    weight: excess,
    heaviest: "with most sectors beyond the ideal and bank conflicts",
};

/// `None` if there are no copies from global to shared memory.
pub(crate) fn copies(context: &Context<'_>) -> Option<Panel> {
    let rows = &context.rows.copies;
    let copies = context.page.summary.counts.ldgsts.filter(|copies| copies.records > 0)?;
    let mut body = match (copies.bytes.0, copies.sectors.0, copies.ideal_sectors.0) {
        (Some(read), Some(sectors), Some(ideal)) => format!(
            "<p class=\"note\">Copies from global to shared memory (LDGSTS) read {}: {} of global memory, and {} \
             would do.</p>\n",
            bytes(read),
            of(sectors, "sector"),
            count(ideal)
        ),
        _ => "<p class=\"note\">This trace has no global addresses of copies (LDGSTS).</p>\n"
            .to_owned(),
    };
    body += &match (copies.wavefronts.0, copies.conflicts.0) {
        (Some(wavefronts), Some(conflicts)) => format!(
            "<p class=\"note\">They wrote shared memory in {}, {} of them bank conflicts.</p>\n",
            of(wavefronts, "wavefront"),
            count(conflicts)
        ),
        _ => "<p class=\"note\">This trace has no shared addresses of them.</p>\n".to_owned(),
    };
    let names = ["copies", "Copies", "Copies from global to shared memory"];
    Some(COPIES_TABLE.panel(names, rows, body, context))
}

fn traffic(one: &str, traffic: TrafficCounts) -> String {
    format!(
        "<p class=\"note\">{}: {}, {}; {} of global memory, and {} would do.</p>\n",
        of(traffic.count, one),
        of(traffic.lanes, "lane"),
        bytes(traffic.bytes),
        of(traffic.sectors, "sector"),
        count(traffic.ideal_sectors)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        assert_eq!((colour(0.0), colour(1e-9), colour(1.0)), (None, Some(1), Some(COLOURS)));
        assert_eq!(
            (whole_percent(0.0), whole_percent(0.001)),
            ("0".to_owned(), "&lt;1".to_owned())
        );
        assert_eq!(whole_percent(1.0), "100");
    }
}
