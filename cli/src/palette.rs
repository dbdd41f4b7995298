//! A colour for each thread of a warp, which all drawings of one share: four threads in a row share a hue, and differ in
//! lightness. The values were computed in OKLCH, in which equal steps look equal: eight hues about 45 degrees apart,
//! four lightnesses.

use warpload::lane::LANES;

/// Returns the rules of a style sheet that fill the classes `t0` to `t31`.
pub(crate) fn fills(palette: &[u32; LANES]) -> String {
    let fill = |(thread, colour)| format!(".t{thread}{{fill:#{colour:06x}}}");
    palette.iter().enumerate().map(fill).collect()
}

/// Writes text on the colour of a thread, on a terminal.
pub(crate) fn on_colour(text: &str, thread: usize) -> String {
    let [_, red, green, blue] = LIGHT_PALETTE[thread].to_be_bytes();
    format!("\x1b[30;48;2;{red};{green};{blue}m{text}\x1b[0m")
}

/// On a light ground, for dark text: 0xrrggbb.
#[rustfmt::skip]
pub(crate) const LIGHT_PALETTE: [u32; LANES] = [
    0xff_dedb, 0xff_c3bd, 0xf8_a9a2, 0xeb_8d86,
    0xfa_e4cc, 0xf3_cda3, 0xe9_b67c, 0xd9_9d54,
    0xe9_ebcc, 0xd6_d9a4, 0xc4_c77d, 0xaf_b156,
    0xd6_f0da, 0xb4_e2bc, 0x94_d3a1, 0x73_bf84,
    0xca_f1f0, 0x9d_e3e2, 0x6f_d4d4, 0x34_c1c1,
    0xd1_ecff, 0xab_dbfe, 0x87_c9f8, 0x60_b4ec,
    0xe4_e5ff, 0xcf_cfff, 0xba_b9fc, 0xa3_a0f1,
    0xf8_dff5, 0xef_c4ea, 0xe4_abde, 0xd4_90cd,
];

/// On a dark ground, for light text: 0xrrggbb.
#[rustfmt::skip]
pub(crate) const DARK_PALETTE: [u32; LANES] = [
    0x3f_2220, 0x5b_2f2b, 0x78_3b38, 0x94_4a46,
    0x3a_2710, 0x53_3611, 0x6d_4610, 0x87_5814,
    0x2d_2d11, 0x3f_4012, 0x53_5311, 0x67_6815,
    0x1a_321f, 0x21_472a, 0x28_5d36, 0x33_7344,
    0x07_3232, 0x00_4748, 0x00_5e5e, 0x00_7475,
    0x14_2e3f, 0x17_415c, 0x19_5579, 0x1f_6a96,
    0x29_2841, 0x3a_385e, 0x4b_487c, 0x5e_5a9a,
    0x38_2336, 0x50_304d, 0x6a_3d66, 0x83_4d7e,
];
