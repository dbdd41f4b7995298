//! PTX: what is read, and which loads are legal, held to an assembler's verdicts.
//!
//! `*.jsonl.xz` are modules with what ptxas said of each: fields `id`, `family`, `instr` (the load),
//! `accept`, `error`, `ptxas` (12.9 up to PTX 8.8, 13.5 up to 9.5) and `module`. They were made
//! for this project; ptxas of the CUDA toolkit judged them. `ld_more.jsonl.xz` has modules of every
//! version with everything around loads: no `instr`, and the first two messages of ptxas with
//! their lines, with `; ` between them.
//!
//! `declarations.jsonl.xz` has 352 of 3,000 modules with right and wrong declarations that a seeded
//! generator drew for this project: `id`, `kind` (the mistake that was aimed at), `accept`, `error`,
//! `ptxas` and `module` as above, and `accept_13_5`, the verdict of ptxas 13.5 on what 12.9 judges.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]
#![allow(clippy::print_stdout, reason = "how many rows were compared is worth printing")]

mod bounds;
mod clang;
mod corpus;
mod declarations;
mod documented;
mod edges;
mod examples;
mod interface;
mod mutations;
mod tensor_load;
mod tensor_rules;
mod tree;
mod verdicts;
