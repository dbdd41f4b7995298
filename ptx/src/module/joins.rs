//! [`Joins`]: the blocks of a function where lanes that diverged wait for each other.
//!
//! `ptxas` opens a convergence barrier (`BSSY`, before Volta `SSY` and `PBK`) for each block where several ways meet,
//! and for the exits of each loop, and closes it at that block (`BSYNC`, `SYNC`, `BRK`). Lanes that leave on another
//! way are removed from the barrier (`BREAK`, `EXIT`). A barrier is open in the blocks between the branch that all these
//! ways have in common (the immediate dominator of the block, or the loop) and the block. Barriers are properly nested,
//! so they form a tree, the *scopes*. A position of a lane is described by its innermost scope, and a lane that has
//! arrived at a join waits for those whose position is inside the join's scope.
//!
//! All steps are nearly linear in the number of edges.

use std::collections::HashMap;

use super::blocks::count_step;
use warpload_machine::code::JoinScope;

/// A block, or a list of labels, which is numbered after the blocks.
pub(crate) type Node = usize;

/// The joins of a function.
#[derive(Debug, Default)]
pub(crate) struct Joins {
    /// The scope around each scope.
    pub(crate) around: Vec<Option<JoinScope>>,
    /// The scope that ends at the start of each block, where its lanes wait for each other.
    pub(crate) own: Vec<Option<JoinScope>>,
    /// The innermost scope at the end of each block.
    pub(crate) inside: Vec<Option<JoinScope>>,
    /// The edges that close loops. They do not arrive at the join of the loop's first block, which is for lanes from
    /// outside. If a loop has several such edges, lanes wait at one of the `latches` first.
    pub(crate) closing: HashMap<(Node, Node), Option<usize>>,
    /// For each loop that several edges close: its scope and its first block.
    pub(crate) latches: Vec<(JoinScope, Node)>,
    /// The block that each scope ends at.
    ends: Vec<Node>,
}

/// Edges in both directions, between nodes that are reachable from node 0.
struct Graph<'e> {
    next: &'e [Vec<Node>],
    before: Vec<Vec<Node>>,
    /// The number of ways through a node, as far as a join needs it: 1 for a block, and the number of users for a list.
    weights: Vec<usize>,
}

/// An order of the nodes that are reachable from node 0.
struct Order {
    /// The nodes in reverse postorder: a node comes before its successors, apart from edges that close loops.
    nodes: Vec<Node>,
    /// The place of each node in that order.
    place: Vec<Option<usize>>,
    /// The immediate dominator of each node.
    dominator: Vec<Option<Node>>,
    /// First and last number of each node's subtree in the dominator tree.
    spans: Vec<(usize, usize)>,
}

/// A natural loop.
struct Loop {
    parent: Option<usize>,
    /// The loop in this one that begins with the same block.
    inner: Option<usize>,
    /// The number of edges that close it.
    closing: usize,
    /// The index in [`Joins::latches`].
    latch: Option<usize>,
}

/// The loops of a graph. A loop's number is lower than its parent's.
struct Loops {
    loops: Vec<Loop>,
    /// The innermost loop of each node.
    innermost: Vec<Option<usize>>,
    /// The outermost loop that begins with each node.
    begun: Vec<Option<usize>>,
    /// The loop of each closing edge.
    closed: HashMap<(Node, Node), usize>,
    /// The number of loops around each loop and itself, and a loop further out, to climb in logarithmic time. The last
    /// element is for the whole function.
    depths: Vec<usize>,
    jumps: Vec<usize>,
}

