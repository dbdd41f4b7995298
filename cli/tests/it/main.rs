//! Tests through the public interface: the command.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod bad_input;
mod byte_order_marks;
mod common;
mod conform;
mod containers;
mod counting;
mod cubin;
mod cubin128;
mod decode128;
mod externals;
mod fill_in;
mod for_people;
mod h100;
mod html;
mod independent;
mod kernel_reports;
mod kernels;
mod limits;
#[path = "../../../replay/tests/it/model.rs"]
#[allow(dead_code, reason = "the tests of replays use the rest")]
mod model;
mod names;
mod not_known;
mod pictures;
mod programs;
#[path = "../../../trace/tests/it/random.rs"]
mod random;
mod samples;
mod sessions;
mod shaping;
mod terminal;
mod trace;
#[path = "../../../trace/tests/it/samples.rs"]
#[allow(dead_code, reason = "the tests of imports use the rest")]
mod traces;
mod wrong_invocations;
