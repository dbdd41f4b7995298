//! [`Module::blocks`]: the basic blocks of a function, and the points where diverged lanes reconverge.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::joins::{Joins, Node};
use super::scopes::{NameMap, StatementId};
use crate::module::{Function, Module, ScopeId, StatementKind};
use crate::syntax::Opcode;
use crate::syntax::load::{ElementRange, OperandKind, PtxInstruction};

/// Consecutive statements that are always executed together, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BasicBlock {
    /// Indices into [`Module::statements`].
    pub statements: Range<usize>,
    /// The block of each label that the last instruction names, as indices into [`Module::blocks`], duplicates
    /// included. Branches with the same list of labels share it, because a list may be as long as the text.
    pub targets: Arc<[usize]>,
    /// The next block, if control may continue with it.
    pub next: Option<usize>,
    /// Whether the function may end after this block.
    pub is_end: bool,
    /// The block where lanes wait for each other that diverge at the end of this one, or have diverged before: the
    /// innermost such block. `None` if they do not meet before the end of the function.
    pub join: Option<usize>,
    /// If lanes wait for each other at the start of this block: the next such block further out.
    pub outer_join: Option<usize>,
}

impl BasicBlock {
    /// Returns the blocks that may follow: the targets of a branch, then the next block. They may repeat.
    pub fn successors(&self) -> impl Iterator<Item = usize> {
        self.targets.iter().copied().chain(self.next)
    }
}

/// The blocks of a function, with its joins.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub(crate) blocks: Vec<BasicBlock>,
    /// The list of `brx` that ends a block, as an index into `tables`.
    pub(crate) table_of: Vec<Option<usize>>,
    /// The blocks of each list of labels.
    pub(crate) tables: Vec<Arc<[usize]>>,
    pub(crate) joins: Joins,
}

/// The successors of a branch, as they are written.
#[derive(Clone, Copy)]
enum Written<'m> {
    None,
    /// `bra` to a label.
    Label(&'m str),
    /// `brx` with the name of a list.
    List(&'m str),
}

/// Where control continues after the last statement of a block.
struct Continuation<'m> {
    written: Written<'m>,
    goes_on: bool,
    is_end: bool,
}

/// A name that is declared at several places, and looked up from the innermost scope outwards.
struct Places<V> {
    /// Each declaration with its scope, in the order of the text.
    declared: Vec<(ScopeId, V)>,
    /// Each use: its scope, and where its answer goes.
    used: Vec<(ScopeId, usize)>,
}

/// The names of labels, or of lists of labels.
struct Labels<'m, V>(NameMap<&'m str, Places<V>>);

impl<'m, V: Copy> Labels<'m, V> {
    fn declare(&mut self, name: &'m str, scope: ScopeId, value: V) {
        self.places(name).declared.push((scope, value));
    }

    fn look_up(&mut self, name: &'m str, scope: ScopeId, user: usize) {
        self.places(name).used.push((scope, user));
    }

    fn places(&mut self, name: &'m str) -> &mut Places<V> {
        let new = || Places { declared: Vec::new(), used: Vec::new() };
        self.0.entry(name).or_insert_with(new)
    }

    /// Calls `found` for each use with its declaration. One walk over the scopes answers all uses of a name, because a
    /// climb from each use through its braces would cost their depth.
    fn resolve(self, scopes: &Scopes, mut found: impl FnMut(usize, V)) {
        for Places { declared, mut used } in self.0.into_values() {
            let Some(first) = declared.first().map(|first| first.1) else { continue };
            let mut sorted = declared;
            sorted.sort_by_key(|declared| declared.0);
            sorted.dedup_by_key(|declared| declared.0);
            used.sort_unstable();
            let mut sorted = sorted.into_iter().peekable();
            let mut open: Vec<(ScopeId, V)> = Vec::new();
            for (scope, user) in used {
                while let Some(next) = sorted.next_if(|next| next.0 <= scope) {
                    scopes.close(&mut open, next.0);
                    open.push(next);
                }
                scopes.close(&mut open, scope);
                // ptxas also accepts a label in a scope that is already closed.
                found(user, open.last().map_or(first, |last| last.1));
            }
        }
    }
}

