//! Counts of accesses, compared with the profiler Nsight Compute on an H100; `tests/data/README.md` describes the file.

use std::io::Read;

use serde_json::Value;

use crate::common::{file, piped, warpload};

/// A metric of Nsight Compute, with the kernels that were asked for it, and our number in the summary of a launch.
const METRICS: [(&str, char, &str); 14] = [
    ("l1tex__t_requests_pipe_lsu_mem_global_op_ld", 'g', "/loads/by_space/global"),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_st", 'g', "/stores/by_space/global"),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld", 'g', "/loads/global/sectors/sum"),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_st", 'g', "/stores/global/sectors/sum"),
    ("l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld", 'g', "/loads/global/lines"),
    ("l1tex__t_set_accesses_pipe_lsu_mem_global_op_st", 'g', "/stores/global/lines"),
    ("l1tex__t_requests_pipe_lsu_mem_local_op_ld", 'g', "/loads/by_space/local"),
    ("l1tex__t_requests_pipe_lsu_mem_local_op_st", 'g', "/stores/by_space/local"),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld", 'g', "/loads/local/sectors"),
    ("l1tex__t_sectors_pipe_lsu_mem_local_op_st", 'g', "/stores/local/sectors"),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld", 's', "/loads/shared/wavefronts/sum"),
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st", 's', "/stores/shared/wavefronts/sum"),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld", 's', "/loads/shared/conflicts"),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st", 's', "/stores/shared/conflicts"),
];

/// 4096 bytes of Marsaglia's xorshift.
fn table() -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..1024).map(next).flat_map(u32::to_le_bytes).collect()
}

/// Where the profiler counts otherwise, the table of `h100-access.txt` has the launch and both numbers, and no others.
#[test]
fn accesses_are_counted_as_by_the_profiler() {
    let mut text = String::new();
    let compressed = std::fs::read(file("tests/data/h100-access.jsonl.xz")).unwrap();
    liblzma::read::XzDecoder::new(&compressed[..]).read_to_string(&mut text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table.bin"), table()).unwrap();
    let (mut different, mut equal) = (Vec::new(), 0);
    for line in text.lines() {
        let launch: Value = serde_json::from_str(line).unwrap();
        let name = |key: &str| launch[key].as_str().unwrap();
        let words = |key: &str| {
            let words = launch[key].as_array().unwrap().iter();
            words.map(|word| word.as_str().map_or(word.to_string(), str::to_owned)).collect()
        };
        let (grid, block): (Vec<String>, Vec<String>) = (words("grid"), words("block"));
        let mut run = warpload();
        run.current_dir(folder.path());
        run.args(["ptx", "run", "-", "--format", "json", "--function", name("kernel")]);
        run.args(["--grid", &grid.join(","), "--block", &block.join(",")]);
        let arguments: Vec<String> = words("args");
        run.args(arguments.iter().flat_map(|argument| ["--arg", argument]));
        let ran = piped(&mut run, name("ptx").as_bytes(), usize::MAX);
        let summary: Value = serde_json::from_str(&ran.stdout).expect(&ran.stderr);
        for (metric, of, ours) in METRICS {
            if !name("ask").contains(of) {
                continue;
            }
            let theirs = launch["ncu"][metric].as_u64().unwrap_or(0);
            let ours = summary.pointer(ours).and_then(Value::as_u64).unwrap_or(0);
            if ours == theirs {
                equal += 1;
            } else {
                different.push(format!("{} {metric} {theirs} {ours}", name("launch")));
            }
        }
    }
    let known = std::fs::read_to_string(file("tests/data/h100-access.txt")).unwrap();
    let known = known.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let known: Vec<_> = known.collect();
    assert_eq!(different, known);
    assert_eq!(equal, 1021);
}
