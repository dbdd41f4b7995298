//! Addresses as the assembler sees them: a root, and a constant that a displacement can take over.
//!
//! The assembler fuses an addition with the multiplication, shift or addition before it if it is the only user of the
//! first result. A constant inside a fused instruction is not found again by later additions. The operations below
//! decide which constants stay visible. Found by compiling expressions with ptxas 12.9; docs/ptx-lower.md has the rules
//! in words.

use std::collections::HashMap;

use crate::module::DeclarationId;
use crate::syntax::StateSpace;

/// The part of a value that is not its constant. Equal roots are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Root(u32);

/// A root plus a constant; without a root, the constant alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value {
    pub(super) root: Option<Root>,
    /// Sign-extended from the width of the value.
    pub(super) constant: i64,
    hold: Hold,
}

/// How far further operations can move the constant out of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Hold {
    /// Moved past further additions and shifts.
    Free,
    /// Part of a shift-and-add: moved past shifts only.
    ShiftAdd,
    /// Part of another fused instruction: not moved.
    Kept,
    /// The address of a variable, which counts as a plain number only in 32 bits.
    Symbol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    /// A value that is not analysed, with a unique number.
    Opaque(u32),
    /// A word of a constant bank, a parameter or a constant: the bank and the offset.
    Bank(u8, i64),
    /// The address of a global variable, which the linker puts into a constant bank.
    Global(DeclarationId),
    /// The address of a local variable.
    Local(DeclarationId),
    Sum(Value, Value),
    /// A sum fused with its multiplication, or with its shift and constant.
    Fused(Value, Value),
    /// A value of 32 bits and its shift count.
    Shifted(Value, u32),
    /// A product that can be fused with an addition.
    Product(Value, i64),
    /// Other products of 64 bits, including shifts.
    Scaled(Value, i64),
    /// A copy with another width or space.
    Converted(Value, Conversion),
}

/// The conversion that a copy performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Conversion {
    SignExtend,
    ZeroExtend,
    Truncate,
    /// A space's address made generic.
    FromSpace(StateSpace),
    /// A generic address made an address of the space.
    ToSpace(StateSpace),
}

/// An operand, and whether this is the only use of its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) value: Value,
    pub(super) is_single: bool,
}

impl Value {
    pub(super) fn number(constant: i64) -> Self {
        Self { root: None, constant, hold: Hold::Free }
    }

    /// The address of a shared or constant variable.
    pub(super) fn symbol(address: i64) -> Self {
        Self { root: None, constant: address, hold: Hold::Symbol }
    }

    fn of(root: Root) -> Self {
        Self { root: Some(root), constant: 0, hold: Hold::Free }
    }

    /// The same root with another constant.
    pub(super) fn offset(self, bytes: i64) -> Self {
        let hold = match self.hold {
            Hold::Symbol if bytes != 0 => Hold::Free,
            hold => hold,
        };
        Self { constant: self.constant.wrapping_add(bytes), hold, ..self }
    }

    /// The same root with the low 32 bits of the constant.
    pub(super) fn in_32_bits(self) -> Self {
        Self { constant: i64::from(self.constant as i32), ..self }
    }
}

/// The values of a function. Each root is stored once, so that equal computations get equal roots.
#[derive(Debug, Default)]
pub(super) struct Values {
    nodes: Vec<Known>,
    known: HashMap<Node, Root>,
}

#[derive(Debug)]
struct Known {
    node: Node,
    /// The number of low bits known to be 0.
    zero_bits: u32,
}

/// The zero bits of the number 0.
const ALL_ZERO: u32 = 64;

impl Values {
    fn root(&mut self, node: Node, zero_bits: u32) -> Root {
        let nodes = &mut self.nodes;
        let zero_bits = zero_bits.min(ALL_ZERO);
        *self.known.entry(node).or_insert_with(|| {
            nodes.push(Known { node, zero_bits });
            Root(nodes.len() as u32 - 1)
        })
    }

    fn node(&self, root: Option<Root>) -> Option<Node> {
        self.nodes.get(root?.0 as usize).map(|known| known.node)
    }

    /// A value known only in its low bits.
    pub(super) fn opaque(&mut self, zero_bits: u32) -> Value {
        let number = self.nodes.len() as u32;
        Value::of(self.root(Node::Opaque(number), zero_bits))
    }

    /// The word at an offset of a constant bank.
    pub(super) fn bank(&mut self, bank: u8, offset: i64) -> Value {
        Value::of(self.root(Node::Bank(bank, offset), 0))
    }

    /// The address of a global variable.
    pub(super) fn global(&mut self, id: DeclarationId, alignment: u64) -> Value {
        Value::of(self.root(Node::Global(id), alignment.trailing_zeros()))
    }

    /// The address of a local variable.
    pub(super) fn local(&mut self, id: DeclarationId, alignment: u64) -> Value {
        Value::of(self.root(Node::Local(id), alignment.trailing_zeros()))
    }

