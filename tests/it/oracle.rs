//! Compares fresh words with NVIDIA's own disassembler, if it is there. `cargo xtask oracle` fetches it and compares
//! many more.

use warpload_oracle::{NVDISASM, Nvdisasm, run};

#[test]
#[ignore = "needs nvdisasm: NVDISASM=/path/to/nvdisasm cargo test --test it oracle -- --ignored"]
fn nvdisasm_agrees_on_5000_fresh_words() {
    let Some(nvdisasm) = Nvdisasm::from_env() else {
        panic!("set {NVDISASM} to the path of nvdisasm; `cargo xtask oracle` fetches one");
    };
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos());
    let seed = now as u64;
    let report = run(&nvdisasm, 5_000, seed).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(report.differences, 0, "seed {seed}\n{report}");
}
