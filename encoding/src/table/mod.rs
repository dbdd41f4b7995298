//! The table: every field of every load, and every form of its text.
//!
//! - [`forms`] lists the forms: the fields of each opcode on each SM, their text and their meaning;
//! - `spa5`, `memory`, `constant` and `other` have the fields, one row each, in the types of `row`;
//! - [`values`] has the names of numbers, [`grammar`] the operands.
//!
//! To add an instruction, add its rows and a row in the list of forms.

#[rustfmt::skip]
mod common;
#[rustfmt::skip]
mod constant;
pub(crate) mod forms;
pub(crate) mod grammar;
#[rustfmt::skip]
mod memory;
#[rustfmt::skip]
mod other;
pub(crate) mod row;
#[rustfmt::skip]
pub(crate) mod spa5;
pub(crate) mod values;
