//! Random structured programs, against a model that executes them with masks of lanes.
//!
//! The model knows only the syntax: an `if` executes one way, then the other, and then what follows with the lanes of
//! both. So it says what each lane computes, and how often a warp executes an instruction if lanes wait for each other as
//! early as the syntax allows.

use std::fmt::Write;

use warpload_ptx::launch::KernelLaunch;

use super::{launch, module};

/// A condition: whether a bit of the lane's value is set.
type Bit = u32;

#[derive(Debug)]
enum Statement {
    /// `value = value * 1664525 + n`
    Step(u32),
    If(Bit, Vec<Statement>, Vec<Statement>),
    /// Executes up to 1, 2, 3 or 4 times, by the two low bits of the lane.
    Loop(Vec<Statement>),
    Switch(Vec<Vec<Statement>>),
    Break(Bit),
    Continue(Bit),
    /// Stores the value and ends the lane.
    Return(Bit),
    Exit(Bit),
}

struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }

    fn statements(&mut self, depth: u32, loops: u32) -> Vec<Statement> {
        let count = 1 + self.below(3);
        (0..count).map(|_| self.statement(depth, loops)).collect()
    }

    fn statement(&mut self, depth: u32, loops: u32) -> Statement {
        let bit = 8 + self.below(20);
        match self.below(if depth == 0 { 4 } else { 12 }) {
            0..=2 => Statement::Step(self.below(1000)),
            3 => match (self.below(8), loops) {
                (0, _) => Statement::Return(bit),
                (1, _) => Statement::Exit(bit),
                (2..=4, 1..) => Statement::Break(bit),
                (5..=7, 1..) => Statement::Continue(bit),
                _ => Statement::Step(7),
            },
            4..=7 => {
                let yes = self.statements(depth - 1, loops);
                let no =
                    if self.below(2) == 0 { Vec::new() } else { self.statements(depth - 1, loops) };
                Statement::If(bit, yes, no)
            }
            8..=9 if loops < 3 => Statement::Loop(self.statements(depth - 1, loops + 1)),
            _ => Statement::Switch((0..4).map(|_| self.statements(depth - 1, loops)).collect()),
        }
    }
}

/// The text of a program. Instructions are one to a line, and all of them count.
#[derive(Default)]
struct Text {
    text: String,
    labels: u32,
    /// The labels behind each loop and before its condition.
    loops: Vec<(u32, u32)>,
}

impl Text {
    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("room");
    }

    /// Two instructions: `%p1` is the bit.
    fn test(&mut self, bit: Bit) {
        self.line(&format!("and.b32 %r3, %r2, {:#x};", 1_u32 << bit));
        self.line("setp.ne.u32 %p1, %r3, 0;");
    }

    fn all(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.one(statement);
        }
    }

    fn one(&mut self, statement: &Statement) {
        match statement {
            Statement::Step(n) => self.line(&format!("mad.lo.u32 %r2, %r2, 1664525, {n};")),
            Statement::If(bit, yes, no) => {
                let (other, end) = (self.label(), self.label());
                self.test(*bit);
                self.line(&format!("@!%p1 bra L{};", if no.is_empty() { end } else { other }));
                self.all(yes);
                if !no.is_empty() {
                    self.line(&format!("bra L{end};"));
                    self.line(&format!("L{other}:"));
                    self.all(no);
                }
                self.line(&format!("L{end}:"));
            }
            Statement::Loop(body) => {
                let (start, next, end) = (self.label(), self.label(), self.label());
                let counter = 10 + self.loops.len();
                self.line(&format!("mov.u32 %r{counter}, 0;"));
                self.line(&format!("L{start}:"));
                self.loops.push((end, next));
                self.all(body);
                self.loops.pop();
                self.line(&format!("L{next}:"));
                self.line(&format!("add.u32 %r{counter}, %r{counter}, 1;"));
                self.line(&format!("setp.le.u32 %p2, %r{counter}, %r5;"));
                self.line(&format!("@%p2 bra L{start};"));
                self.line(&format!("L{end}:"));
            }
            Statement::Switch(cases) => {
                let (table, end) = (self.label(), self.label());
                let cases: Vec<_> = cases.iter().map(|case| (self.label(), case)).collect();
                let names: Vec<_> = cases.iter().map(|case| format!("L{}", case.0)).collect();
                self.line(&format!("L{table}: .branchtargets {};", names.join(", ")));
                self.line("shr.u32 %r3, %r2, 9;");
                self.line("and.b32 %r3, %r3, 3;");
                self.line(&format!("brx.idx %r3, L{table};"));
                for (label, case) in cases {
                    self.line(&format!("L{label}:"));
                    self.all(case);
                    self.line(&format!("bra L{end};"));
                }
                self.line(&format!("L{end}:"));
            }
            Statement::Break(bit) | Statement::Continue(bit) => {
                self.test(*bit);
                let (end, next) = self.loops.last().expect("a loop");
                let to = if matches!(statement, Statement::Break(_)) { end } else { next };
                self.line(&format!("@%p1 bra L{to};"));
            }
            Statement::Return(bit) => {
                self.test(*bit);
                self.line("@%p1 st.global.u32 [%rd2], %r2;");
                self.line("@%p1 ret;");
            }
            Statement::Exit(bit) => {
                self.test(*bit);
                self.line("@%p1 exit;");
            }
        }
    }
}