    /// The local variable that the value points into.
    pub(super) fn local_variable(&self, value: Value) -> Option<DeclarationId> {
        match self.node(value.root) {
            Some(Node::Local(id)) => Some(id),
            _ => None,
        }
    }

    /// Whether a root lies in a constant bank, as parameters, constants and addresses of global variables do.
    pub(super) fn is_in_bank(&self, root: Root) -> bool {
        matches!(self.node(Some(root)), Some(Node::Bank(..) | Node::Global(_)))
    }

    /// The number of a root's low bits known to be 0.
    pub(super) fn zero_bits(&self, root: Root) -> u32 {
        let zero_bits = self.nodes.get(root.0 as usize).map(|known| known.zero_bits);
        debug_assert!(zero_bits.is_some(), "roots are nodes of these values");
        zero_bits.unwrap_or(0)
    }

    /// [`Self::zero_bits`] of the root and the constant together.
    fn all_zero_bits(&self, value: Value) -> u32 {
        let of_root = value.root.map_or(ALL_ZERO, |root| self.zero_bits(root));
        of_root.min(value.constant.trailing_zeros())
    }

    pub(super) fn sum(&mut self, a: Term, b: Term, width: Width) -> Value {
        match (a.value.root, b.value.root) {
            (_, None) => self.plus(a, b.value, width),
            (None, _) => self.plus(b, a.value, width),
            (Some(_), Some(_)) => self.sum_of_roots(a, b, width),
        }
    }

    /// A value plus a constant.
    fn plus(&mut self, term: Term, number: Value, width: Width) -> Value {
        let value = term.value;
        if number == Value::number(0) {
            return value;
        }
        let sum = |hold| Value {
            constant: width.wrap(value.constant.wrapping_add(number.constant)),
            hold,
            ..value
        };
        let hold = match (value.hold, number.hold) {
            (Hold::Symbol, Hold::Free) if number.constant != 0 => Hold::Free,
            (Hold::Free, Hold::Symbol) if value.constant == 0 => Hold::Symbol,
            (hold, _) => hold,
        };
        match (self.node(value.root), width) {
            (Some(Node::Product(..)), _) if term.is_single && value.constant == 0 => {
                self.fused(value, number)
            }
            (Some(Node::Shifted(of, _)), Width::Bits32) if term.is_single => {
                let is_in_bank = of.root.is_some_and(|root| self.is_in_bank(root));
                if is_in_bank && of.constant == 0 {
                    self.fused(value, number)
                } else {
                    sum(value.hold.max(Hold::ShiftAdd))
                }
            }
            (Some(Node::Scaled(_, factor)), Width::Bits64)
                if term.is_single && !is_power_of_two(factor) =>
            {
                sum(hold.max(Hold::ShiftAdd))
            }
            (Some(_), Width::Bits32) => sum(value.hold),
            (Some(_), Width::Bits64) | (None, _) => sum(hold),
        }
    }

    fn sum_of_roots(&mut self, a: Term, b: Term, width: Width) -> Value {
        let is_multiplied = |term: Term| {
            term.is_single && matches!(self.node(term.value.root), Some(Node::Product(..)))
        };
        let is_shifted = |value: Value| matches!(self.node(value.root), Some(Node::Shifted(..)));
        if is_multiplied(a) || is_multiplied(b) {
            // Of the other operand, only the constant of a shift stays visible.
            let other = if is_multiplied(a) { b.value } else { a.value };
            let is_found = is_shifted(other) && other.hold == Hold::Free;
            let moved = if is_found { other.constant } else { 0 };
            let rest = other.offset(moved.wrapping_neg());
            let product = if is_multiplied(a) { a.value } else { b.value };
            return Value { constant: moved, hold: Hold::Kept, ..self.fused(product, rest) };
        }
        // ptxas fuses two additions into one instruction, so a shift-and-add finds no constant in a sum.
        let is_summed = |value: Value| matches!(self.node(value.root), Some(Node::Sum(..)));
        let moves = |value: Value, other: Value| {
            let is_hidden = width == Width::Bits32 && is_shifted(other) && is_summed(value);
            value.hold == Hold::Free
                && !is_hidden
                && !value.root.is_some_and(|root| self.is_in_bank(root))
        };
        let hold = match width {
            Width::Bits32 if is_shifted(a.value) || is_shifted(b.value) => Hold::ShiftAdd,
            _ => Hold::Kept,
        };
        let mut constant = 0_i64;
        let mut terms = [(a.value, b.value), (b.value, a.value)].map(|(value, other)| {
            if !moves(value, other) {
                return value;
            }
            constant = constant.wrapping_add(value.constant);
            Value { constant: 0, hold: Hold::Free, ..value }
        });
        terms.sort();
        let [first, second] = terms;
        let zero_bits = self.all_zero_bits(first).min(self.all_zero_bits(second));
        let root = self.root(Node::Sum(first, second), zero_bits);
        let hold = if constant == 0 { Hold::Free } else { hold };
        Value { root: Some(root), constant: width.wrap(constant), hold }
    }

