//! The table of the instructions that access memory, in program order.

use std::collections::{BTreeMap, BTreeSet};

use super::chart::{banks, share, spread};
use super::findings::{Cost, Finding};
use super::html::Context;
use super::overview::MAX_FINDINGS;
use super::table::{Cell, by_weight, heaviest, section, table};
use super::text::{count, of, per, percent};
use warpload_replay::{AccessCounts, AccessKind, BANKS, Row, RowSpace, Summary};

/// The most rows of the table, besides the first of each listed kernel.
pub(crate) const MAX_ROWS: usize = 300;
/// The most rows if there is a single kernel.
const MAX_ROWS_OF_ONE: usize = 1000;
/// The most listed kernels.
pub(crate) const MAX_KERNELS: usize = 1000;
/// A table that is longer has filters.
const UNFILTERED: usize = 12;
/// Rows with this part of the excess of a finding's worst row are marked.
const MARKED: f64 = 0.5;

/// The cost of a row's accesses in one memory.
struct Measure<'c> {
    cost: Cost,
    amount: u64,
    excess: u64,
    /// The accesses of that memory.
    accesses: u64,
    range: Option<[u64; 2]>,
    bank_words: Option<&'c [u64; BANKS]>,
}

impl<'c> Measure<'c> {
    fn all(counts: &'c AccessCounts) -> Vec<Self> {
        let measure = |cost: Cost| {
            let (amount, excess) = cost.of(counts);
            let (mut range, mut bank_words) = (None, None);
            let accesses = match cost {
                Cost::GlobalSectors => counts.global.map(|global| {
                    range = Some([global.sectors.min(), global.sectors.max]);
                    global.accesses
                }),
                Cost::SharedWavefronts => counts.shared.as_ref().map(|shared| {
                    range = Some([shared.wavefronts.min(), shared.wavefronts.max]);
                    bank_words = Some(&shared.bank_words.0);
                    shared.accesses.saturating_sub(shared.unknown)
                }),
                Cost::LocalSectors => counts.local.as_ref().map(|local| local.accesses),
                Cost::ConstantAddresses => {
                    counts.constant.as_ref().map(|constant| constant.accesses)
                }
                Cost::Faults => None,
            };
            let accesses = accesses.filter(|_| amount > 0)?;
            Some(Self { cost, amount, excess, accesses, range, bank_words })
        };
        Cost::ALL.into_iter().filter_map(measure).collect()
    }

    /// Its unit; the memory if the row has several.
    fn unit(&self, space: RowSpace) -> &'static str {
        match (self.cost, space) {
            (Cost::SharedWavefronts, RowSpace::Generic) => "shared",
            (Cost::LocalSectors, RowSpace::Generic) => "local",
            (_, RowSpace::Generic) => "global",
            (Cost::SharedWavefronts, _) => "wavefronts",
            (Cost::ConstantAddresses, _) => "addresses",
            _ => "sectors",
        }
    }

    /// The cost of an access on average, and the ideal.
    fn each(&self) -> [f64; 2] {
        [self.amount, self.amount - self.excess].map(|all| per(all, self.accesses))
    }

    fn picture(&self) -> String {
        let [each, ideal] = self.each();
        let varies = self.range.is_some_and(|[min, max]| min < max);
        match (self.bank_words, self.cost) {
            (Some(words), _) if self.excess > 0 => banks(words, self.amount),
            (None, Cost::GlobalSectors | Cost::LocalSectors) if self.excess > 0 || varies => {
                spread(each, ideal, self.range)
            }
            _ => String::new(),
        }
    }
}

/// The sectors, wavefronts or addresses of all rows, of which a row has a share.
#[derive(Default)]
pub(crate) struct Totals([u64; 3]);

impl Totals {
    pub(crate) fn new(counts: &AccessCounts) -> Self {
        Self([counts.sectors(), counts.wavefronts(), counts.addresses()])
    }

    /// The most of any row.
    pub(crate) fn most<'c>(rows: impl Iterator<Item = &'c AccessCounts>) -> Self {
        let max = |[a, b, c]: [u64; 3], Self([d, e, f])| [a.max(d), b.max(e), c.max(f)];
        Self(rows.map(Self::new).fold([0; 3], max))
    }

    pub(crate) fn of(&self, cost: Cost) -> u64 {
        match cost {
            Cost::GlobalSectors | Cost::LocalSectors => self.0[0],
            Cost::SharedWavefronts => self.0[1],
            Cost::ConstantAddresses => self.0[2],
            Cost::Faults => 0,
        }
    }
}

/// A row of the table.
struct Line<'c> {
    row: &'c Row,
    /// Its place in the summary.
    place: usize,
    measures: Vec<Measure<'c>>,
}