/// The last scope inside each scope of a function.
struct Scopes {
    first: u32,
    last: Vec<u32>,
}

impl Scopes {
    /// Drops declarations whose scope does not contain `scope`. Later scopes are not in it, either.
    fn close<V>(&self, open: &mut Vec<(ScopeId, V)>, scope: ScopeId) {
        while let Some((around, _)) = open.last() {
            count_step();
            let place = around.0.checked_sub(self.first).map(|place| place as usize);
            let last = place.and_then(|place| self.last.get(place));
            if last.is_some_and(|last| *last >= scope.0) {
                return;
            }
            open.pop();
        }
    }
}

/// Counts a step in tests, so that they can bound the work.
#[inline(always)]
pub(crate) fn count_step() {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The steps of this thread so far.
#[cfg(test)]
pub(crate) fn steps() -> u64 {
    STEPS.with(std::cell::Cell::get)
}

impl Module<'_> {
    /// Returns the basic blocks of a function in the order of the text; none for a prototype. A block begins at each
    /// label, and after each instruction that may not continue with the next one. The last block may be empty.
    ///
    /// ```
    /// let module = warpload_ptx::read(".version 8.0\n.target sm_50\n.address_size 64
    ///     .entry k() {
    ///         .reg .pred %p; .reg .b32 %r<3>;
    ///         @%p bra $else;
    ///         add.s32 %r1, %r1, 1;
    ///         bra $end;
    ///     $else:
    ///         add.s32 %r1, %r1, 2;
    ///     $end:
    ///         add.s32 %r1, %r1, 3;
    ///         ret;
    ///     }")?;
    /// let blocks = module.blocks(module.function("k").ok_or("no function")?);
    /// assert!(blocks[0].successors().eq([2, 1]));
    /// // Lanes that diverge at the first branch rejoin in the last block.
    /// assert_eq!(blocks[0].join, Some(3));
    /// assert!(blocks[3].is_end);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn blocks(&self, function: &Function) -> Vec<BasicBlock> {
        self.flow(function).blocks
    }

    pub(crate) fn flow<'m>(&'m self, function: &Function) -> Flow {
        let Some(body) = function.body.clone() else { return Flow::default() };
        let nowhere: Arc<[usize]> = Arc::new([]);
        let mut blocks: Vec<BasicBlock> = Vec::new();
        // Blocks that do nothing but end the function.
        let mut is_leaving = Vec::new();
        let mut branches: Vec<(usize, ScopeId, Written<'m>)> = Vec::new();
        let mut labels = Labels(NameMap::default());
        let mut lists = Labels(NameMap::default());
        let mut list_labels: Vec<(ScopeId, ElementRange)> = Vec::new();
        let (mut start, mut instructions) = (body.start, 0);
        let mut end_block = |end: usize, scope, after: Continuation<'m>, instructions: usize| {
            let block = blocks.len();
            let statements = std::mem::replace(&mut start, end)..end;
            let (targets, is_end) = (nowhere.clone(), after.is_end);
            let next = after.goes_on.then_some(block + 1);
            blocks.push(BasicBlock {
                statements,
                targets,
                next,
                is_end,
                join: None,
                outer_join: None,
            });
            is_leaving.push(after.is_end && !after.goes_on && instructions <= 1);
            if !matches!(after.written, Written::None) {
                branches.push((block, scope, after.written));
            }
            block + 1
        };
        let mut block = 0;
        let mut label_before = None;
        for place in body.clone() {
            count_step();
            let Some(statement) = self.statements.get(place) else { continue };
            let before = label_before.take();
            match &statement.kind {
                StatementKind::Label(name) => {
                    let name = self.text(*name);
                    if std::mem::take(&mut instructions) > 0 {
                        let next =
                            Continuation { written: Written::None, goes_on: true, is_end: false };
                        block = end_block(place, statement.scope, next, 0);
                    }
                    labels.declare(name, statement.scope, block);
                    label_before = Some(name);
                }
                StatementKind::Targets(list) => {
                    if let Some(name) = before {
                        lists.declare(name, statement.scope, list_labels.len());
                        list_labels.push((statement.scope, *list));
                    }
                }
                StatementKind::Instruction(_) => {
                    instructions += 1;
                    let instruction = self.instruction(StatementId(place as u32));
                    if let Some(after) = instruction.and_then(|of| self.continuation(&of)) {
                        let instructions = std::mem::take(&mut instructions);
                        block = end_block(place + 1, statement.scope, after, instructions);
                    }
                }
                _ => {}
            }
        }
        let last = Continuation { written: Written::None, goes_on: false, is_end: true };
        // The end of the body returns, too.
        end_block(body.end, function.scope, last, instructions + 1);
        let scopes = self.scopes_inside(function);
        for (user, (_, scope, written)) in branches.iter().enumerate() {
            match written {
                Written::None => {}
                Written::Label(name) => labels.look_up(name, *scope, user),
                Written::List(name) => lists.look_up(name, *scope, user),
            }
        }
        let mut table_of = vec![None; blocks.len()];
        let mut is_used = vec![false; list_labels.len()];
        lists.resolve(&scopes, |user, list| {
            table_of[branches[user].0] = Some(list);
            is_used[list] = true;
        });
        // Labels of lists are looked up where the list is, because all its users go to the same places.
        let mut elements = Vec::new();
        for (list, (scope, range)) in list_labels.iter().enumerate() {
            let names = self.arena.elements(*range).iter().filter_map(|element| element.name());
            for name in names.filter(|_| is_used[list]) {
                labels.look_up(self.text(name), *scope, branches.len() + elements.len());
                elements.push((list, None));
            }
        }
        labels.resolve(&scopes, |user, block| match branches.get(user) {
            Some((of, ..)) => blocks[*of].targets = Arc::new([block]),
            None => elements[user - branches.len()].1 = Some(block),
        });
        let mut tables: Vec<Vec<usize>> = vec![Vec::new(); list_labels.len()];
        for (list, block) in elements {
            tables[list].extend(block);
        }
        let tables: Vec<Arc<[usize]>> = tables.into_iter().map(Arc::from).collect();
        for (block, table) in blocks.iter_mut().zip(&table_of) {
            if let Some(table) = table {
                block.targets = tables[*table].clone();
            }
        }
        let joins = Joins::of(&graph(&blocks, &table_of, &tables), &is_leaving);
        for (place, block) in blocks.iter_mut().enumerate() {
            block.join = joins.block_around(joins.inside[place]);
            let own = joins.own[place];
            block.outer_join = joins.block_around(own.and_then(|own| joins.around[own as usize]));
        }
        Flow { blocks, table_of, tables, joins }
    }

    /// Where control continues after a branch or an end; `None` for other instructions.
    fn continuation(&self, instruction: &PtxInstruction<'_>) -> Option<Continuation<'_>> {
        let goes_on = instruction.guard.is_some();
        let name_at = |place: usize| {
            let name = instruction.operands.get(place).filter(|of| of.kind == OperandKind::Name);
            name.map(|name| self.text(name.span))
        };
        let (written, is_end) = match instruction.opcode {
            Opcode::Bra => (name_at(0).map_or(Written::None, Written::Label), false),
            Opcode::Brx => (name_at(1).map_or(Written::None, Written::List), false),
            Opcode::Ret | Opcode::Exit | Opcode::Trap => (Written::None, true),
            _ => return None,
        };
        Some(Continuation { written, goes_on, is_end })
    }

    /// The scopes of a function. They are numbered one after the other, outer ones before inner ones.
    fn scopes_inside(&self, function: &Function) -> Scopes {
        let first = function.scope.0;
        let all = self.scopes.get(first as usize..).unwrap_or_default();
        let id = all.first().and_then(|scope| scope.function);
        let own: Vec<_> = all.iter().take_while(|scope| scope.function == id).collect();
        let mut last: Vec<u32> = (first..first + own.len() as u32).collect();
        for (place, scope) in own.iter().enumerate().rev() {
            let parent = scope.parent.and_then(|parent| parent.0.checked_sub(first));
            let inside = last[place];
            if let Some(around) = parent.and_then(|parent| last.get_mut(parent as usize)) {
                *around = inside.max(*around);
            }
        }
        Scopes { first, last }
    }
}