    /// `mad.lo` in 32 bits.
    pub(super) fn multiply_add(&mut self, value: Value, factor: i64, added: Term) -> Value {
        let product = self.product(value, factor);
        if value.root.is_none() || factor == 0 || is_power_of_two(factor) {
            return self.sum(Term { value: product, is_single: true }, added, Width::Bits32);
        }
        self.fused(product, added.value)
    }

    /// `mad.wide`: a 64-bit sum of a product and a value. Every constant in it stays visible.
    pub(super) fn add_product(&mut self, product: Value, added: Value) -> Value {
        let free = |value: Value| match value.hold {
            Hold::Symbol => Value { hold: Hold::Free, ..value },
            _ => value,
        };
        let term = |value| Term { value, is_single: false };
        self.sum(term(product), term(free(added)), Width::Bits64)
    }

    fn fused(&mut self, a: Value, b: Value) -> Value {
        let zero_bits = self.all_zero_bits(a).min(self.all_zero_bits(b));
        Value::of(self.root(Node::Fused(a.min(b), a.max(b)), zero_bits))
    }

    /// A 32-bit product.
    pub(super) fn product(&mut self, value: Value, factor: i64) -> Value {
        let width = Width::Bits32;
        let constant = width.wrap(value.constant.wrapping_mul(factor));
        if value.root.is_none() || factor == 0 {
            return Value::number(constant);
        }
        if factor == 1 {
            return value;
        }
        let zero_bits = |values: &Self, of| values.all_zero_bits(of) + factor.trailing_zeros();
        if !is_power_of_two(factor) {
            // The constant is multiplied separately, and that multiplication is fused with the product.
            let node = match value.constant {
                0 => Node::Product(value, factor),
                _ => Node::Fused(value, Value::number(factor)),
            };
            let zero_bits = zero_bits(self, value);
            return Value::of(self.root(node, zero_bits));
        }
        let shift = factor.trailing_zeros();
        if value.hold == Hold::Kept || value.root.is_some_and(|root| self.is_in_bank(root)) {
            let zero_bits = zero_bits(self, value);
            return Value::of(self.root(Node::Shifted(value, shift), zero_bits));
        }
        let of = Value { constant: 0, hold: Hold::Free, ..value };
        let zero_bits = zero_bits(self, of);
        let root = Some(self.root(Node::Shifted(of, shift), zero_bits));
        Value { root, constant, hold: Hold::Free }
    }

    /// A 64-bit product.
    pub(super) fn long_product(&mut self, value: Value, factor: i64) -> Value {
        self.scaled(value, factor, Node::Scaled)
    }

    /// The 64-bit product of two 32-bit factors; `extended` is the one that is not constant.
    pub(super) fn wide_product(&mut self, extended: Value, factor: i64) -> Value {
        let node = if is_power_of_two(factor) { Node::Scaled } else { Node::Product };
        self.scaled(extended, factor, node)
    }

    fn scaled(&mut self, value: Value, factor: i64, node: fn(Value, i64) -> Node) -> Value {
        if value.root.is_none() || factor == 0 {
            return Value::number(value.constant.wrapping_mul(factor));
        }
        if factor == 1 {
            return value;
        }
        let zero_bits = self.all_zero_bits(value) + factor.trailing_zeros();
        Value::of(self.root(node(value, factor), zero_bits))
    }

    pub(super) fn converted(&mut self, value: Value, conversion: Conversion) -> Value {
        match conversion {
            Conversion::SignExtend if value.root.is_none() => value,
            Conversion::ZeroExtend if value.root.is_none() => {
                Value { constant: i64::from(value.constant as u32), ..value }
            }
            Conversion::Truncate if value.root.is_none() => {
                Value { constant: i64::from(value.constant as i32), ..value }
            }
            Conversion::ToSpace(_) => {
                let of = Value { constant: 0, hold: Hold::Free, ..value };
                let zero_bits = self.all_zero_bits(of);
                let root = Some(self.root(Node::Converted(of, conversion), zero_bits));
                Value { root, ..value }
            }
            _ => {
                let zero_bits = self.all_zero_bits(value);
                Value::of(self.root(Node::Converted(value, conversion), zero_bits))
            }
        }
    }
}

fn is_power_of_two(factor: i64) -> bool {
    u64::try_from(factor).is_ok_and(u64::is_power_of_two)
}

/// The width of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Bits32,
    Bits64,
}

impl Width {
    pub(super) fn of(bits: u32) -> Self {
        if bits > 32 { Self::Bits64 } else { Self::Bits32 }
    }

    /// Sign-extends a number from this width.
    pub(super) fn wrap(self, number: i64) -> i64 {
        match self {
            Self::Bits32 => i64::from(number as i32),
            Self::Bits64 => number,
        }
    }
}
