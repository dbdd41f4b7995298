//! Test vectors, memory images (docs/vectors.md) and the cases of the conformance suite (docs/conformance.md): their
//! JSON, and how cases are drawn, asked, answered, compared and counted.
//!
//! - [`vector`]: one load with the state before and after it; [`image`]: a machine's memory; [`json`]: the JSON that
//!   both share.
//! - [`generate`]: fresh vectors, drawn from a seed; [`flags`]: the list of properties that a vector can show.
//! - [`families`]: the list of families. A family answers its questions with our own executors, and compares answers
//!   with the expectations of cases.
//! - [`case`](mod@case): the cases in a suite's files, and [`outcome`]: the result of each.
//! - [`runner`]: the one [`Runner`](runner::Runner) of cases. It asks an [`Examinee`](runner::Examinee), compares, and
//!   returns the outcomes in the order of the cases.
//! - [`asking`]: an examinee made of functions in this process, such as our own executors; [`program`]: an examinee
//!   that is another program, asked over pipes.
//! - [`tally`]: counts by family and flag, and the flags that explain the failures.
//! - [`tensor_case`]: the cases of the family `tensor-memory`, and their JSON.
//! - [`text`]: makes foreign text safe for a report.
//!
//! ```
//! use warpload::load::Executor;
//! use warpload_suite::families::{self, Answerer};
//!
//! let mut answerer = Answerer::new(Executor::Fast);
//! let question = r#"{"family":"encode","sm":"50","text":"LD.E R0, [R2+0x1234]"}"#;
//! let answer = families::answer(question, &mut answerer).into_json();
//! assert_eq!(answer, r#"{"word":"0x9c90000123470200"}"#);
//! ```

#![deny(unsafe_code)]

pub mod asking;
pub mod case;
pub mod explain;
pub mod families;
pub mod flags;
pub mod generate;
pub mod image;
pub mod json;
pub mod outcome;
pub mod program;
pub mod random;
pub mod runner;
pub mod tally;
pub mod tensor_case;
pub mod text;
pub mod vector;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
