//! [`without_relocations`]: replaces the operands that the linker fills in, `` `(symbol) `` and
//! `` `((symbol + 0x8)) ``.

/// Returns the text of an instruction with its relocated operands replaced by 0, so that it can be parsed; `None`
/// without any.
///
/// A relocated constant address names bank and offset at once, even with a register; both become 0.
///
/// ```
/// use warpload_binary::sass::without_relocations;
///
/// let text = "LDS.U.64 R6, [R9+`((tile + 0x8))]";
/// assert_eq!(without_relocations(text).as_deref(), Some("LDS.U.64 R6, [R9+0x0]"));
/// let text = "LDC.U8 R0, c[`(table)]";
/// assert_eq!(without_relocations(text).as_deref(), Some("LDC.U8 R0, c[0x0][0x0]"));
/// let text = "LDC R4, c[R0+`((table + -0x8000))]";
/// assert_eq!(without_relocations(text).as_deref(), Some("LDC R4, c[0x0][R0+0x0]"));
/// assert_eq!(without_relocations("LDS R0, [R1]"), None);
/// ```
#[must_use]
pub fn without_relocations(text: &str) -> Option<String> {
    let mut rest = text;
    let mut replaced = String::new();
    while let Some((before, relocation)) = rest.split_once('`') {
        let after = &relocation[end_of_parentheses(relocation)?..];
        if let Some((before, register)) = without_bank(before, after) {
            replaced += before;
            replaced += "0x0][";
            replaced += register;
        } else {
            replaced += before;
        }
        replaced += "0x0";
        rest = after;
    }
    if replaced.is_empty() { None } else { Some(replaced + rest) }
}

/// Splits the text before a relocation in `` c[R0+`(symbol)] ``, which has one bracket for bank and offset: the text up
/// to the bracket, and the register inside, which can be empty.
fn without_bank<'t>(before: &'t str, after: &str) -> Option<(&'t str, &'t str)> {
    let open = before.rfind("c[")? + "c[".len();
    let (before, register) = before.split_at(open);
    let is_whole = after.starts_with(']') && !after.starts_with("][");
    (is_whole && !register.contains(']')).then_some((before, register))
}

/// The byte after the parenthesis that closes the one at the start of `text`.
fn end_of_parentheses(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relocations_become_zero() {
        for (text, expected) in [
            ("LDS.U.32 R0, [`(sm)]", Some("LDS.U.32 R0, [0x0]")),
            ("LDC R0, c[`((t + 0xc))]", Some("LDC R0, c[0x0][0x0]")),
            ("LDC R0, c[0x3][R2+`(t)]", Some("LDC R0, c[0x3][R2+0x0]")),
            ("LDC R0, c[`(bank)][R2]", Some("LDC R0, c[0x0][R2]")),
            ("LDC R0, c[R4+`((t + -0x8))]", Some("LDC R0, c[0x0][R4+0x0]")),
            ("ULDC UR4, c[UR8+`(t)]", Some("ULDC UR4, c[0x0][UR8+0x0]")),
            ("LDC R0, c[0x3][0x8], [`(t)]", Some("LDC R0, c[0x3][0x8], [0x0]")),
            ("LDC R0, c[`(bank)][`(t)]", Some("LDC R0, c[0x0][0x0]")),
            ("MOV R0, `(a), `((b + 0x4))", Some("MOV R0, 0x0, 0x0")),
            ("LDS R0, [`(sm]", None),
            ("LDS R0, [`sm]", None),
            ("LDS R0, [`)]", None),
            ("LDS R0, [`", None),
            ("", None),
        ] {
            assert_eq!(without_relocations(text).as_deref(), expected, "{text}");
        }
    }
}
