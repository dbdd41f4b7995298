//! The operations that each lane executes independently.
//!
//! The public functions of these modules are the rows of the machine's table. A row takes the types and the payload of
//! an operation, and returns a [`LaneOperation`], or `None` if the machine has no such operation for the types. A new
//! operation is a new row, or a variant of a row's enum and its arm.
//!
//! The payload is captured by the closure of the operation. Frequent operations have a closure for each payload
//! instead, so that the compiler vectorizes them.

use std::fmt;

use crate::code::Op;
use crate::registers::Registers;
use crate::scalar::ScalarType;

/// A [`LaneFunction`] that evaluates an expression of one to three sources in each lane. `inline` is for expressions
/// that the compiler would call otherwise, because they are long, but vectorizes.
macro_rules! each_lane {
    (inline $map:ident, |$($x:ident: $t:ty),+| $result:expr) => {
        LaneFunction::new(move |r, o, e| r.$map(o, e, #[inline(always)] move |$($x: $t),+| $result))
    };
    ($map:ident, |$($x:ident: $t:ty),+| $result:expr) => {
        LaneFunction::new(move |r, o, e| r.$map(o, e, move |$($x: $t),+| $result))
    };
}

/// A [`LaneFunction`] that writes a predicate: a test of two sources of one type.
macro_rules! test_lanes {
    ($t:ty, |$a:ident, $b:ident| $test:expr) => {
        LaneFunction::new(move |r, o, e| {
            let lanes = r.test2(o, move |$a: $t, $b: $t| $test);
            r.put_predicate(o.d, lanes, &[o.a, o.b], e);
        })
    };
}

pub mod conversions;
pub mod flags;
pub mod floats;
pub mod integers;
pub mod moves;
pub mod predicates;
pub mod video;

/// An operation on registers, with the types of its operands.
#[derive(Debug)]
pub struct LaneOperation {
    /// The type of the result.
    pub result: ScalarType,
    /// The types of the sources in order, at most four.
    pub sources: Vec<ScalarType>,
    /// The function, for [`Action::Lanes`](crate::code::Action::Lanes).
    pub function: LaneFunction,
}

impl LaneOperation {
    pub(crate) fn new(
        result: ScalarType,
        sources: &[ScalarType],
        function: LaneFunction,
    ) -> Option<Self> {
        Some(Self { result, sources: sources.to_vec(), function })
    }

    /// An operation on `count` sources of the result's type.
    fn uniform(scalar: ScalarType, count: usize, function: LaneFunction) -> Option<Self> {
        Self::new(scalar, &[scalar; 3][..count], function)
    }
}

/// Computes the result of an operation in the lanes of a mask, and marks it as known or unknown.
pub struct LaneFunction(Box<dyn Execute>);

impl LaneFunction {
    pub(crate) fn new(function: impl Fn(&mut Registers, &Op, u32) + Send + Sync + 'static) -> Self {
        Self(Box::new(function))
    }

    /// Executes the function on the registers that an operation names, in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn execute(&self, registers: &mut Registers, op: &Op, mask: u32) {
        self.0.execute(registers, op, mask);
    }
}

/// Prints the path of the row.
impl fmt::Debug for LaneFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name().trim_end_matches("::{{closure}}"))
    }
}

/// A closure with a name. The compiler's name of the closure has that of its row, so that no row repeats it.
trait Execute: Send + Sync {
    fn execute(&self, registers: &mut Registers, op: &Op, mask: u32);

    fn name(&self) -> &'static str;
}

impl<F: Fn(&mut Registers, &Op, u32) + Send + Sync> Execute for F {
    #[inline(always)]
    fn execute(&self, registers: &mut Registers, op: &Op, mask: u32) {
        self(registers, op, mask);
    }

    fn name(&self) -> &'static str {
        std::any::type_name::<F>()
    }
}
