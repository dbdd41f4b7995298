//! [`bank_map`]: which banks of shared memory the worst instructions use.

use super::context::Context;
use super::heat::COLOURS;
use super::text::{cut, of, per};
use crate::BankUse;

/// Returns a table with a column for each bank and a row for each instruction, the worst first; `None`
/// without bank conflicts.
pub(super) fn bank_map(context: &Context<'_>) -> Option<String> {
    let uses = &context.page.survey.banks;
    let banks = uses.first()?.words.len();
    let has_kernels = context.kernels.is_some();
    let mut html = "<h3>Banks of the worst instructions</h3>\n<figure class=\"banks\">\
        <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"banks-caption\">\
        <table id=\"banks\" data-s=\"shared\">\n<caption id=\"banks-caption\">Wavefronts in which each bank \
        serves a word, in percent</caption>\n<thead><tr>"
        .to_owned();
    if has_kernels {
        html += "<th scope=\"col\">kernel</th>";
    }
    html += "<th scope=\"col\" class=\"n\">pc</th><th scope=\"col\">opcode</th>\
             <th scope=\"col\" class=\"n\">wave&shy;fronts each</th><th scope=\"col\" class=\"n\">ideal</th>";
    for bank in 0..banks {
        html += &format!("<th scope=\"col\" class=\"bank\">{bank}</th>");
    }
    html += "</tr></thead>\n<tbody>\n";
    for one in uses {
        html += &row(context, one, has_kernels);
    }
    html += "</tbody></table></div>\n<figcaption>A bank at 100 serves a word in every wavefront. If a few \
             banks are high, lanes wait for these; if all are low, each access waits for another bank. \
             Shown are the loads, stores and atomics with most bank conflicts.</figcaption></figure>\n";
    Some(html)
}

fn row(context: &Context<'_>, one: &BankUse, has_kernels: bool) -> String {
    let contents = context.page.contents;
    let opcode = contents.operations.get(usize::from(one.operation)).map_or("", |op| &*op.opcode);
    let number = context.number(one.kernel);
    let mut html = format!("<tr data-k=\"{number}\">");
    if has_kernels {
        html += &format!(
            "<td class=\"name\">{number} <code>{}</code></td>",
            context.name(one.kernel, 20)
        );
    }
    html += &format!(
        "<th scope=\"row\" title=\"{}, {}\"><code>{:#x}</code></th>\
         <td class=\"t\"><code>{}</code></td><td>{:.2}</td><td>{:.2}</td>",
        of(one.accesses, "access"),
        of(one.wavefronts, "wavefront"),
        one.pc,
        cut(opcode, 24),
        per(one.wavefronts, one.accesses),
        per(one.ideal_wavefronts, one.accesses)
    );
    for (bank, words) in one.words.iter().enumerate() {
        let share = per(*words, one.wavefronts);
        html += &format!(
            "<td class=\"bank{}\" title=\"bank {bank}: {}\">{}</td>",
            colour(share).map_or(String::new(), |colour| format!(" h{colour}")),
            of(*words, "word"),
            percent(share)
        );
    }
    html + "</tr>\n"
}

/// Returns the colour of a share; `None` of nothing.
fn colour(share: f64) -> Option<usize> {
    (share > 0.0).then(|| ((share * COLOURS as f64).ceil() as usize).clamp(1, COLOURS))
}

/// Returns whole percent, of which a little is not nothing.
fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.005 { "&lt;1".to_owned() } else { format!("{:.0}", 100.0 * share) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        assert_eq!((colour(0.0), colour(1e-9), colour(1.0)), (None, Some(1), Some(COLOURS)));
        assert_eq!((percent(0.0), percent(0.001)), ("0".to_owned(), "&lt;1".to_owned()));
        assert_eq!(percent(1.0), "100");
    }
}
