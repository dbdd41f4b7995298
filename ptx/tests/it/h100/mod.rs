//! What an H100 computed: `ptx/tests/h100/README.md`.

mod flow;
mod functions;
mod matrix;
