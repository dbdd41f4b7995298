//! [`Module::blocks`]: the basic blocks of a function, their successors, and the points where diverged lanes
//! reconverge.

use std::ops::Range;

use super::scopes::{NameMap, StatementId};
use crate::module::{Function, Module, ScopeId, StatementKind};
use crate::syntax::Opcode;
use crate::syntax::load::{OperandKind, PtxInstruction};

/// Consecutive statements that are always executed together, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BasicBlock {
    /// Indices into [`Module::statements`].
    pub statements: Range<usize>,
    /// The blocks that may follow, as indices into [`Module::blocks`], without duplicates. A branch's targets come
    /// before the next block.
    pub successors: Vec<usize>,
    /// The block of each label that the last instruction names, duplicates included.
    pub targets: Vec<usize>,
    /// Whether the function may end after this block.
    pub is_end: bool,
    /// The immediate post-dominator: the first block on all paths from here to the end of the function. `None` if that
    /// is the end itself, or if no path reaches the end.
    pub post_dominator: Option<usize>,
}

/// Where control continues after the last statement of a block.
#[derive(Default)]
struct Continuation<'m> {
    /// The names of the target labels.
    targets: Vec<&'m str>,
    goes_on: bool,
    is_end: bool,
}

/// Labels by name, each with its scope and the block that it begins.
type Labels<'m> = NameMap<&'m str, Vec<(ScopeId, usize)>>;

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
    ///         ret;
    ///     }")?;
    /// let blocks = module.blocks(module.function("k").ok_or("no function")?);
    /// assert_eq!(blocks[0].successors, [2, 1]);
    /// // Lanes that diverge at the first branch rejoin in the last block.
    /// assert_eq!(blocks[0].post_dominator, Some(3));
    /// assert!(blocks[3].is_end);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn blocks(&self, function: &Function) -> Vec<BasicBlock> {
        let Some(body) = function.body.clone() else { return Vec::new() };
        let mut blocks: Vec<BasicBlock> = Vec::new();
        let mut continuations = Vec::new();
        let mut labels = Labels::default();
        let mut start = body.start;
        let mut end_block = |range: Range<usize>, after| {
            blocks.push(BasicBlock { statements: range, ..BasicBlock::default() });
            continuations.push(after);
            blocks.len()
        };
        let (mut block, mut has_code) = (0, false);
        for place in body.clone() {
            let Some(statement) = self.statements.get(place) else { continue };
            match &statement.kind {
                StatementKind::Label(name) => {
                    if std::mem::take(&mut has_code) {
                        let next = Continuation { goes_on: true, ..Continuation::default() };
                        block = end_block(start..place, next);
                        start = place;
                    }
                    labels.entry(self.text(*name)).or_default().push((statement.scope, block));
                }
                StatementKind::Instruction(_) => {
                    has_code = true;
                    let instruction = self.instruction(StatementId(place as u32));
                    if let Some(after) = instruction.and_then(|of| self.continuation(&of)) {
                        block = end_block(start..place + 1, after);
                        start = place + 1;
                        has_code = false;
                    }
                }
                _ => {}
            }
        }
        let last = Continuation { is_end: true, ..Continuation::default() };
        end_block(start..body.end, last);
        for (place, after) in continuations.into_iter().enumerate() {
            let scope = |block: &BasicBlock| {
                let last = block.statements.end.checked_sub(1)?;
                self.statements.get(last).map(|statement| statement.scope)
            };
            let Some(block) = blocks.get_mut(place) else { continue };
            let scope = scope(block).unwrap_or(function.scope);
            let targets =
                after.targets.iter().filter_map(|name| self.labelled(&labels, scope, name));
            block.targets.extend(targets);
            let targets = block.targets.iter().copied();
            for next in targets.chain(after.goes_on.then_some(place + 1)) {
                if !block.successors.contains(&next) {
                    block.successors.push(next);
                }
            }
            block.is_end = after.is_end;
        }
        post_dominators(&mut blocks);
        blocks
    }

    /// Where control continues after a branch or an end; `None` for other instructions.
    fn continuation(&self, instruction: &PtxInstruction<'_>) -> Option<Continuation<'_>> {
        let goes_on = instruction.guard.is_some();
        let none = Continuation { goes_on, ..Continuation::default() };
        let first = instruction.operands.first();
        Some(match instruction.opcode {
            Opcode::Bra => {
                let name = first.filter(|of| of.kind == OperandKind::Name);
                let targets = name.map(|of| self.text(of.span)).into_iter().collect();
                Continuation { targets, ..none }
            }
            Opcode::Brx => {
                let list = instruction.operands.get(1).map(|of| of.span);
                let targets = list.map(|list| self.targets_of(instruction, self.text(list)));
                Continuation { targets: targets.unwrap_or_default(), ..none }
            }
            Opcode::Ret | Opcode::Exit | Opcode::Trap => Continuation { is_end: true, ..none },
            _ => return None,
        })
    }

    /// The names listed by the `.branchtargets` after a label.
    fn targets_of(&self, instruction: &PtxInstruction<'_>, name: &str) -> Vec<&str> {
        let Some(function) = self.function_of(instruction.scope) else { return Vec::new() };
        let body = self.body(function);
        let is_label = |kind: &StatementKind| matches!(kind, StatementKind::Label(label) if self.text(*label) == name);
        let list = body.windows(2).find_map(|pair| match (&pair[0].kind, &pair[1].kind) {
            (label, StatementKind::Targets(list)) if is_label(label) => Some(*list),
            _ => None,
        });
        let elements = list.map(|list| self.arena.elements(list)).unwrap_or_default();
        elements.iter().filter_map(|element| element.name()).map(|name| self.text(name)).collect()
    }

    /// The block of a label, searched from the innermost scope around `scope` outwards.
    fn labelled(&self, labels: &Labels<'_>, scope: ScopeId, name: &str) -> Option<usize> {
        let places = labels.get(name)?;
        let mut around = Some(scope);
        while let Some(scope) = around {
            if let Some((_, block)) = places.iter().find(|place| place.0 == scope) {
                return Some(*block);
            }
            around = self.scopes.get(scope.0 as usize)?.parent;
        }
        // ptxas also accepts a label in a scope that is already closed.
        places.first().map(|place| place.1)
    }
}

