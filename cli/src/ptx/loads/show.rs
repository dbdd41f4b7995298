//! [`Shown`]: prints the loads of `ptx loads`.

use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload_ptx::PtxLoad;
use warpload_ptx::meaning::Register;
use warpload_ptx::run::{Executed, LaunchStep, LoadReport, TensorExecuted};
use warpload_ptx::syntax::load::Opcode;
use warpload_report::{tensor_load_heading, tensor_registers_table};

use crate::io::Output;
use crate::name::cell;
use crate::options::Format;
use crate::ptx::file::{File, FileJson};
use crate::run::table::faults;
use crate::table::{self, Value};

/// Prints loads one by one, or collects them for one JSON object.
pub(super) struct Shown<'s> {
    format: Format,
    file: &'s File<'s>,
    active: LaneMask,
    loads: Vec<LoadReport>,
    count: usize,
}

impl<'s> Shown<'s> {
    pub(super) fn new(format: Format, file: &'s File<'s>, active: LaneMask) -> Self {
        Self { format, file, active, loads: Vec::new(), count: 0 }
    }

    /// Shows the outcome of a load.
    pub(super) fn step(&mut self, step: LaunchStep<'_>, output: &mut Output) -> anyhow::Result<()> {
        let File { module, lines, .. } = self.file;
        if self.format == Format::Json {
            self.loads.extend(LoadReport::new(module, lines, step));
            return Ok(());
        }
        if let LaunchStep::Executed { load, executed } = step {
            return self.executed(load, executed, output);
        }
        let (LaunchStep::Illegal { load: Some(load), .. } | LaunchStep::Failed { load, .. }) = step
        else {
            return Ok(());
        };
        let report = LoadReport::new(module, lines, step);
        let error = report.and_then(|report| report.error).unwrap_or_default();
        let heading = self.heading(load);
        output.line(format_args!("{heading}\nnot executed: {error}"))?;
        Ok(())
    }

    /// Shows a load that was executed.
    fn executed(
        &mut self,
        load: &PtxLoad<'_>,
        executed: &Executed,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let heading = self.heading(load);
        let (lanes, active) = (executed.executing.count(), self.active);
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
        Ok(())
    }

    /// The effect of a guard: `, @%p1 in lanes 0x00000001`. Shown as a mask, because predicates are set by mask, which
    /// is easily overlooked.
    fn guard(&self, load: &PtxLoad<'_>, executed: &Executed) -> String {
        let Some(guard) = load.guard else { return String::new() };
        let negation = if guard.is_negated { "!" } else { "" };
        let register = cell(self.file.module.text(guard.register));
        format!(", @{negation}{register} in lanes {:#010x}", executed.executing)
    }

    /// Prints the JSON object, after the last load.
    pub(super) fn end(self, output: &mut Output) -> anyhow::Result<()> {
        if self.format == Format::Json {
            output.json(&FileJson { file: self.file.name, loads: self.loads })?;
        }
        Ok(())
    }

    /// The place and the text of a load. An empty line separates it from the load before.
    fn heading(&mut self, load: &PtxLoad<'_>) -> String {
        let apart = if self.count > 0 { "\n" } else { "" };
        self.count += 1;
        let line = self.file.line_about(&self.file.statement(load.span), "");
        format!("{apart}{line}")
    }

    fn name(&self, register: Register) -> String {
        self.file.module.register_name(register)
    }

    /// The cells of Tensor Memory that the load reads, and the registers; or the fault.
    fn tensor(&self, executed: &Executed, tensor: &TensorExecuted) -> String {
        let heading = tensor_load_heading(&tensor.load, tensor.issue);
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
        format!("{heading}\n{}", tensor_registers_table(&columns))
    }

    /// A row for each lane: its address, the memory, the registers, and any faults. Adjacent lanes with equal rows
    /// share one.
    fn table(&self, executed: &Executed) -> String {
        let mut rows: Vec<(usize, usize, Vec<String>)> = Vec::new();
        for lane in 0..LANES {
            let row = self.row(executed, lane);
            match rows.last_mut().filter(|(_, _, known)| *known == row) {
                Some((_, last, _)) => *last = lane,
                None => rows.push((lane, lane, row)),
            }
        }
        let names = executed.written.iter().map(|(register, _)| cell(&self.name(*register)));
        let names = ["address", "space"].map(str::to_owned).into_iter().chain(names);
        let columns = names.chain([String::new()]).enumerate().map(|(i, name)| {
            (name, 0, rows.iter().map(|(.., row)| Value::Whole(row[i].clone())).collect())
        });
        let lanes = rows.iter().map(|(first, last, _)| Value::Shown(lanes(*first, *last)));
        let lanes = ("lane".to_owned(), 0, lanes.collect());
        table::grid([lanes].into_iter().chain(columns))
    }

    /// The row of a lane, without the lane's number.
    fn row(&self, executed: &Executed, lane: usize) -> Vec<String> {
        let is_executing = executed.executing.contains(lane);
        let space = executed.spaces[lane].filter(|_| is_executing).map(|space| space.name());
        let address = is_executing.then(|| format!("{:#018x}", executed.addresses[lane]));
        let mut row = vec![address.unwrap_or("-".to_owned()), space.unwrap_or("-").to_owned()];
        row.extend(executed.written.iter().map(|(register, held)| {
            let declared = self.file.module.declaration(register.declaration);
            let bits = declared.and_then(|declared| declared.scalar.register_bits()).unwrap_or(128);
            let width = 2 + bits.div_ceil(4) as usize;
            held.lane(lane).map_or("-".to_owned(), |value| format!("{value:#0width$x}"))
        }));
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
        let names = (!names.is_empty()).then(|| format!("<- {}", names.join(", ")));
        row.push(names.unwrap_or_default());
        row
    }
}

/// Formats a range of lanes: `7` or `0-31`.
fn lanes(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}
