//! Measures of warpload, each beside its limit: the work that cannot be avoided, measured in the same run. `cargo bench
//! -p warpload-bench --bench NAME` runs one; docs/performance.md has the numbers.