/// Finds the immediate post-dominators, which are the dominators of the reversed graph rooted at the function's end.
/// [Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"]
fn post_dominators(blocks: &mut [BasicBlock]) {
    let end = blocks.len();
    let mut predecessors = vec![Vec::new(); end + 1];
    for (place, block) in blocks.iter().enumerate() {
        let after = block.successors.iter().copied().chain(block.is_end.then_some(end));
        for next in after {
            if let Some(predecessors) = predecessors.get_mut(next) {
                predecessors.push(place);
            }
        }
    }
    let order = postorder(&predecessors, end);
    // Blocks are numbered in postorder, so the end has the highest number.
    let mut numbers = vec![None; end + 1];
    for (number, block) in order.iter().enumerate() {
        numbers[*block] = Some(number);
    }
    let last = order.len() - 1;
    let mut dominators = vec![None; order.len()];
    dominators[last] = Some(last);
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for number in (0..last).rev() {
            let block = &blocks[order[number]];
            let after = block.successors.iter().copied().chain(block.is_end.then_some(end));
            let known = after.filter_map(|next| numbers[next]);
            let known = known.filter(|next| dominators[*next].is_some());
            let found = known.reduce(|a, b| common(&dominators, a, b));
            if dominators[number] != found {
                dominators[number] = found;
                is_changed = true;
            }
        }
    }
    for number in 0..last {
        let found = dominators[number].filter(|found| *found != last);
        blocks[order[number]].post_dominator = found.map(|found| order[found]);
    }
}

