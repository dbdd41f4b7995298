//! [`html`]: what a replay found, as a page for a browser.
//!
//! The page is one file without references to others. Everything on it that comes from a trace is
//! escaped. Its size is bounded: the page says so if it leaves something out. Each answer is a panel,
//! which the script makes a tab.

mod chart;
mod comparison;
mod heat;
mod html;
mod memories;
mod overview;
mod reuse;
mod rows;
mod table;
mod text;

pub use self::comparison::comparison_html;
pub use self::html::{ReportPage, html};
