//! [`html`]: what a replay found, as a page for a browser.
//!
//! The page is one file without references to others. Everything on it that comes from a trace is
//! escaped. Its size is bounded: the page says so if it leaves something out.

mod chart;
mod comparison;
mod faults;
mod heat;
mod html;
mod rows;
mod table;
mod text;

pub use comparison::comparison_html;
pub use html::{Page, html};
