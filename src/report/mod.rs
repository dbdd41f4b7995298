//! What a replay found, for people: rows with their instructions, and a page for a browser.
//!
//! The page is one file without references to others. Everything on it that comes from a trace is
//! escaped, and its size is bounded: where there is more than fits, the page says so.

mod chart;
mod faults;
mod heat;
mod html;
mod rows;
mod table;
mod text;

pub use html::{Page, html};