#[derive(Default)]
struct Model {
    values: [u32; 32],
    stored: [u32; 32],
    /// The instructions that a warp executes.
    instructions: u64,
    /// The lanes that broke out of the innermost loop, and those that continue with its next round.
    broken: u32,
    continued: u32,
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

impl Model {
    /// Executes statements in the lanes of a mask. The result is the lanes that go on behind them.
    fn all(&mut self, statements: &[Statement], mut mask: u32) -> u32 {
        for statement in statements {
            if mask != 0 {
                mask = self.one(statement, mask);
            }
        }
        mask
    }

    fn test(&mut self, bit: Bit, mask: u32) -> u32 {
        self.instructions += 2;
        lanes(mask)
            .filter(|lane| self.values[*lane] >> bit & 1 != 0)
            .fold(0, |all, lane| all | 1 << lane)
    }

    fn one(&mut self, statement: &Statement, mask: u32) -> u32 {
        match statement {
            Statement::Step(n) => {
                self.instructions += 1;
                for lane in lanes(mask) {
                    self.values[lane] = self.values[lane].wrapping_mul(1_664_525).wrapping_add(*n);
                }
                mask
            }
            Statement::If(bit, yes, no) => {
                let set = self.test(*bit, mask);
                self.instructions += 1;
                let first = self.all(yes, set);
                self.instructions += u64::from(first != 0 && !no.is_empty());
                first | self.all(no, mask & !set)
            }
            Statement::Loop(body) => {
                let outer = (self.broken, self.continued);
                self.broken = 0;
                self.instructions += 1;
                let (mut running, mut left, mut round) = (mask, 0, 0);
                while running != 0 {
                    self.continued = 0;
                    running = self.all(body, running) | self.continued;
                    if running != 0 {
                        self.instructions += 3;
                    }
                    round += 1;
                    let stays = lanes(running).filter(|lane| round <= lane & 3);
                    let stays = stays.fold(0, |all, lane| all | 1 << lane);
                    left |= running & !stays;
                    running = stays;
                }
                left |= self.broken;
                (self.broken, self.continued) = outer;
                left
            }
            Statement::Switch(cases) => {
                self.instructions += 3;
                let mut left = 0;
                let chosen: Vec<u32> = (0..32).map(|lane| self.before_switch(lane)).collect();
                for (number, case) in (0..).zip(cases) {
                    let here = lanes(mask).filter(|lane| chosen[*lane] == number);
                    let here = here.fold(0, |all, lane| all | 1 << lane);
                    let out = self.all(case, here);
                    self.instructions += u64::from(out != 0);
                    left |= out;
                }
                left
            }
            Statement::Break(bit) => {
                let set = self.test(*bit, mask);
                self.instructions += 1;
                self.broken |= set;
                mask & !set
            }
            Statement::Continue(bit) => {
                let set = self.test(*bit, mask);
                self.instructions += 1;
                self.continued |= set;
                mask & !set
            }
            Statement::Return(bit) => {
                let set = self.test(*bit, mask);
                self.instructions += 2;
                for lane in lanes(set) {
                    self.stored[lane] = self.values[lane];
                }
                mask & !set
            }
            Statement::Exit(bit) => {
                let set = self.test(*bit, mask);
                self.instructions += 1;
                mask & !set
            }
        }
    }

    fn before_switch(&self, lane: usize) -> u32 {
        self.values[lane] >> 9 & 3
    }
}

/// What a program does with all lanes together, and with each of some lanes alone; `None` if the model agrees.
fn difference(program: &[Statement], alone: impl Iterator<Item = usize>) -> Option<String> {
    let mut text = Text::default();
    text.all(program);
    let start = "mad.lo.u32 %r2, %r0, 0x9e3779b1, 12345;\nand.b32 %r5, %r0, 3;";
    let source = module(&format!("{start}\n{}st.global.u32 [%rd2], %r2;", text.text));
    let options = KernelLaunch::new([1; 3], [32, 1, 1]);
    let together = launch(&source, options.clone(), &[vec![0; 128]]);
    let mut model = Model {
        values: std::array::from_fn(|lane| {
            (lane as u32).wrapping_mul(0x9e37_79b1).wrapping_add(12345)
        }),
        // Before the program: the parameter, the address, and two instructions of its own.
        instructions: 6,
        ..Model::default()
    };
    let ends = model.all(program, u32::MAX);
    for lane in lanes(ends) {
        model.stored[lane] = model.values[lane];
    }
    // The store and the return behind the program.
    model.instructions += if ends != 0 { 2 } else { 0 };
    let counts = together.result.counts;
    let found = (together.words(0), counts.warp_instructions);
    if found != (model.stored.to_vec(), model.instructions) || !together.result.faults.is_empty() {
        return Some(format!(
            "{}: {found:?}, not {:?}",
            text.text,
            (model.stored, model.instructions)
        ));
    }
    // Alone, each lane computes the same.
    for lane in alone {
        let mut options = options.clone();
        options.options.active = warpload::lane::LaneMask::from_bits(1 << lane);
        let alone = launch(&source, options, &[vec![0; 128]]).words(0)[lane];
        if alone != model.stored[lane] {
            return Some(format!("{}: lane {lane} alone: {alone:#x}", text.text));
        }
    }
    None
}

#[test]
fn lanes_of_structured_programs_are_together() {
    let mut wrong: Option<String> = None;
    for seed in 0..400 {
        let mut draws = Draws(seed);
        let program = draws.statements(1 + seed as u32 % 3, 0);
        let alone = (0..32).step_by(if seed < 30 { 1 } else { 11 });
        if let Some(found) = difference(&program, alone)
            && wrong.as_ref().is_none_or(|wrong| found.len() < wrong.len())
        {
            wrong = Some(found);
        }
    }
    // The shortest program is the easiest to understand.
    assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
}
