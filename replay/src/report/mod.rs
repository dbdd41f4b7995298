//! [`html`]: what a replay found, as a page for a browser.
//!
//! The page is one file without references to others. Everything on it that comes from a trace is
//! escaped. Its size is bounded: the page says so if it leaves something out. Each answer is a panel,
//! which the script makes a tab.

mod banks;
mod chart;
mod comparison;
mod constant;
mod context;
mod faults;
mod global;
mod heat;
mod html;
mod kernels;
mod local;
mod overview;
mod panel;
mod reuse;
mod rows;
mod shared;
mod stores;
mod table;
mod text;

pub use comparison::comparison_html;
pub use context::ReportPage;
pub use html::html;