impl Line<'_> {
    /// A cell with a line for each measure, sorted by the highest value.
    fn lines(&self, shown: impl Fn(&Measure<'_>) -> (f64, String)) -> Option<Cell> {
        let lines: Vec<(f64, String)> = self.measures.iter().map(shown).collect();
        let value = lines.iter().map(|(value, _)| *value).reduce(f64::max)?;
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        Some(Cell::number(value, lines.join("<br>")))
    }
}

/// Returns the section with the table; nothing without rows.
pub(crate) fn instructions(context: &Context<'_>) -> String {
    let all = &context.summary.rows;
    if all.is_empty() {
        return String::new();
    }
    let (shown, note) = shown(context);
    let line = |place: usize| {
        let row = &all[place];
        Line { row, place, measures: Measure::all(&row.counts) }
    };
    let lines: Vec<Line<'_>> = shown.into_iter().map(line).collect();
    let most = Totals::most(lines.iter().map(|line| &line.row.counts));
    let draws = lines.iter().flat_map(|line| &line.measures).any(|of| !of.picture().is_empty());
    let rows: Vec<&Row> = lines.iter().map(|line| line.row).collect();
    let body = table(
        "instructions",
        "The instructions that access memory, in program order",
        &[
            ("kernel", "kernel", &|of: &Line<'_>| {
                context.several.then(|| context.kernel(of.row, 24).sorted(of.place))
            }),
            ("pc", heading_of_place(&rows), &|of| Some(place(of.row))),
            ("instruction", "instruction", &|of| {
                Some(Cell::code(of.row.code.instruction().unwrap_or(&of.row.opcode), 80))
            }),
            ("source", "source", &|of| source(of.row)),
            ("access", "access", &|of| Some(Cell::text(of.row.kind.of_space(of.row.space)))),
            ("faults", "faulty lanes", &|of| faults(&of.row.counts)),
            ("share", "share of all", &|of| {
                of.lines(|measure| {
                    let Measure { cost, amount, excess, .. } = *measure;
                    let part = per(amount, context.totals.of(cost));
                    let bar = share(amount, excess, most.of(cost));
                    (part, format!("{:.1} %{bar}", 100.0 * part))
                })
            }),
            ("efficiency", "efficiency", &|of| {
                of.lines(|Measure { amount, excess, .. }| {
                    (per(amount - excess, *amount), percent(amount - excess, *amount))
                })
            }),
            ("each", "per access (ideal)", &|of| {
                of.lines(|measure| {
                    let [each, ideal] = measure.each();
                    (each, format!("{each:.2} ({ideal:.2}) {}", measure.unit(of.row.space)))
                })
            }),
            ("excess", "range, banks", &|of| {
                let excess = of.measures.iter().map(|measure| measure.excess as f64).sum();
                let pictures: Vec<String> = of.measures.iter().map(Measure::picture).collect();
                let cell = Cell::number(excess, pictures.join("<br>"));
                draws.then(|| cell.class("picture"))
            }),
            ("accesses", "accesses", &|of| Some(Cell::count(of.row.counts.accesses))),
            ("lanes", "lanes each", &|of| {
                let lanes = per(of.row.counts.lanes, of.row.counts.accesses);
                Some(Cell::number(lanes, format!("{lanes:.1}")))
            }),
        ],
        if context.several { "kernel" } else { "pc" },
        &lines,
        |of| {
            let class = match (context.marked.contains(&of.place), of.row.counts.lane_faults.all())
            {
                (false, _) => "",
                (true, 0) => " class=\"found\"",
                (true, _) => " class=\"found faulty\"",
            };
            format!(
                " id=\"row-{}\"{class} data-k=\"{}\" data-kind=\"{}\" data-s=\"{}\"",
                of.place,
                of.row.launch,
                of.row.kind.name(),
                of.row.space.name()
            )
        },
    );
    section("rows", "Instructions", &note, &(filters(context, &lines) + &body))
}

/// The places of the shown rows, in program order, and a sentence about the others.
fn shown(context: &Context<'_>) -> (Vec<usize>, String) {
    let rows = &context.summary.rows;
    let mut of_launch: BTreeMap<u64, usize> = listed(context).map(|launch| (launch, 0)).collect();
    let each = MAX_KERNELS / of_launch.len().max(1);
    let most = if context.several { MAX_ROWS } else { MAX_ROWS_OF_ONE };
    let order = by_weight(rows, |row| {
        let counts = &row.counts;
        let cost = counts.sectors().saturating_add(counts.wavefronts());
        (counts.lane_faults.all(), counts.excess(), cost)
    });
    let mut shown: BTreeSet<usize> =
        context.findings.iter().take(MAX_FINDINGS).map(|of| context.place(of.worst)).collect();
    for (rank, place) in order.into_iter().enumerate() {
        let known = of_launch.get_mut(&rows[place].launch).map(|count| {
            *count += 1;
            *count <= each
        });
        if rank < most || known == Some(true) {
            shown.insert(place);
        }
    }
    let note = match rows.len() - shown.len() {
        0 => String::new(),
        _ => format!(
            "Of {}, the {} that cost most beyond the ideal{}.",
            of(rows.len() as u64, "instruction"),
            count(most as u64),
            match (context.several, each) {
                (false, _) => String::new(),
                (true, 1) => ", and the worst one of each kernel".to_owned(),
                (true, _) => format!(", and the {each} worst ones of each kernel"),
            }
        ),
    };
    (shown.into_iter().collect(), note)
}

