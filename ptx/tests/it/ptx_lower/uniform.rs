//! Uniform addresses: kernels with a 128-bit load that ptxas 12.9 recognized as uniform or not, the same at levels 1
//! and 3. `uniform.jsonl.xz` has `id`, `uniform` and `module`, made for this test.

use std::io::Read;

use serde_json::Value;
use warpload_ptx::lower::OptimizationLevel;

use crate::ptx_lower::corpus::lowered;

#[test]
fn uniform_addresses_are_those_of_ptxas() {
    let mut text = String::new();
    let packed: &[u8] = include_bytes!("../../ptx_lower/uniform.jsonl.xz");
    liblzma::read::XzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let mut counts = [0; 2];
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (module, is_uniform) = (row["module"].as_str().unwrap(), row["uniform"] == true);
        counts[usize::from(is_uniform)] += 1;
        for level in [OptimizationLevel::O1, OptimizationLevel::O3] {
            let loads = lowered(module, level);
            let wide = loads.iter().map(ToString::to_string).find(|load| load.contains("128"));
            let wide = wide.unwrap_or_default();
            assert_eq!(wide.contains(".U.128"), is_uniform, "{}: {wide}", row["id"]);
        }
    }
    assert_eq!(counts, [136, 146]);
}
