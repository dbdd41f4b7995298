//! [`Tokens`]: the stack of a warp whose program says itself where its lanes join again.
//!
//! Such a warp has one active path. Lanes that leave it go on when their token is popped, which happens when no lane is
//! left in the path: the other side of a divergent branch, or the lanes of a scope at its target. A lane that waits for
//! another one of its warp waits for ever, as on SM 6.x and before.

use crate::code::JoinKind;
use crate::warp::Path;

/// The most tokens of a warp: as many as calls of a program whose joins are computed.
const MAX_TOKENS: usize = 1 << 12;

/// Lanes that go on later.
#[derive(Clone, Copy, Debug, Hash)]
struct Token {
    /// `None` for one side of a divergent branch.
    kind: Option<JoinKind>,
    path: Path,
}

/// The stack of a warp, and the lanes that have left scopes by a break, a continue or a return.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Tokens {
    stack: Vec<Token>,
    left: [u32; 3],
}

/// The place of a kind's lanes in [`Tokens::left`]. Lanes that synchronize leave only the path.
fn place(kind: JoinKind) -> Option<usize> {
    match kind {
        JoinKind::Sync => None,
        JoinKind::Break => Some(0),
        JoinKind::Continue => Some(1),
        JoinKind::Return => Some(2),
    }
}

impl Tokens {
    pub(crate) fn clear(&mut self) {
        self.stack.clear();
        self.left = [0; 3];
    }

    /// Pushes lanes that go on at the path's instruction: of a scope, or of a branch. Returns whether there was room.
    pub(crate) fn push(&mut self, kind: Option<JoinKind>, path: Path) -> bool {
        let has_room = self.stack.len() < MAX_TOKENS;
        if has_room {
            self.stack.push(Token { kind, path });
        }
        has_room
    }

    /// Notes that lanes leave the scopes of a kind.
    pub(crate) fn leave(&mut self, kind: JoinKind, lanes: u32) {
        if let Some(left) = place(kind).and_then(|at| self.left.get_mut(at)) {
            *left |= lanes;
        }
    }

    /// Pops the next path with lanes that are alive and have not left it.
    pub(crate) fn pop(&mut self, alive: u32) -> Option<Path> {
        while let Some(Token { kind, path }) = self.stack.pop() {
            if let Some(left) = kind.and_then(place).and_then(|at| self.left.get_mut(at)) {
                *left &= !path.mask;
            }
            let gone = self.left.iter().fold(!alive, |all, left| all | left);
            let mask = path.mask & !gone;
            if mask != 0 {
                return Some(Path { mask, ..path });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Pc;

    fn path(mask: u32, pc: Pc) -> Path {
        Path { mask, pc, frame: 0 }
    }

    fn popped(tokens: &mut Tokens, alive: u32) -> Vec<(u32, Pc)> {
        std::iter::from_fn(|| tokens.pop(alive)).map(|path| (path.mask, path.pc)).collect()
    }

    #[test]
    fn sides_of_a_branch_come_before_their_join() {
        let mut tokens = Tokens::default();
        tokens.push(Some(JoinKind::Sync), path(0xff, 9));
        tokens.push(None, path(0x0f, 4));
        assert_eq!(popped(&mut tokens, 0xff), [(0x0f, 4), (0xff, 9)]);
        tokens.push(Some(JoinKind::Sync), path(0xff, 9));
        assert_eq!(popped(&mut tokens, 0x3), [(0x3, 9)]);
    }

    #[test]
    fn lanes_that_broke_skip_the_joins_inside() {
        let mut tokens = Tokens::default();
        tokens.push(Some(JoinKind::Break), path(0xff, 20));
        tokens.push(Some(JoinKind::Sync), path(0xff, 9));
        tokens.push(None, path(0x0f, 4));
        tokens.leave(JoinKind::Break, 0xf1);
        assert_eq!(tokens.pop(0xff).map(|path| (path.mask, path.pc)), Some((0x0e, 4)));
        assert_eq!(tokens.pop(0xff).map(|path| (path.mask, path.pc)), Some((0x0e, 9)));
        tokens.leave(JoinKind::Break, 0x0e);
        // All are back after the loop.
        assert_eq!(popped(&mut tokens, 0xff), [(0xff, 20)]);
        // A return inside of a loop passes both.
        tokens.push(Some(JoinKind::Return), path(0xff, 30));
        tokens.push(Some(JoinKind::Break), path(0xff, 20));
        tokens.leave(JoinKind::Return, 0x0f);
        tokens.leave(JoinKind::Break, 0xf0);
        assert_eq!(popped(&mut tokens, 0xff), [(0xf0, 20), (0xff, 30)]);
    }

    #[test]
    fn the_stack_is_bounded() {
        let mut tokens = Tokens::default();
        let pushed = (0..2 * MAX_TOKENS).filter(|_| tokens.push(None, path(1, 0))).count();
        assert_eq!(pushed, MAX_TOKENS);
    }
}
