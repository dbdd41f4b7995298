//! The small pictures in tables: [`share`] of a whole, [`spread`] of sectors and [`banks`] of shared memory. In all of
//! them one colour is what the accesses need, the other what they cost beyond that.

use std::fmt::Write;

use super::text::{coordinate, count, per};
use warpload_replay::BANKS;

const WIDTH: f64 = 64.0;
/// The sectors of an access that fill the width. A lane of 4 bytes touches at most one.
const MOST_SECTORS: f64 = 32.0;
/// The pixels of a bank.
const BANK: usize = 4;
const BANK_HEIGHT: u64 = 16;

/// Draws the share of an amount of `all`, and its part beyond the ideal.
pub(crate) fn share(amount: u64, excess: u64, all: u64) -> String {
    bar(WIDTH * per(amount.saturating_sub(excess), all), WIDTH * per(amount, all), "")
}

/// Draws the sectors of an access on average, the ideal, and the range.
pub(crate) fn spread(each: f64, ideal: f64, range: Option<[u64; 2]>) -> String {
    let scaled = |sectors: f64| sectors.min(MOST_SECTORS) * WIDTH / MOST_SECTORS;
    let range = range.filter(|[min, max]| min < max).map(|range| {
        let [min, max] = range.map(|sectors| coordinate(scaled(sectors as f64)));
        format!("<path class=\"range\" d=\"M{min} 1v6m0 -3H{max}m0 -3v6\"/>")
    });
    bar(scaled(ideal.min(each)), scaled(each), &range.unwrap_or_default())
}

fn bar(ideal: f64, all: f64, range: &str) -> String {
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 {WIDTH} 8\" aria-hidden=\"true\"><path class=\"waste\" \
         d=\"M0 4H{}\"/><path class=\"ideal\" d=\"M0 4H{}\"/>{range}</svg>",
        coordinate(all),
        coordinate(ideal)
    )
}

/// Draws the banks as columns. Their heights are the parts of the wavefronts in which they serve a word, so banks that
/// wait for others are low.
pub(crate) fn banks(words: &[u64; BANKS], wavefronts: u64) -> String {
    let most = words.iter().copied().max().unwrap_or(0);
    let busiest = words.iter().position(|of| *of == most).unwrap_or(0);
    let name = format!(
        "bank {busiest} serves {} words in {} wavefronts; {} of {BANKS} banks serve none",
        count(most),
        count(wavefronts),
        words.iter().filter(|words| **words == 0).count()
    );
    let (width, mut columns) = (BANKS * BANK - 1, String::new());
    for (bank, words) in words.iter().enumerate().filter(|(_, words)| **words > 0) {
        // Visible even if it is rarely used.
        let height = (BANK_HEIGHT as f64 * per(*words, wavefronts)).clamp(2.0, BANK_HEIGHT as f64);
        let _ = write!(columns, "M{}.5 {BANK_HEIGHT}v-{}", bank * BANK + 1, coordinate(height));
    }
    format!(
        "<svg class=\"banks\" viewBox=\"0 0 {width} {BANK_HEIGHT}\" role=\"img\" aria-label=\"{name}\">\
         <title>{name}</title><path class=\"cells\" d=\"M0 {}h{width}\"/><path class=\"used\" \
         d=\"{columns}\"/></svg>",
        BANK_HEIGHT / 2
    )
}