impl Joins {
    /// Finds the joins of a graph whose first node is the entry. `is_leaving` has an element for each block: it does
    /// nothing but end the function. Lanes do not wait there.
    pub(super) fn of(edges: &[Vec<Node>], is_leaving: &[bool]) -> Self {
        let blocks = is_leaving.len();
        let graph = Graph::new(edges, blocks);
        let order = Order::new(&graph);
        let mut loops = Loops::new(&graph, &order);
        let mut joins = Self {
            own: vec![None; edges.len()],
            inside: vec![None; edges.len()],
            ..Self::default()
        };
        // The joins that open at each block, and at the beginning of each loop: lists from the last to the first.
        let mut of_block: Vec<Vec<Node>> = vec![Vec::new(); edges.len()];
        let mut of_loop: Vec<Vec<Node>> = vec![Vec::new(); loops.loops.len()];
        let mut is_join = vec![false; edges.len()];
        for node in order.nodes.iter().copied() {
            let is_block = node < blocks && !is_leaving[node];
            if !is_block || !loops.is_joined(&graph, &order, node) {
                continue;
            }
            // A list of labels only passes control on.
            let mut opener = order.dominator[node];
            while let Some(list) = opener.filter(|opener| *opener >= blocks) {
                opener = order.dominator[list];
            }
            let Some(opener) = opener else { continue };
            is_join[node] = true;
            let around = loops.around(node);
            match loops.below(loops.innermost[opener], around) {
                Some(of) => of_loop[of].push(node),
                None => of_block[opener].push(node),
            }
        }
        for node in order.nodes.iter().copied() {
            let mut scope = match order.dominator[node] {
                // Known, because the block that opens the scope comes first.
                _ if is_join[node] => joins.own[node].and_then(|own| joins.around[own as usize]),
                Some(dominator) => joins.inside[dominator],
                None => None,
            };
            let mut next = loops.begun[node];
            while let Some(of) = next {
                scope = joins.open(scope, &of_loop[of]);
                // Lanes cannot wait at a list, only at its blocks.
                if loops.loops[of].closing > 1 && node < blocks {
                    let latch = joins.add(scope, node);
                    scope = Some(latch);
                    loops.loops[of].latch = Some(joins.latches.len());
                    joins.latches.push((latch, node));
                }
                next = loops.loops[of].inner;
            }
            joins.inside[node] = joins.open(scope, &of_block[node]);
        }
        let closed = loops.closed.iter();
        joins.closing = closed.map(|(edge, of)| (*edge, loops.loops[*of].latch)).collect();
        joins
    }

    /// Opens the scopes of joins, the last join first, so that its scope is outermost.
    fn open(&mut self, mut scope: Option<JoinScope>, joins: &[Node]) -> Option<JoinScope> {
        for join in joins.iter().rev() {
            count_step();
            let new = self.add(scope, *join);
            self.own[*join] = Some(new);
            scope = Some(new);
        }
        scope
    }

    fn add(&mut self, around: Option<JoinScope>, end: Node) -> JoinScope {
        let scope = self.around.len() as JoinScope;
        self.around.push(around);
        self.ends.push(end);
        scope
    }

    /// The block where the lanes of a scope meet.
    pub(super) fn block_around(&self, scope: Option<JoinScope>) -> Option<Node> {
        self.ends.get(scope? as usize).copied()
    }

    /// First and last number of each scope in the tree of scopes. A scope is inside another one if its numbers are.
    pub(crate) fn spans(&self) -> Vec<(usize, usize)> {
        let parents = self.around.iter().map(|around| around.map(|around| around as usize));
        spans(&parents.collect::<Vec<_>>())
    }
}

/// Numbers a tree: the first and last number of each node's subtree. Parents come before their children.
fn spans(parents: &[Option<usize>]) -> Vec<(usize, usize)> {
    let mut sizes = vec![1; parents.len()];
    for (node, parent) in parents.iter().enumerate().rev() {
        if let Some(parent) = parent {
            sizes[*parent] += sizes[node];
        }
    }
    // The next free number in each subtree, and among the roots.
    let (mut free, mut root) = (vec![0; parents.len()], 0);
    let mut spans = Vec::with_capacity(parents.len());
    for (node, parent) in parents.iter().enumerate() {
        let next = parent.map_or(&mut root, |parent| &mut free[parent]);
        let first = *next;
        *next += sizes[node];
        free[node] = first + 1;
        spans.push((first, first + sizes[node] - 1));
    }
    spans
}

impl<'e> Graph<'e> {
    fn new(next: &'e [Vec<Node>], blocks: usize) -> Self {
        let mut before = vec![Vec::new(); next.len()];
        let mut is_seen = vec![false; next.len()];
        let mut open: Vec<Node> = Vec::new();
        if let Some(entry) = is_seen.first_mut() {
            *entry = true;
            open.push(0);
        }
        while let Some(node) = open.pop() {
            for to in &next[node] {
                before[*to].push(node);
                if !std::mem::replace(&mut is_seen[*to], true) {
                    open.push(*to);
                }
            }
        }
        let users = |node: Node| if node < blocks { 1 } else { before[node].len() };
        let weights = (0..next.len()).map(users).collect();
        Self { next, before, weights }
    }
}

