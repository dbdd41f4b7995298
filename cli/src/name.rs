//! What text output is made of: names from inputs, which can hold any character and be of any length,
//! made fit for a terminal; and counts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

pub(crate) use warpload_suite::text::{escape, is_invisible, visible};

/// How many characters of a name a table shows.
const MAX_CELL: usize = 60;

/// How many characters of a message are shown.
const MAX_MESSAGE: usize = 4000;

/// Returns `text` with what [`visible`] escapes replaced by characters that take as many bytes, so that
/// places in it stay. The renderer of messages replaces those of one byte.
pub(crate) fn replaced(text: &str) -> String {
    let shown = |character: char| match character.len_utf8() {
        2 if is_invisible(character) => '¿',
        3 if is_invisible(character) => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    text.chars().map(shown).collect()
}

/// Returns `text` as a part of a message, which can have several lines: visible, and shortened in the
/// middle if it is too long.
pub(crate) fn message(text: &str) -> String {
    let lines = text.split('\n').map(visible).collect::<Vec<_>>();
    let shown = lines.join("\n");
    let length = shown.chars().count();
    if length <= MAX_MESSAGE {
        return shown;
    }
    let side = MAX_MESSAGE / 2;
    let head = shown.chars().take(side);
    head.chain(['…']).chain(shown.chars().skip(length - side)).collect()
}

/// Returns `text` as a cell of a table: visible, and shortened in the middle if it is too long.
pub(crate) fn cell(text: &str) -> String {
    shortened(&visible(text), None)
}

/// Returns names as the cells of a column. Long names that would have the same cell are shown where they differ, because
/// instances of a template often do so far inside.
pub(crate) fn cells<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    /// Names that agree for longer are equal in the table, too.
    const ROUNDS: usize = 16;
    let names: Vec<Cow<'_, str>> = names.map(visible).collect();
    let mut cells: Vec<String> = names.iter().map(|name| shortened(name, None)).collect();
    for _ in 0..ROUNDS {
        // By cell: its first name, and how many characters at least that has in common with others.
        let mut groups: HashMap<String, (&str, usize)> = HashMap::new();
        for (name, cell) in names.iter().zip(&cells) {
            let (first, common) = groups.entry(cell.clone()).or_insert((name, usize::MAX));
            if first != name {
                let pairs = first.chars().zip(name.chars());
                *common = pairs.take_while(|(one, other)| one == other).count().min(*common);
            }
        }
        groups.retain(|_, (_, common)| *common < usize::MAX);
        if groups.is_empty() {
            break;
        }
        for (name, cell) in names.iter().zip(&mut cells) {
            if let Some((_, common)) = groups.get(cell) {
                *cell = shortened(name, Some(*common));
            }
        }
    }
    cells
}

/// Returns the ends of a name that is too long for a cell, and what is around a place between them.
fn shortened(name: &str, around: Option<usize>) -> String {
    let length = name.chars().count();
    if length <= MAX_CELL {
        return name.to_owned();
    }
    let part = |from: usize, count: usize| name.chars().skip(from).take(count);
    let Some(around) = around else {
        let side = (MAX_CELL - 1) / 2;
        return part(0, MAX_CELL - 1 - side)
            .chain(['…'])
            .chain(part(length - side, side))
            .collect();
    };
    /// How much of either end is left.
    const END: usize = MAX_CELL / 4;
    const MIDDLE: usize = MAX_CELL - 2 * END - 2;
    let from = around.saturating_sub(MIDDLE / 4).max(END);
    let (head, middle, tail) = (part(0, END), part(from, MIDDLE), part(length - END, END));
    head.chain(['…']).chain(middle).chain(['…']).chain(tail).collect()
}

/// Returns the count with what is counted: `1 load`, `2 loads`.
pub(crate) fn plural<N: Display + PartialEq + From<u8>>(count: N, one: &str) -> String {
    format!("{count} {one}{}", if count == N::from(1) { "" } else { "s" })
}

/// The name of a file. As the context of an error it also tells which file the error is about.
#[derive(Clone, Debug)]
pub(crate) struct Name(String);

impl Display for Name {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_visible_and_bounded() {
        assert_eq!(message("a\nb\u{9b}31m"), "a\nb\\u{9b}31m");
        let long = message(&"x".repeat(1 << 20));
        assert_eq!((long.chars().count(), long.contains('…')), (MAX_MESSAGE + 1, true));
        let text = "a\u{85}\u{2028}b\u{9b}";
        assert_eq!(replaced(text), "a¿\u{fffd}b¿");
        assert_eq!(replaced(text).len(), text.len());
    }

    #[test]
    fn cells_are_shortened_in_the_middle() {
        let fits = "x".repeat(60);
        assert_eq!(cell(&fits), fits);
        for long in [61, 65_536, 1 << 20] {
            let text = format!("{}é{}", "a".repeat(long / 2), "z".repeat(long - long / 2 - 1));
            let cell = cell(&text);
            assert_eq!(cell.chars().count(), 60, "{long}");
            assert!(cell.starts_with("aaa") && cell.contains('…') && cell.ends_with("zzz"));
        }
        // What escaping adds counts too.
        assert_eq!(cell(&"\u{1b}".repeat(100)).chars().count(), 60);
    }

    #[test]
    fn cells_keep_what_distinguishes_names() {
        let kernel = |tile: &str, stages: u32| {
            let types = "cutlass::half_t, cutlass::layout::RowMajor, ".repeat(4);
            format!(
                "void cutlass::Kernel<cutlass::gemm::Gemm<{types}GemmShape<{tile}>, {types}{stages}> >(Params)"
            )
        };
        let mut names = Vec::new();
        for tile in ["128, 128, 32", "128, 128, 64", "256, 128, 32"] {
            names.extend([3, 4].map(|stages| kernel(tile, stages)));
        }
        names.extend(["main".to_owned(), "x".repeat(100), "x".repeat(101), names[0].clone()]);
        let cells = cells(names.iter().map(String::as_str));
        assert_eq!(cells[6], "main");
        for (i, one) in names.iter().enumerate() {
            assert!(cells[i].chars().count() <= 60, "{}", cells[i]);
            for (k, other) in names.iter().enumerate() {
                assert_eq!(cells[i] == cells[k], one == other, "{one} {other}: {}", cells[i]);
            }
        }
        assert!(cells[0].contains("128, 32") && cells[2].contains("128, 64"), "{cells:?}");
        assert!(cells[0].starts_with("void cutlass::") && cells[0].ends_with("(Params)"));
    }
}
