//! What `ptx run` prints of each load.

use serde::Serialize;
use serde::ser::Serializer;
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::LaneFaults;
use warpload_ptx::PtxLoad;
use warpload_ptx::meaning::Register;
use warpload_ptx::run::{Environment, Executed, RegisterValue, TensorExecuted};
use warpload_ptx::syntax::load::Opcode;

use crate::io::Output;
use crate::name::cell;
use crate::options::Format;
use crate::ptx::file::{File, FileJson, Statement};
use crate::run::table::faults;
use crate::tmem::table;

/// Prints loads one by one, or collects them for one object of JSON.
pub(super) struct Shown<'s> {
    format: Format,
    file: &'s File<'s>,
    loads: Vec<LoadJson>,
    count: usize,
}

#[derive(Default, Serialize)]
struct LoadJson {
    #[serde(flatten)]
    statement: Statement,
    /// The lanes that executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    executing: Option<String>,
    registers: Values,
    lane_faults: Masks,
    /// The lanes whose misaligned address was rounded down.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounded: Option<String>,
    /// The lanes whose outcome is undefined, by the qualifier that is not for their memory.
    #[serde(skip_serializing_if = "Masks::is_empty")]
    undefined: Masks,
    #[serde(skip_serializing_if = "Option::is_none")]
    tensor_fault: Option<TensorFaultJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Why a load from Tensor Memory loaded nothing.
#[derive(Serialize)]
struct TensorFaultJson {
    code: &'static str,
    message: String,
}

/// Registers by name with 32 values, null for a lane that has none.
#[derive(Default)]
struct Values(Vec<(String, RegisterValue)>);

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, held)| {
            let lanes = (0..LANES).map(|lane| held.lane(lane).map(|value| format!("{value:#x}")));
            (name, lanes.collect::<Vec<_>>())
        }))
    }
}

/// Lanes by name: of each kind of fault that there is, or of each qualifier.
#[derive(Default)]
struct Masks(Vec<(String, LaneMask)>);

impl Masks {
    fn of(faults: &LaneFaults) -> Self {
        let masks = faults.by_kind();
        let masks = masks.iter().filter(|(_, lanes)| !lanes.is_empty());
        Self(masks.map(|(kind, lanes)| (kind.to_string(), *lanes)).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Masks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let masks = self.0.iter().map(|(name, lanes)| (name, format!("{lanes:#x}")));
        serializer.collect_map(masks)
    }
}

impl<'s> Shown<'s> {
    pub(super) fn new(format: Format, file: &'s File<'s>) -> Self {
        Self { format, file, loads: Vec::new(), count: 0 }
    }

    /// A load that was executed.
    pub(super) fn executed(
        &mut self,
        load: &PtxLoad<'_>,
        executed: &Executed,
        environment: &Environment<'_>,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        if self.format == Format::Text {
            let heading = self.heading(load);
            let (lanes, active) = (executed.executing.count(), environment.active);
            output.line(heading)?;
            let guard = self.guard(load, executed);
            output.line(format_args!(
                "{lanes} of {LANES} lanes execute (active {active:#010x}{guard})"
            ))?;
            let table = match &executed.tensor {
                Some(tensor) => self.tensor(executed, tensor),
                None if load.opcode == Opcode::Ld => self.table(executed),
                None => return Ok(()),
            };
            output.line("")?;
            output.text(&table)?;
            output.text(&faults(&executed.faults))?;
            return Ok(());
        }
        let registers = executed.written.iter();
        let registers = registers.map(|(register, held)| (self.name(*register), held.clone()));
        let fault = executed.tensor.and_then(|tensor| tensor.fault);
        let undefined = executed.undefined.iter().map(|undefined| {
            (self.file.module.text(undefined.qualifier).to_owned(), undefined.lanes)
        });
        self.loads.push(LoadJson {
            statement: self.file.statement(load.span),
            executing: Some(format!("{:#x}", executed.executing)),
            registers: Values(registers.collect()),
            lane_faults: Masks::of(&executed.faults),
            rounded: (!executed.rounded.is_empty()).then(|| format!("{:#x}", executed.rounded)),
            undefined: Masks(undefined.collect()),
            tensor_fault: fault
                .map(|fault| TensorFaultJson { code: fault.code(), message: fault.to_string() }),
            error: None,
        });
        Ok(())
    }

    /// A load that was not.
    pub(super) fn failed(
        &mut self,
        load: &PtxLoad<'_>,
        error: &str,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        if self.format == Format::Text {
            let heading = self.heading(load);
            output.line(format_args!("{heading}\nnot executed: {error}"))?;
            return Ok(());
        }
        let (statement, error) = (self.file.statement(load.span), Some(error.to_owned()));
        self.loads.push(LoadJson { statement, error, ..LoadJson::default() });
        Ok(())
    }