/// The successors of each block, without duplicates. A list of labels is a node of its own after the blocks, so that the
/// edges are as many as the names in the text, and not as many as branches times labels.
fn graph(
    blocks: &[BasicBlock],
    table_of: &[Option<usize>],
    tables: &[Arc<[usize]>],
) -> Vec<Vec<Node>> {
    let mut edges: Vec<Vec<Node>> = Vec::with_capacity(blocks.len() + tables.len());
    for (block, table) in blocks.iter().zip(table_of) {
        let mut next = match table {
            Some(table) => vec![blocks.len() + table],
            None => block.targets.to_vec(),
        };
        next.extend(block.next.filter(|after| !next.contains(after)));
        edges.push(next);
    }
    // The last list in which each block was seen.
    let mut seen: HashMap<Node, usize> = HashMap::new();
    for (number, table) in tables.iter().enumerate() {
        let is_new = |block: &&usize| seen.insert(**block, number) != Some(number);
        edges.push(table.iter().filter(is_new).copied().collect());
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::read;

    fn blocks(body: &str) -> Vec<BasicBlock> {
        let source = format!(
            ".version 8.8\n.target sm_90\n.entry k() {{ .reg .pred p; .reg .b32 r<9>; {body} }}"
        );
        let module = read(&source).expect("readable");
        module.blocks(&module.functions()[0])
    }

    fn graph(body: &str) -> Vec<(Vec<usize>, bool, Option<usize>)> {
        let blocks = blocks(body).into_iter();
        blocks.map(|block| (block.successors().collect(), block.is_end, block.join)).collect()
    }

    #[test]
    fn loops_and_early_ends() {
        assert_eq!(graph(""), [(vec![], true, None)]);
        // Lanes leave the loop at different times, and wait for each other behind it.
        assert_eq!(
            graph("L: add.u32 r1, r1, 1; @p bra L; add.u32 r1, r1, 1; ret;"),
            [(vec![0, 1], false, Some(1)), (vec![], true, None), (vec![], true, None)]
        );
        // Lanes that only end do not wait.
        assert_eq!(
            graph("@p bra L; add.u32 r1, r1, 1; L: ret;")[..2],
            [(vec![2, 1], false, None), (vec![2], false, None)]
        );
        assert_eq!(
            graph("@p exit; add.u32 r1, r1, 1; ret;")[..2],
            [(vec![1], true, None), (vec![], true, None)]
        );
        // An endless loop has no exit.
        assert_eq!(graph("L: bra L;")[0], (vec![0], false, None));
    }

    #[test]
    fn labels_belong_to_their_braces() {
        let found = graph("{ @p bra L; add.u32 r1, r1, 1; L: } { bra L; L: } L: ret;");
        // Each jump goes to the label in its own braces.
        assert_eq!(found[0].0, [2, 1]);
        assert_eq!(found[2].0, [3]);
        // A label in braces that are closed, and one that is in the middle of two.
        let found = graph("{ L: add.u32 r1, r1, 1; } { { L: ret; } @p bra L; bra M; { M: ret; } }");
        let places: Vec<_> = found.iter().map(|block| &block.0[..]).collect();
        assert_eq!(places[..5], [&[1][..], &[], &[0, 3], &[4], &[]]);
    }

    #[test]
    fn indirect_branches_go_to_their_list() {
        let found = graph(
            "T: .branchtargets A, B; brx.idx r1, T; A: add.u32 r1, r1, 1; bra C; B: ret; C: ret;",
        );
        let (successors, is_end, join) = &found[0];
        assert_eq!((&successors[..], *is_end, *join), (&[1, 2][..], false, None));
    }

    #[test]
    fn branches_share_their_list() {
        let found = blocks("T: .branchtargets A, A; @p brx.idx r1, T; brx.idx r1, T; A: ret;");
        assert_eq!(found[0].targets[..], [2, 2]);
        assert!(Arc::ptr_eq(&found[0].targets, &found[1].targets));
    }

    /// The steps of finding the blocks of a module, and its size.
    fn cost(body: &str) -> (u64, u64) {
        let before = steps();
        let found = blocks(body);
        assert!(!found.is_empty());
        (steps() - before, body.len() as u64)
    }

    /// Texts whose labels, lists, joins or loops cost more than their length if a branch looks at more than its own
    /// neighbours.
    #[test]
    fn the_work_grows_with_the_text() {
        let each = |count: usize, text: &dyn Fn(usize) -> String| -> String {
            (0..count).map(text).collect()
        };
        let nested =
            |count: usize, text: &str| "{".repeat(200) + &text.repeat(count) + &"}".repeat(200);
        let texts: [(&str, &dyn Fn(usize) -> String); 12] = [
            ("labels in closed braces", &|n| {
                "{L: ret;}".repeat(n) + &nested(n, "@p bra L;") + "ret;"
            }),
            ("labels of all braces", &|n| {
                let names = each(n, &|i| format!("N{i}: add.u32 r1, r1, 1;"));
                names + &"{".repeat(200) + &each(n, &|i| format!("@p bra N{i};")) + &"}".repeat(200)
            }),
            ("braces in braces with labels", &|n| {
                let depth = 200.min(n);
                let one = "{L: ".repeat(depth) + &"}".repeat(depth) + "@p bra L; ";
                one.repeat(n.div_ceil(depth)) + &"{ @p bra L; }".repeat(n) + "ret;"
            }),
            ("a list for many branches", &|n| {
                let list = vec!["L"; n].join(", ");
                format!("T: .branchtargets {list};\n") + &"brx.idx r1, T;".repeat(n) + "L: ret;"
            }),
            ("a list of many blocks", &|n| {
                let list = each(n, &|i| format!("L{i}, "));
                let blocks = each(n, &|i| format!("L{i}: @p brx.idx r1, T;"));
                format!("T: .branchtargets {list} L0;\n{blocks} ret;")
            }),
            ("many lists", &|n| {
                let one = |i: usize| format!("T{i}: .branchtargets L{i}; brx.idx r1, T{i}; L{i}:");
                each(n, &one) + "ret;"
            }),
            ("branches forward", &|n| {
                let labels = each(n, &|i| format!("L{i}: add.u32 r1, r1, 1;"));
                each(n, &|i| format!("@p bra L{i};")) + &labels + "ret;"
            }),
            ("branches out of branches", &|n| {
                let labels = each(n, &|i| format!("L{}: add.u32 r1, r1, 1;", n - 1 - i));
                each(n, &|i| format!("@p bra L{i};")) + &labels + "ret;"
            }),
            ("loops in loops", &|n| {
                let ends = each(n, &|i| format!("@p bra L{};", n - 1 - i));
                each(n, &|i| format!("L{i}: add.u32 r1, r1, 1;")) + &ends + "ret;"
            }),
            ("loops with one beginning", &|n| {
                "L: add.u32 r1, r1, 1;".to_owned()
                    + &"@p bra L; add.u32 r1, r1, 1;".repeat(n)
                    + "ret;"
            }),
            ("exits of all loops", &|n| {
                let heads = each(n, &|i| format!("L{i}: add.u32 r1, r1, 1;"));
                let inside = each(n, &|i| format!("@p bra E{i};"));
                let ends =
                    each(n, &|i| format!("@p bra L{0}; E{0}: add.u32 r1, r1, 1;", n - 1 - i));
                heads + &inside + &ends + "ret;"
            }),
            ("jumps into loops", &|n| {
                let jumps = each(n, &|i| format!("@p bra L{i};"));
                let blocks =
                    each(n, &|i| format!("L{i}: @p bra L{}; @p bra L{};", i * 7 % n, i / 2));
                jumps + &blocks + "ret;"
            }),
        ];
        for (name, text) in texts {
            let (small, short) = cost(&text(1000));
            let (large, long) = cost(&text(4000));
            // Nearly linear: a little for the paths that are compressed.
            let growth = (large * short) as f64 / (small * long) as f64;
            assert!(growth < 1.3, "{name}: {small} steps for {short} bytes, {large} for {long}");
            assert!(large < 2 * long, "{name}: {large} steps for {long} bytes");
        }
    }
}
