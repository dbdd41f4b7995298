//! [`Aims`]: the pairs of flags that each case aims at.

use crate::draft::Ending;
use crate::flags;

/// The pairs that one case aims at.
pub(super) const PAIRS: usize = 3;

/// The pairs of flags in the order in which cases aim at them. Those that end alike, with a fault for
/// example, are aimed at together.
#[derive(Debug)]
pub(super) struct Aims {
    /// Pairs of flags by number: of loads that fault, of those that no lane executes, and all others.
    classes: [Vec<[usize; 2]>; 3],
}

impl Aims {
    /// Creates the aims of pairs that do not exclude each other.
    pub(super) fn new(pairs: impl Iterator<Item = [usize; 2]>) -> Self {
        let mut classes = [const { Vec::new() }; 3];
        for pair in pairs {
            let endings = pair.iter().filter_map(|number| flags::all().get(*number));
            let class = match endings.fold(Ending::Any as u8, |both, flag| both & flag.endings()) {
                both if both == Ending::Faults as u8 => 0,
                both if both == Ending::NoLane as u8 => 1,
                _ => 2,
            };
            if let Some(class) = classes.get_mut(class) {
                class.push(pair);
            }
        }
        Self { classes }
    }

    /// Returns the pairs of a case. As many cases as there are thirds of pairs visit all of them, after which
    /// they start again in other combinations.
    pub(super) fn of_case(&self, seed: u64, number: u64) -> Vec<[usize; 2]> {
        let groups = |class: &Vec<[usize; 2]>| class.len().div_ceil(PAIRS) as u64;
        let all: u64 = self.classes.iter().map(groups).sum();
        let Some(pass) = number.checked_div(all) else { return Vec::new() };
        let mut group = spread(number % all, all, seed);
        for class in &self.classes {
            let count = groups(class);
            if group < count {
                let first = group * PAIRS as u64 + pass;
                let at = |i| spread(first.wrapping_add(i), class.len() as u64, 0);
                let places = (0..(PAIRS as u64).min(class.len() as u64)).map(at);
                return places.filter_map(|at| class.get(at as usize).copied()).collect();
            }
            group -= count;
        }
        Vec::new()
    }
}

/// Maps the numbers below `count` to each other so that neighbours come apart: in the list they have a
/// flag in common.
fn spread(number: u64, count: u64, start: u64) -> u64 {
    let stride = (count * 5 / 8..).find(|stride| gcd(*stride, count) == 1).unwrap_or(1);
    let place = u128::from(number) * u128::from(stride) + u128::from(start);
    (place % u128::from(count.max(1))) as u64
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
