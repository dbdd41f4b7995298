use warpload_ptx::tensor::TensorRegisters;
use warpload_suite::tensor_case::{PatternMemories, TensorCase};

thread_local! {
    static MEMORIES: PatternMemories = PatternMemories::default();
}

/// Any text is refused, or is a test case of a load from Tensor Memory. Its result does not depend on the registers'
/// previous values.
pub(super) fn tensor_case_does_not_panic(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let Ok(case) = TensorCase::from_json(text) else { return };
    MEMORIES.with(|memories| {
        let mut registers = TensorRegisters::new();
        let first = case.check(memories, &mut registers);
        assert_eq!(case.check(memories, &mut registers), first);
        for difference in first {
            assert!(!difference.to_string().is_empty());
        }
    });
}