impl Order {
    fn new(graph: &Graph<'_>) -> Self {
        let count = graph.next.len();
        let (mut nodes, mut preorder) = (Vec::new(), Vec::new());
        let mut number = vec![None; count];
        // The place of each node's parent of the search in preorder.
        let mut parents = Vec::new();
        let mut path: Vec<(Node, usize)> = Vec::new();
        let mut enter = |node, parent, path: &mut Vec<(Node, usize)>, number: &mut Vec<_>| {
            number[node] = Some(preorder.len());
            preorder.push(node);
            parents.push(parent);
            path.push((node, 0));
        };
        if count > 0 {
            enter(0, 0, &mut path, &mut number);
        }
        while let Some((node, next)) = path.last_mut() {
            count_step();
            match graph.next[*node].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if number[to].is_none() {
                        let parent = number[*node].unwrap_or(0);
                        enter(to, parent, &mut path, &mut number);
                    }
                }
                None => {
                    nodes.push(*node);
                    path.pop();
                }
            }
        }
        nodes.reverse();
        let mut place = vec![None; count];
        for (at, node) in nodes.iter().enumerate() {
            place[*node] = Some(at);
        }
        let dominators = dominators(graph, &preorder, &number, &parents);
        let in_preorder = spans(&dominators);
        let mut dominator = vec![None; count];
        let mut of_nodes = vec![(0, 0); count];
        for (at, node) in preorder.iter().enumerate() {
            dominator[*node] = dominators[at].map(|at| preorder[at]);
            of_nodes[*node] = in_preorder[at];
        }
        Self { nodes, place, dominator, spans: of_nodes }
    }

    fn dominates(&self, above: Node, below: Node) -> bool {
        let (above, below) = (self.spans[above], self.spans[below]);
        above.0 <= below.0 && below.1 <= above.1
    }
}

/// The immediate dominators, as places in preorder. [Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a
/// Flowgraph"]
fn dominators(
    graph: &Graph<'_>,
    preorder: &[Node],
    number: &[Option<usize>],
    parents: &[usize],
) -> Vec<Option<usize>> {
    let count = preorder.len();
    let mut forest = Forest {
        semi: (0..count).collect(),
        label: (0..count).collect(),
        ancestor: vec![None; count],
        path: Vec::new(),
    };
    let mut dominators: Vec<Option<usize>> = vec![None; count];
    // Lists of the nodes with each semidominator.
    let (mut first, mut next) = (vec![None; count], vec![None; count]);
    for node in (1..count).rev() {
        for before in &graph.before[preorder[node]] {
            if let Some(before) = number[*before] {
                let best = forest.best(before);
                forest.semi[node] = forest.semi[node].min(forest.semi[best]);
            }
        }
        let semi = forest.semi[node];
        next[node] = first[semi].replace(node);
        let parent = parents[node];
        forest.ancestor[node] = Some(parent);
        while let Some(of) = first[parent] {
            first[parent] = next[of];
            let best = forest.best(of);
            let is_lower = forest.semi[best] < forest.semi[of];
            dominators[of] = Some(if is_lower { best } else { parent });
        }
    }
    for node in 1..count {
        if dominators[node] != Some(forest.semi[node]) {
            dominators[node] = dominators[node].and_then(|above| dominators[above]);
        }
    }
    dominators
}

/// The forest of the dominator search, with compressed paths.
struct Forest {
    semi: Vec<usize>,
    label: Vec<usize>,
    ancestor: Vec<Option<usize>>,
    path: Vec<usize>,
}

impl Forest {
    /// The node with the lowest semidominator between a node and its root.
    fn best(&mut self, node: usize) -> usize {
        let mut at = node;
        while let Some(above) = self.ancestor[at].filter(|above| self.ancestor[*above].is_some()) {
            count_step();
            self.path.push(at);
            at = above;
        }
        while let Some(below) = self.path.pop() {
            if let Some(above) = self.ancestor[below] {
                if self.semi[self.label[above]] < self.semi[self.label[below]] {
                    self.label[below] = self.label[above];
                }
                self.ancestor[below] = self.ancestor[above];
            }
        }
        self.label[node]
    }
}

