//! Measures of warpload, each beside its limit: the work that cannot be avoided, measured in the same run. A package
//! apart from the workspace, so that tests do not build criterion. `cargo bench --manifest-path benches/Cargo.toml
//! --bench NAME` runs one; docs/performance.md has the numbers.
