//! Presentation of results. [`html`] is the summary of a replay as a page for a browser, [`replay_text`] and
//! [`replay_csv`] are one as text, from tables of [`text_table`]. [`AccessDrawing`] and [`TensorMapDrawing`] draw the
//! accesses of a warp's lanes. [`message`] draws errors with the line at fault.
//!
//! The page is one file without references to others. All text in it that comes from a trace is escaped. Its size is
//! bounded: the page says so if it leaves something out. It begins with a verdict, whose sentences link to the rows of a
//! table of all instructions in program order.

#![forbid(unsafe_code)]
// Pages of replays are the only users of some texts.
#![cfg_attr(not(feature = "traces"), allow(dead_code))]

mod access;
#[cfg(feature = "traces")]
mod chart;
#[cfg(feature = "traces")]
mod comparison;
#[cfg(feature = "traces")]
mod findings;
#[cfg(feature = "traces")]
mod html;
#[cfg(feature = "traces")]
mod launch;
pub mod message;
#[cfg(feature = "traces")]
mod overview;
mod picture;
#[cfg(feature = "traces")]
mod replay_text;
#[cfg(feature = "traces")]
mod rows;
#[cfg(feature = "traces")]
mod sums;
#[cfg(feature = "traces")]
mod table;
mod tensor_map;
mod tensor_table;
mod text;
pub mod text_table;

pub use self::access::{AccessDrawing, AccessRow, access_cost_text, access_rows};
#[cfg(feature = "traces")]
pub use self::comparison::{comparison_html, comparison_text};
#[cfg(feature = "traces")]
pub use self::html::{ReportPage, html};
#[cfg(feature = "traces")]
pub use self::replay_text::{TableOrder, TableRows, access_table, replay_csv, replay_text};
pub use self::tensor_map::TensorMapDrawing;
pub use self::tensor_table::{draw_tensor_load, tensor_load_heading, tensor_registers_table};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
