//! PTX: reading and legality, compared with an assembler's verdicts.
//!
//! `*.jsonl.xz` are modules with ptxas's verdicts. The fields are `id`, `family`, `instr` (the load), `accept`,
//! `error`, `ptxas` (12.9 up to PTX 8.8, 13.5 up to 9.5) and `module`. They were made for this project and judged by
//! ptxas of the CUDA toolkit. `ld_more.jsonl.xz` has modules of every version with code of all kinds around loads. It
//! has no `instr`, and `error` has the first two messages of ptxas with their lines, separated by `; `.
//!
//! `declarations.jsonl.xz` has 352 of 3,000 modules with legal and illegal declarations, drawn for this project by a
//! seeded generator. Its fields are `id`, `kind` (the intended mistake), `accept`, `error`, `ptxas` and `module` as
//! above, and `accept_13_5`, the verdict of ptxas 13.5 on modules that 12.9 judges.
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
