//! Text and numbers in the form that the page shows.

/// Escapes text for HTML elements and quoted attributes.
///
/// Control characters are invalid in HTML, and characters that change the direction of writing could disguise a name.
/// Both become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                escaped.push('\u{fffd}');
            }
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Escapes text and cuts it after `most` characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", escape(&text[..end])),
        None => escape(text),
    }
}

/// A count, its digits in groups of three.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count with its noun `one`, in the plural unless the count is 1.
pub(crate) fn of(number: u64, one: &str) -> String {
    let ending = match number {
        1 => "",
        _ if one.ends_with(['s', 'h']) => "es",
        _ => "s",
    };
    format!("{} {one}{ending}", count(number))
}

pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut scaled = number as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 1023.95 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(scaled.fract() >= 0.05);
    format!("{scaled:.decimals$} {}", UNITS[unit])
}

/// `part` divided by `all`; 0 if `all` is 0.
pub(crate) fn per(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// A percentage; `–` if `all` is 0.
pub(crate) fn percent(part: u64, all: u64) -> String {
    if all == 0 { "–".to_owned() } else { format!("{:.0} %", 100.0 * per(part, all)) }
}

/// A coordinate in its shortest form.
pub(crate) fn coordinate(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(escape("a<b> & 'c' \"d\""), "a&lt;b&gt; &amp; &#39;c&#39; &quot;d&quot;");
        assert_eq!(escape("\u{0}x\u{202e}y\n"), "\u{fffd}x\u{fffd}y\u{fffd}");
        assert_eq!(cut(&"<".repeat(300), 200), "&lt;".repeat(200) + "…");
    }

    #[test]
    fn numbers() {
        assert_eq!(
            (count(0), count(999), count(1_234_567)),
            ("0".into(), "999".into(), "1,234,567".into())
        );
        assert_eq!(
            (bytes(1023), bytes(4096), bytes(1_572_864)),
            ("1023 B".into(), "4 KiB".into(), "1.5 MiB".into())
        );
        assert_eq!(bytes(u64::MAX), "16 EiB");
        assert_eq!((of(1, "load"), of(2, "load")), ("1 load".into(), "2 loads".into()));
        assert_eq!((of(1, "address"), of(0, "launch")), ("1 address".into(), "0 launches".into()));
        assert_eq!((coordinate(3.0), coordinate(0.25)), ("3".into(), "0.2".into()));
    }
}
