//! The targets: the list, and a file for each target. `folder.rs`, `import.rs`, `made_trace.rs` and `peak.rs` help several
//! targets. A target is named after the property that it checks.

mod accelsim;
mod compressed;
mod container;
mod decode;
mod encode;
mod execute;
mod folder;
mod image;
mod import;
mod kernels_list;
mod made_trace;
mod merge;
mod page;
mod parse;
#[path = "../../../trace/tests/bounds/peak.rs"]
mod peak;
mod ptx;
mod sass;
mod tensor_case;
mod trace;
mod vector;

/// A property with its seeds.
pub(crate) struct Target {
    /// The function's name.
    pub(crate) name: &'static str,
    /// Panics if the property does not hold for the input.
    pub(crate) run: fn(&[u8]),
    /// Seeds, for [`read`](crate::seeds::read).
    pub(crate) sources: &'static str,
}

macro_rules! targets {
    ($($module:ident::$name:ident: $sources:expr),+ $(,)?) => {
        /// All targets.
        pub(crate) const TARGETS: &[Target] =
            &[$(Target { name: stringify!($name), run: $module::$name, sources: $sources }),+];
    };
}

targets! {
    decode::decode_then_encode_is_identity: "fuzz/seeds/decode_then_encode_is_identity/*",
    parse::parse_does_not_panic: "fuzz/seeds/parse_does_not_panic/*",
    encode::encode_then_decode_is_identity: "\
        fuzz/seeds/encode_then_decode_is_identity/* \
        cli/tests/cmd/stdin-encode.stdin tests/data/cmd/no-words.txt",
    execute::fast_equals_literal: "fuzz/seeds/fast_equals_literal/*",
    sass::sass_does_not_panic: "\
        tests/data/listings/*.cubin tests/data/cmd/*.txt tests/data/cmd/*.cubin \
        tests/data/cmd/*.bin tests/data/listings/chase.sm_50.nvdisasm.txt \
        tests/data/listings/uniform.sm_50.cuobjdump.txt \
        tests/data/listings/relocated.sm_61.nvdisasm.txt traces/rows.sm_50.cubin",
    vector::vector_does_not_panic: "\
        tests/data/ld-vectors.jsonl%90 vectors/v1/execute/ld[cgls].jsonl%50 \
        vectors/v1/execute/*-sm90.jsonl%30 tests/data/cmd/malformed.jsonl%1 tests/data/cmd/fail.jsonl%1 \
        tests/data/cmd/one.json tests/data/cmd/warp-fault.json",
    tensor_case::tensor_case_does_not_panic: "\
        ptx/tests/tensor_memory/cases.jsonl%12 tests/data/cmd/tmem-cases.jsonl%1",
    image::image_does_not_panic: "\
        traces/generic.image.json tests/data/cmd/image-of-example.json tests/data/ptx/image.json \
        tests/data/report/faulty.json",
    ptx::kernels_are_bounded: "\
        fuzz/seeds/kernels_are_bounded/* benches/kernels/*.ptx tests/data/ptx/*.ptx",
    ptx::ptx_does_not_panic: "\
        tests/data/ptx/*.ptx ptx/tests/ptx/mutations/*.ptx tests/data/listings/gather.ptx \
        tests/data/listings/chase.ptx ptx/tests/ptx/clang/cached-O0-g.ptx \
        ptx/tests/ptx/clang/stencil-O2.ptx ptx/tests/ptx/clang/structures-O2.ptx",
    trace::trace_does_not_panic: "\
        fuzz/seeds/trace_does_not_panic/* tests/data/cmd/*.wlt traces/generic.wlt",
    accelsim::accelsim_does_not_panic: "\
        fuzz/seeds/accelsim_does_not_panic/* \
        tests/data/cmd/*.traceg tests/data/report/*.traceg tests/independent/*.traceg \
        tests/independent/*.trace tests/independent/*.log tests/data/traces2/*.traceg \
        tests/data/traces2/*.tracez tests/data/traces2/damaged/*.traceg \
        tests/data/traces2/damaged/*.tracez tests/data/traces2/damaged/*.ndjson \
        tests/data/traces2/damaged/*.log tests/independent/handwritten-export.jsonl",
    kernels_list::kernels_list_does_not_panic: "\
        tests/data/cmd/*.g tests/independent/kernelslist.g",
    compressed::compressed_is_bounded: "\
        fuzz/seeds/compressed_is_bounded/* \
        tests/independent/traces/*.xz traces/vecadd-v3-sm61-head.trace.xz \
        tests/data/cmd/kernel-1.traceg tests/independent/handwritten-memtrace.log",
    container::container_is_bounded: "\
        tests/data/fatbins/*.fatbin tests/data/fatbins/host.obj tests/data/fatbins/lib.a \
        tests/data/fatbins/kernel.cubin",
    page::page_is_inert: "\
        fuzz/seeds/page_is_inert/* tests/data/cmd/*.wlt traces/generic.wlt",
    merge::summaries_merge_in_any_order: "\
        fuzz/seeds/summaries_merge_in_any_order/* \
        tests/data/cmd/shard-*.json+ tests/data/cmd/shard-0.json",
}