    /// What a guard has done: `, @%p1 in 0x00000001`. That a predicate's value is a mask is easily
    /// overlooked.
    fn guard(&self, load: &PtxLoad<'_>, executed: &Executed) -> String {
        let Some(guard) = load.guard else { return String::new() };
        let negation = if guard.is_negated { "!" } else { "" };
        let register = cell(self.file.module.text(guard.register));
        format!(", @{negation}{register} in lanes {:#010x}", executed.executing)
    }

    /// What follows the last load.
    pub(super) fn end(self, output: &mut Output) -> anyhow::Result<()> {
        if self.format == Format::Json {
            output.json(&FileJson { file: self.file.name, loads: self.loads })?;
        }
        Ok(())
    }

    /// The place and the text of a load, a line apart from the load before it.
    fn heading(&mut self, load: &PtxLoad<'_>) -> String {
        let apart = if self.count > 0 { "\n" } else { "" };
        self.count += 1;
        let line = self.file.line_about(&self.file.statement(load.span), "");
        format!("{apart}{line}")
    }

    fn name(&self, register: Register) -> String {
        self.file.module.register_name(register)
    }

    /// What the warp reads of tensor memory, and the registers; or the fault.
    fn tensor(&self, executed: &Executed, tensor: &TensorExecuted) -> String {
        let heading = table::heading(&tensor.load, tensor.issue);
        if let Some(fault) = tensor.fault {
            return format!("{heading}\nfault: {}: {fault}\n", fault.code());
        }
        let columns: Vec<(String, LaneValues)> = executed
            .written
            .iter()
            .map(|(register, held)| (self.name(*register), held.values.map(|value| value as u32)))
            .collect();
        let columns: Vec<(&str, &LaneValues)> =
            columns.iter().map(|(name, values)| (name.as_str(), values)).collect();
        format!("{heading}\n{}", table::of_threads(&columns))
    }

    /// A row for each lane: its address, the memory, what the registers hold, what went wrong.
    /// Lanes that follow each other and have equal rows share one.
    fn table(&self, executed: &Executed) -> String {
        let mut heading = String::from("address             space  ");
        let columns: Vec<(usize, &RegisterValue)> = executed
            .written
            .iter()
            .map(|(register, held)| {
                let declared = self.file.module.declaration(register.declaration);
                let bits = declared.and_then(|declared| declared.scalar.bits()).unwrap_or(128);
                let name = cell(&self.name(*register));
                let width = (2 + bits.div_ceil(4) as usize).max(name.chars().count());
                heading += &format!("  {name:<width$}");
                (width, held)
            })
            .collect();
        let mut rows: Vec<(usize, usize, String)> = Vec::new();
        for lane in 0..LANES {
            let row = self.row(executed, &columns, lane);
            match rows.last_mut().filter(|(_, _, known)| *known == row) {
                Some((_, last, _)) => *last = lane,
                None => rows.push((lane, lane, row)),
            }
        }
        let lanes: Vec<String> = rows.iter().map(|(first, last, _)| lanes(*first, *last)).collect();
        let width = lanes.iter().map(String::len).max().unwrap_or(0).max("lane".len());
        let mut text = format!("{:<width$}  {}\n", "lane", heading.trim_end());
        for (lanes, (_, _, row)) in lanes.iter().zip(&rows) {
            text += &format!("{lanes:>width$}  {row}\n");
        }
        text
    }

    /// What a lane did: the row without its number.
    fn row(&self, executed: &Executed, columns: &[(usize, &RegisterValue)], lane: usize) -> String {
        let mut row = if executed.executing.contains(lane) {
            let space = executed.spaces[lane].map_or("-", |space| space.name());
            format!("{:#018x}  {space:<8}", executed.addresses[lane])
        } else {
            format!("{:<18}  {:<8}", "-", "-")
        };
        // `constant` is a letter longer than the heading's column.
        row.truncate(row.trim_end().len());
        row = format!("{row:<27}");
        for (width, held) in columns {
            match held.lane(lane) {
                Some(value) => row += &format!("  {value:#0width$x}"),
                None => row += &format!("  {:<width$}", "-"),
            }
        }
        let of_lane = executed.faults.iter().filter(|fault| fault.lane == lane);
        let of_qualifiers = executed.undefined.iter().filter(|one| one.lanes.contains(lane));
        let qualifiers: Vec<&str> =
            of_qualifiers.map(|one| self.file.module.text(one.qualifier)).collect();
        let space = executed.spaces[lane].map_or("this", |space| space.name());
        let undefined = (!qualifiers.is_empty())
            .then(|| format!("undefined: {} on {space} memory", qualifiers.join(" and ")));
        let rounded = executed.rounded.contains(lane).then(|| "rounded down".to_owned());
        let faults = of_lane.map(|fault| fault.kind().name().to_owned());
        let names: Vec<String> = faults.chain(rounded).chain(undefined).collect();
        if !names.is_empty() {
            row += &format!("  <- {}", names.join(", "));
        }
        row.truncate(row.trim_end().len());
        row
    }
}

/// `7`, `0-31`.
fn lanes(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}