impl Loops {
    /// Finds the natural loops. Edges that close the loop of the same block are loops of their own, one in the other, if
    /// the way to the end of the outer one leads over the end of the inner one, as in `ptxas`.
    fn new(graph: &Graph<'_>, order: &Order) -> Self {
        let count = graph.next.len();
        let mut found = Self {
            loops: Vec::new(),
            innermost: vec![None; count],
            begun: vec![None; count],
            closed: HashMap::new(),
            depths: Vec::new(),
            jumps: Vec::new(),
        };
        // The first block of the outermost loop so far around each node: a forest whose roots are the sets.
        let mut sets: Vec<Node> = (0..count).collect();
        let mut open: Vec<Node> = Vec::new();
        for header in order.nodes.iter().rev().copied() {
            let is_closing = |node: &Node| order.dominates(header, *node);
            let before = graph.before[header].iter().copied();
            let mut ends: Vec<Node> = before.filter(is_closing).collect();
            ends.sort_unstable_by_key(|node| order.place[*node]);
            let mut last: Option<Node> = None;
            for end in ends {
                let mut members: Vec<Node> = Vec::new();
                let is_around = last.replace(end).is_some_and(|last| order.dominates(last, end));
                open.push(end);
                while let Some(node) = open.pop() {
                    count_step();
                    let set = root(&mut sets, node);
                    if set == header {
                        continue;
                    }
                    sets[set] = header;
                    members.push(set);
                    // Edges that close an inner loop come from inside it.
                    open.extend(&graph.before[set]);
                }
                let inner = found.begun[header];
                let of = match inner {
                    Some(of) if !is_around => of,
                    _ => found.add(header, inner),
                };
                for member in members {
                    match found.begun[member] {
                        Some(inner) => found.loops[inner].parent = Some(of),
                        None => found.innermost[member] = Some(of),
                    }
                }
                found.loops[of].closing += graph.weights[end];
                found.closed.insert((end, header), of);
            }
        }
        found.find_depths();
        found
    }

    /// Adds a loop around the loop `inner`, which begins with the same block.
    fn add(&mut self, header: Node, inner: Option<usize>) -> usize {
        let of = self.loops.len();
        self.loops.push(Loop { parent: None, inner, closing: 0, latch: None });
        match inner {
            Some(inner) => self.loops[inner].parent = Some(of),
            None => self.innermost[header] = Some(of),
        }
        self.begun[header] = Some(of);
        of
    }

    fn find_depths(&mut self) {
        let all = self.loops.len();
        self.depths = vec![0; all + 1];
        self.jumps = vec![all; all + 1];
        for of in (0..all).rev() {
            let parent = self.loops[of].parent.unwrap_or(all);
            let jump = self.jumps[parent];
            let further = self.jumps[jump];
            let [near, far, last] = [parent, jump, further].map(|at| self.depths[at]);
            self.depths[of] = near + 1;
            self.jumps[of] = if near - far == far - last { further } else { parent };
        }
    }

    /// The innermost loop around a node; around the whole loop, if it begins with the node.
    fn around(&self, node: Node) -> Option<usize> {
        match self.begun[node] {
            Some(of) => self.loops[of].parent,
            None => self.innermost[node],
        }
    }

    /// The loop at a depth around a loop.
    fn at_depth(&self, mut of: usize, depth: usize) -> usize {
        let all = self.loops.len();
        while self.depths[of] > depth {
            count_step();
            let jump = self.jumps[of];
            let parent = self.loops.get(of).and_then(|of| of.parent).unwrap_or(all);
            of = if self.depths[jump] >= depth { jump } else { parent };
        }
        of
    }

    /// The loop around `inner` that is directly in `outer`. `None` if `inner` is not in `outer`, or the same.
    fn below(&self, inner: Option<usize>, outer: Option<usize>) -> Option<usize> {
        let outer_depth = outer.map_or(0, |outer| self.depths[outer]);
        let inner = inner.filter(|inner| self.depths[*inner] > outer_depth)?;
        let below = self.at_depth(inner, outer_depth + 1);
        (self.loops[below].parent == outer).then_some(below)
    }

    /// Whether lanes wait for each other at a block: several ways meet there, or one leaves a loop, whose lanes may leave
    /// it at different times.
    fn is_joined(&self, graph: &Graph<'_>, order: &Order, node: Node) -> bool {
        let around = self.around(node);
        let mut ways = 0;
        for before in graph.before[node].iter().copied() {
            count_step();
            if order.dominates(node, before) {
                continue;
            }
            ways += graph.weights[before];
            let from = self.innermost[before];
            let stays = from == around || self.below(around, from).is_some();
            if ways > 1 || from.is_some() && !stays {
                return true;
            }
        }
        false
    }
}

