//! The rows. Forms with the same opcode are adjacent; the first one whose conditions hold decides.

mod arithmetic;
mod memory;

use super::language::Form;

/// The number of rows.
const ROWS: usize = arithmetic::FORMS.len() + memory::FORMS.len();

/// All rows.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
pub(super) static FORMS: [Form; ROWS] = {
    let mut rows = [arithmetic::FORMS[0]; ROWS];
    let mut at = 0;
    while at < ROWS {
        rows[at] = match at.checked_sub(arithmetic::FORMS.len()) {
            None => arithmetic::FORMS[at],
            Some(at) => memory::FORMS[at],
        };
        at += 1;
    }
    rows
};

/// The number of forms, counting each class of a family.
pub(super) const COUNT: usize = count(arithmetic::FORMS) + count(memory::FORMS);

const fn count(mut rows: &[Form]) -> usize {
    let mut count = 0;
    while let [form, rest @ ..] = rows {
        count += form.classes.0.count_ones() as usize;
        rows = rest;
    }
    count
}
