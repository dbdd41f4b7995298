//! Answers of an NVIDIA H100, which the machine is compared with.

mod functions;
mod matrix;