/// The root of a node's set. Shortens the path to it.
fn root(sets: &mut [Node], mut node: Node) -> Node {
    while sets[node] != node {
        count_step();
        sets[node] = sets[sets[node]];
        node = sets[node];
    }
    node
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The nodes that are reachable from `from` without passing `without`.
    fn reached(edges: &[Vec<Node>], from: Node, without: Option<Node>) -> Vec<bool> {
        let mut seen = vec![false; edges.len()];
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if Some(node) != without && !std::mem::replace(&mut seen[node], true) {
                open.extend(&edges[node]);
            }
        }
        seen
    }

    /// Graphs in which a node has at most three successors, and an edge goes at most four nodes further.
    fn graphs() -> impl Strategy<Value = Vec<Vec<Node>>> {
        let node = prop::collection::vec(0_usize..9, 0..3);
        prop::collection::vec(node, 1..14).prop_map(|nodes| {
            let count = nodes.len();
            let of = |(node, steps): (usize, Vec<usize>)| {
                let to = steps.into_iter().map(|step| (node + step).saturating_sub(4));
                let mut to: Vec<_> = to.filter(|to| *to < count).collect();
                to.sort_unstable();
                to.dedup();
                to
            };
            nodes.into_iter().enumerate().map(of).collect()
        })
    }

    proptest! {
        #[test]
        fn dominators_are_on_all_paths(edges in graphs()) {
            let order = Order::new(&Graph::new(&edges, edges.len()));
            let all = reached(&edges, 0, None);
            for node in 0..edges.len() {
                let is_above = |above: &Node| {
                    all[node] && all[*above] && *above != node
                        && !reached(&edges, 0, Some(*above))[node]
                };
                let above: Vec<Node> = (0..edges.len()).filter(is_above).collect();
                // The nearest one is dominated by all others.
                let nearest = above.iter().copied().find(|near| {
                    above.iter().all(|far| far == near || !reached(&edges, 0, Some(*far))[*near])
                });
                prop_assert_eq!(order.dominator[node], nearest, "{}", node);
                for other in (0..edges.len()).filter(|other| all[*other] && all[node]) {
                    let is_dominated = other == node || above.contains(&other);
                    prop_assert_eq!(order.dominates(other, node), is_dominated);
                }
            }
        }

        /// Loops are those of the definition: the header, and all nodes that reach the end without passing it.
        #[test]
        fn loops_are_the_nodes_around_an_edge(edges in graphs()) {
            let graph = Graph::new(&edges, edges.len());
            let order = Order::new(&graph);
            let loops = Loops::new(&graph, &order);
            let all = reached(&edges, 0, None);
            for ((end, header), of) in &loops.closed {
                let is_in = |node: Node| {
                    all[node] && (node == *header || reached(&edges, node, Some(*header))[*end])
                };
                for node in (0..edges.len()).filter(|node| is_in(*node)) {
                    let inner = loops.innermost[node];
                    let is_found = inner == Some(*of) || loops.below(inner, Some(*of)).is_some();
                    prop_assert!(is_found, "{} of {}..{}", node, header, end);
                }
            }
        }

        /// A scope contains all blocks between the block that opens it and its join, apart from edges that close a
        /// loop. Without that, lanes would not wait for all that come.
        #[test]
        fn scopes_contain_the_ways_to_their_join(edges in graphs()) {
            let joins = Joins::of(&edges, &vec![false; edges.len()]);
            let graph = Graph::new(&edges, edges.len());
            let order = Order::new(&graph);
            let forward: Vec<Vec<Node>> = (0..edges.len())
                .map(|from| {
                    let goes_on = |to: &&Node| order.place[**to] > order.place[from];
                    edges[from].iter().filter(goes_on).copied().collect()
                })
                .collect();
            let is_reducible = (0..edges.len()).all(|from| {
                let is_wild = |to: &Node| order.place[*to] <= order.place[from] && !order.dominates(*to, from);
                order.place[from].is_none() || !edges[from].iter().any(is_wild)
            });
            prop_assume!(is_reducible);
            let is_around = |scope: JoinScope, mut inner: Option<JoinScope>| {
                while let Some(at) = inner.filter(|at| *at != scope) {
                    inner = joins.around[at as usize];
                }
                inner == Some(scope)
            };
            for (join, own) in joins.own.iter().enumerate() {
                let (Some(own), Some(opener)) = (*own, order.dominator[join]) else { continue };
                let after = reached(&forward, opener, None);
                for node in (0..edges.len()).filter(|node| after[*node] && *node != join) {
                    if reached(&forward, node, None)[join] {
                        prop_assert!(is_around(own, joins.inside[node]), "{} to {}", node, join);
                    }
                }
            }
        }
    }
}
