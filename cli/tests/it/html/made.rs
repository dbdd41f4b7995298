//! Traces that are made up.

use std::fs::File;
use std::path::Path;

use warpload::lane::LaneMask;
use warpload_trace::{Kernel, MemoryOperation, NewRecord, RecordAddresses, TraceWriter};

/// Writes a trace with many kernels, program counters and addresses, and with instruction words.
pub(crate) fn scattered(path: &Path, bytes: u64) {
    let mut writer = TraceWriter::new(File::create(path).unwrap(), "a test".to_owned()).unwrap();
    let plain = MemoryOperation::of_opcode("LD.U.128");
    let operation =
        writer.operation(&MemoryOperation { word: Some(0x84e0_0000_0007_0104), ..plain }).unwrap();
    let mut state = 1u64;
    for kernel in 0..9 {
        let name = format!("kernel_{kernel}_{}", "x".repeat(1000));
        writer.kernel(Kernel { name: name.into(), ..Kernel::default() }).unwrap();
        for load in 0..1200u32 {
            let addresses: Vec<u64> = (0..32)
                .map(|_| {
                    state =
                        state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    0x1_0000_0000 + (((state >> 34) % bytes) & !15)
                })
                .collect();
            let (pc, addresses) = (8 * (load % 200), RecordAddresses::List(&addresses));
            writer.record(&NewRecord::new(pc, LaneMask::ALL, operation, addresses)).unwrap();
        }
    }
    writer.finish().unwrap();
}

/// Writes a trace of kernels that transpose tiles in shared memory, whose rows are 128 bytes apart in
/// those with even numbers and 132 in the others, and that access the other memories, too.
pub(crate) fn transposes(path: &Path, kernels: u64, warps: u64) {
    let mut writer = TraceWriter::new(File::create(path).unwrap(), "a test".to_owned()).unwrap();
    let opcodes = ["LDG.E", "STS", "LDS", "LDS.64", "STG.E", "LDL", "LDC", "RED.E.ADD"];
    let [ldg, sts, lds, lds_64, stg, ldl, ldc, red] =
        opcodes.map(|opcode| writer.operation(&MemoryOperation::of_opcode(opcode)).unwrap());
    for kernel in 0..kernels {
        let name = format!("_Z9transposeILi{kernel}EEvPfPKf");
        let (grid, block) = ([1, 1, 1], [32, warps as u32, 1]);
        writer.kernel(Kernel { name: name.into(), grid, block, ..Kernel::default() }).unwrap();
        let pitch = if kernel % 2 == 0 { 128 } else { 132 };
        for warp in 0..warps {
            let global = 0x7f00_0000_0000 + (kernel % 50) * 0x1000 + warp * 128;
            for (pc, operation, base, stride) in [
                (0x10, ldc, 0x160, 4),
                (0x20, ldg, global, 4),
                (0x28, ldg, global, 64),
                (0x30, sts, warp * pitch, 4),
                (0x40, lds, warp * 4, pitch),
                (0x50, lds_64, 0, 8),
                (0x60, ldl, 16, 4),
                (0x70, stg, global, 8),
                (0x80, red, global, 0),
            ] {
                let addresses = RecordAddresses::Stride { base, stride: stride as i64 };
                let record = NewRecord::new(pc, LaneMask::ALL, operation, addresses);
                writer.record(&record).unwrap();
            }
        }
    }
    writer.finish().unwrap();
}