/// The nearest common dominator of two nodes, given by their numbers.
fn common(dominators: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let lower = if a < b { &mut a } else { &mut b };
        // A processed node's dominator is known and has a higher number, so the loop ends.
        *lower = dominators[*lower].unwrap_or(dominators.len() - 1);
    }
    a
}

/// The nodes reachable from `first`, in postorder.
fn postorder(edges: &[Vec<usize>], first: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut is_seen = vec![false; edges.len()];
    let mut path = vec![(first, 0)];
    is_seen[first] = true;
    while let Some((node, next)) = path.last_mut() {
        match edges[*node].get(*next) {
            Some(&to) => {
                *next += 1;
                if !std::mem::replace(&mut is_seen[to], true) {
                    path.push((to, 0));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        blocks.map(|block| (block.successors, block.is_end, block.post_dominator)).collect()
    }

    #[test]
    fn loops_and_early_ends() {
        assert_eq!(graph(""), [(vec![], true, None)]);
        assert_eq!(
            graph("L: add.u32 r1, r1, 1; @p bra L; ret;"),
            [(vec![0, 1], false, Some(1)), (vec![], true, None), (vec![], true, None)]
        );
        // A guarded `exit` ends some lanes, so only the end is on all paths.
        assert_eq!(
            graph("@p exit; add.u32 r1, r1, 1; ret;")[..2],
            [(vec![1], true, None), (vec![], true, None)]
        );
        // An endless loop has no path to the end.
        assert_eq!(graph("L: bra L;")[0], (vec![0], false, None));
    }

    #[test]
    fn labels_belong_to_their_braces() {
        let found = graph("{ @p bra L; add.u32 r1, r1, 1; L: } { bra L; L: } L: ret;");
        // Each jump goes to the label in its own braces.
        assert_eq!(found[0].0, [2, 1]);
        assert_eq!(found[2].0, [3]);
    }

    #[test]
    fn indirect_branches_go_to_their_list() {
        let found = graph(
            "T: .branchtargets A, B; brx.idx r1, T; A: add.u32 r1, r1, 1; bra C; B: ret; C: ret;",
        );
        let (successors, is_end, post_dominator) = &found[0];
        assert_eq!((&successors[..], *is_end, *post_dominator), (&[1, 2][..], false, None));
    }

    /// Whether a path leads from a block to the end without passing another one.
    fn escapes(blocks: &[BasicBlock], from: usize, without: Option<usize>) -> bool {
        let mut seen = vec![false; blocks.len()];
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if Some(block) == without || std::mem::replace(&mut seen[block], true) {
                continue;
            }
            if blocks[block].is_end {
                return true;
            }
            open.extend(&blocks[block].successors);
        }
        false
    }

    proptest! {
        #[test]
        fn post_dominators_are_on_all_paths(
            jumps in prop::collection::vec((0_usize..12, 0_usize..12, 0_u8..8), 1..12),
        ) {
            let count = jumps.len();
            let mut blocks: Vec<BasicBlock> = jumps
                .into_iter()
                .map(|(a, b, end)| BasicBlock {
                    successors: [a, b].into_iter().filter(|next| *next < count).collect(),
                    is_end: end == 0,
                    ..BasicBlock::default()
                })
                .collect();
            post_dominators(&mut blocks);
            for from in 0..count {
                let dominates =
                    |other: usize| other != from && !escapes(&blocks, from, Some(other));
                let all: Vec<usize> = match escapes(&blocks, from, None) {
                    true => (0..count).filter(|other| dominates(*other)).collect(),
                    false => Vec::new(),
                };
                // All other post-dominators of a node post-dominate its nearest one.
                let is_nearest = |near: usize| {
                    all.iter().all(|far| *far == near || !escapes(&blocks, near, Some(*far)))
                };
                let nearest = all.iter().copied().find(|near| is_nearest(*near));
                prop_assert_eq!(blocks[from].post_dominator, nearest, "{}", from);
            }
        }
    }
}