/// The launches that tables list: the ones with the most accesses, ascending.
pub(crate) fn listed<'c>(context: &'c Context<'_>) -> impl Iterator<Item = u64> + 'c {
    let launches = &context.summary.launches;
    let shown = heaviest(launches, MAX_KERNELS, |launch| launch.counts.all().accesses);
    shown.into_iter().map(|place| launches[place].launch)
}

/// The places of the rows that the findings are about.
pub(crate) fn marked(summary: &Summary, findings: &[Finding<'_>]) -> BTreeSet<usize> {
    let mut excess = BTreeMap::new();
    for found in findings {
        excess.insert(
            (found.launch.launch, found.kind, found.cost),
            found.cost.of(&found.worst.counts).1,
        );
    }
    let is_marked = |row: &Row| {
        Cost::ALL.into_iter().any(|cost| {
            let most = excess.get(&(row.launch, row.kind, cost));
            most.is_some_and(|most| per(cost.of(&row.counts).1, *most) >= MARKED)
        })
    };
    let rows = summary.rows.iter().enumerate();
    rows.filter(|(_, row)| is_marked(row)).map(|(place, _)| place).collect()
}

/// The heading of a column with [`place`]s.
pub(crate) fn heading_of_place(rows: &[&Row]) -> &'static str {
    if rows.iter().any(|row| row.code.ptx_line.is_some()) { "PTX" } else { "pc" }
}

/// The place of an instruction in its kernel.
pub(crate) fn place(row: &Row) -> Cell {
    Cell::number(row.pc.0 as f64, format!("<code>{}</code>", row.place()))
}

/// A line of the source. Rows are sorted by its file, then by its line.
pub(crate) fn source(row: &Row) -> Option<Cell> {
    let (line, file) = (row.code.source_line?, row.code.source_file.as_deref().unwrap_or(""));
    let cell = Cell::code(&row.code.source()?, 40).sorted(format_args!("{file}:{line:010}"));
    Some(if file.is_empty() { cell } else { cell.title(&format!("{file}:{line}")) })
}

/// The faulty lanes; none if there are none.
pub(crate) fn faults(counts: &AccessCounts) -> Option<Cell> {
    let faults = &counts.lane_faults;
    let kinds = faults.iter().filter(|(_, lanes)| **lanes > 0);
    let kinds: Vec<String> = kinds
        .map(|(kind, lanes)| format!("{} {}", kind.name().replace('_', " "), count(*lanes)))
        .collect();
    (!kinds.is_empty()).then(|| Cell::count(faults.all()).class("bad").title(&kinds.join(", ")))
}

/// The filters, hidden until the script shows them, because they need it.
fn filters(context: &Context<'_>, lines: &[Line<'_>]) -> String {
    if lines.len() <= UNFILTERED {
        return String::new();
    }
    let mut html =
        "<div id=\"filters\" role=\"search\" aria-label=\"Filter the instructions\" hidden>\n"
            .to_owned();
    if context.several {
        html += "<label>Kernel <input type=\"search\" id=\"filter-kernel\" placeholder=\"number or name\" \
                 autocomplete=\"off\"></label>\n";
    }
    let kinds =
        AccessKind::ALL.into_iter().filter(|kind| lines.iter().any(|of| of.row.kind == *kind));
    let spaces =
        RowSpace::ALL.into_iter().filter(|space| lines.iter().any(|of| of.row.space == *space));
    for (id, label, names) in [
        ("kind", "Access", kinds.map(AccessKind::name).collect::<Vec<_>>()),
        ("space", "Memory", spaces.map(RowSpace::name).collect()),
    ] {
        let options: String = names.iter().map(|name| format!("<option>{name}</option>")).collect();
        if names.len() > 1 {
            html += &format!(
                "<label>{label} <select id=\"filter-{id}\"><option value=\"\">all</option>{options}\
                 </select></label>\n"
            );
        }
    }
    if !context.marked.is_empty() {
        html += "<label><input type=\"checkbox\" id=\"filter-found\"> only marked rows</label>\n";
    }
    html + "<output aria-live=\"polite\"></output></div>\n"
}
