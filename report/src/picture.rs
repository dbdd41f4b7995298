//! [`Picture`]: the elements of an SVG. A finished picture is a self-contained drawing about the threads of a warp,
//! light or dark as its reader prefers. Each thread has a colour, on terminals too: four threads in a row share a hue,
//! and differ in lightness.

use std::fmt::{Display, Write};

use warpload::lane::LANES;

use super::text::escape;

/// Approximate widths of a letter: of a title, of a note, and of other text.
pub(crate) const TITLE_LETTER: usize = 12;
pub(crate) const NOTE_LETTER: usize = 9;
pub(crate) const LETTER: usize = 8;

/// The elements of a picture so far. Their classes are defined in [`STYLE`], and `t0` to `t31` are the colours of
/// threads.
#[derive(Default)]
pub(crate) struct Picture {
    svg: String,
}

impl Picture {
    /// Writes text. The point is the middle of its baseline, unless `class` contains `start` or `end`.
    pub(crate) fn text(
        &mut self,
        class: &str,
        (x, y): (impl Display, impl Display),
        text: impl Display,
    ) {
        let text = escape(&text.to_string());
        self.element(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    /// Draws a rectangle. The point is its upper left corner.
    pub(crate) fn rectangle(
        &mut self,
        class: &str,
        (x, y): (impl Display, impl Display),
        (width, height): (impl Display, impl Display),
    ) {
        self.element(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    /// Groups elements under a name, which browsers show when the pointer is on them.
    pub(crate) fn named(&mut self, name: impl Display, draw: impl FnOnce(&mut Self)) {
        self.element(format_args!("<g><title>{name}</title>"));
        draw(self);
        self.element("</g>");
    }

    pub(crate) fn path(&mut self, class: &str, path: impl Display) {
        self.element(format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    /// Writes any other element.
    pub(crate) fn element(&mut self, element: impl Display) {
        let _ = writeln!(self.svg, "{element}");
    }

    /// The whole picture, with a title and a line below it.
    pub(crate) fn finish(
        self,
        title: &str,
        note: &str,
        margin: usize,
        (width, height): (usize, usize),
    ) -> String {
        let mut head = Self::default();
        head.rectangle("ground", (0, 0), (width, height));
        head.text("title", (margin, 46), title);
        head.text("note", (margin, 72), note);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}: {}\">\n\
             <style>\n{STYLE}{}\n@media (prefers-color-scheme:dark){{\n{DARK_STYLE}{}\n}}\n</style>\n\
             {}{}</svg>\n",
            escape(title),
            escape(note),
            fills(&LIGHT_PALETTE),
            fills(&DARK_PALETTE),
            head.svg,
            self.svg
        )
    }
}

const STYLE: &str = "\
text{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;fill:#1d1b18;text-anchor:middle}
.title{font-size:20px;font-weight:600} .note,.name,.thread{font-size:14px} .axis{font-size:13px}
.register,.lane{font-size:12px} .small{font-size:10.5px} .thread,.conflict{font-weight:600}
.title,.note,.start{text-anchor:start} .end{text-anchor:end}
.axis,.note{fill:#6a645b} .conflict{fill:#b3261e}
.ground{fill:#fdfcfa} .idle{fill:#f1ede6} .cell,.idle{stroke:#fdfcfa}
.half{stroke:#fdfcfa;stroke-dasharray:3 3;fill:none}
.rule{stroke:#1d1b18;stroke-width:2;fill:none} .bracket{stroke:#6a645b;fill:none}
";

const DARK_STYLE: &str = "\
text{fill:#f1eee9} .axis,.note{fill:#a8a29a} .conflict{fill:#ff8a80}
.ground{fill:#161519} .idle{fill:#222026} .cell,.idle,.half{stroke:#161519}
.rule{stroke:#f1eee9} .bracket{stroke:#a8a29a}
";

/// The style rules that fill the classes `t0` to `t31`.
fn fills(palette: &[u32; LANES]) -> String {
    let fill = |(thread, colour)| format!(".t{thread}{{fill:#{colour:06x}}}");
    palette.iter().enumerate().map(fill).collect()
}

/// With `is_coloured`, puts text on the colour of a thread, for a terminal.
pub(crate) fn on_colour(text: String, thread: usize, is_coloured: bool) -> String {
    if !is_coloured {
        return text;
    }
    let [_, red, green, blue] = LIGHT_PALETTE[thread].to_be_bytes();
    format!("\x1b[30;48;2;{red};{green};{blue}m{text}\x1b[0m")
}

// The values were computed in OKLCH, where equal steps look equal: eight hues about 45 degrees apart, four lightnesses.

/// For a light background and dark text: 0xrrggbb.
#[rustfmt::skip]
const LIGHT_PALETTE: [u32; LANES] = [
    0xff_dedb, 0xff_c3bd, 0xf8_a9a2, 0xeb_8d86,
    0xfa_e4cc, 0xf3_cda3, 0xe9_b67c, 0xd9_9d54,
    0xe9_ebcc, 0xd6_d9a4, 0xc4_c77d, 0xaf_b156,
    0xd6_f0da, 0xb4_e2bc, 0x94_d3a1, 0x73_bf84,
    0xca_f1f0, 0x9d_e3e2, 0x6f_d4d4, 0x34_c1c1,
    0xd1_ecff, 0xab_dbfe, 0x87_c9f8, 0x60_b4ec,
    0xe4_e5ff, 0xcf_cfff, 0xba_b9fc, 0xa3_a0f1,
    0xf8_dff5, 0xef_c4ea, 0xe4_abde, 0xd4_90cd,
];

/// For a dark background and light text: 0xrrggbb.
#[rustfmt::skip]
const DARK_PALETTE: [u32; LANES] = [
    0x3f_2220, 0x5b_2f2b, 0x78_3b38, 0x94_4a46,
    0x3a_2710, 0x53_3611, 0x6d_4610, 0x87_5814,
    0x2d_2d11, 0x3f_4012, 0x53_5311, 0x67_6815,
    0x1a_321f, 0x21_472a, 0x28_5d36, 0x33_7344,
    0x07_3232, 0x00_4748, 0x00_5e5e, 0x00_7475,
    0x14_2e3f, 0x17_415c, 0x19_5579, 0x1f_6a96,
    0x29_2841, 0x3a_385e, 0x4b_487c, 0x5e_5a9a,
    0x38_2336, 0x50_304d, 0x6a_3d66, 0x83_4d7e,
];
