//! The targets: **the list**, and a file for each. A target is named after the property that it checks.

mod accelsim;
mod compressed;
mod container;
mod decode;
mod encode;
mod execute;
mod image;
mod kernels_list;
mod merge;
mod page;
mod parse;
mod ptx;
mod sass;
mod tensor_case;
mod trace;
mod vector;

use std::io::{Error, Result};

use crate::seeds::{Seed, read, read_sources, repository};

/// A property with its seeds.
#[derive(Debug)]
pub struct Target {
    /// The function's name.
    pub name: &'static str,
    /// Panics if the property does not hold for the input.
    pub run: fn(&[u8]),
    /// Seeds elsewhere in the repository, for [`read_sources`]. The files in `fuzz/seeds/NAME/` are always read and not
    /// listed.
    pub sources: &'static str,
}

impl Target {
    /// Reads all seeds, always in the same order.
    ///
    /// # Errors
    /// Returns an error of the system, with the file's name, or an error if there are no seeds.
    pub fn seeds(&self) -> Result<Vec<Seed>> {
        let own = repository().join("fuzz/seeds").join(self.name);
        let mut seeds = if own.is_dir() { read(&own)? } else { Vec::new() };
        seeds.extend(read_sources(self.sources)?);
        if seeds.is_empty() {
            return Err(Error::other(format!("{}: no inputs", own.display())));
        }
        Ok(seeds)
    }
}

macro_rules! targets {
    ($($module:ident::$name:ident: $seeds:expr),+ $(,)?) => {
        $(pub use $module::$name;)+

        /// All targets.
        pub const TARGETS: &[Target] = &[$(Target {
            name: stringify!($name),
            run: $name,
            sources: $seeds,
        }),+];
    };
}

targets! {
    decode::decode_then_encode_is_identity: "",
    parse::parse_does_not_panic: "",
    encode::encode_then_decode_is_identity: "\
        cli/tests/cmd/stdin-encode.stdin tests/data/cmd/no-words.txt",
    execute::fast_equals_literal: "",
    sass::sass_does_not_panic: "\
        tests/data/listings/*.cubin tests/data/cmd/*.txt tests/data/cmd/*.cubin \
        tests/data/cmd/*.bin tests/data/listings/chase.sm_50.nvdisasm.txt \
        tests/data/listings/uniform.sm_50.cuobjdump.txt \
        tests/data/listings/relocated.sm_61.nvdisasm.txt traces/rows.sm_50.cubin",
    vector::vector_does_not_panic: "\
        tests/data/ld-vectors.jsonl%90 LDG#4 LDL#4 LDS#3 LDC#3 tests/data/cmd/malformed.jsonl%1 \
        tests/data/cmd/fail.jsonl%1 tests/data/cmd/one.json tests/data/cmd/warp-fault.json",
    tensor_case::tensor_case_does_not_panic: "\
        ptx/tests/tensor_memory/cases.jsonl%12 tests/data/cmd/tmem-cases.jsonl%1",
    image::image_does_not_panic: "\
        traces/generic.image.json tests/data/cmd/image-of-example.json tests/data/ptx/image.json \
        tests/data/report/faulty.json",
    ptx::kernels_are_bounded: "ptx/benches/kernels/*.ptx tests/data/ptx/*.ptx",
    ptx::ptx_does_not_panic: "\
        tests/data/ptx/*.ptx ptx/tests/ptx/mutations/*.ptx tests/data/listings/gather.ptx \
        tests/data/listings/chase.ptx ptx/tests/ptx/clang/cached-O0-g.ptx \
        ptx/tests/ptx/clang/stencil-O2.ptx ptx/tests/ptx/clang/structures-O2.ptx",
    trace::trace_does_not_panic: "tests/data/cmd/*.wlt traces/generic.wlt",
    accelsim::accelsim_does_not_panic: "\
        tests/data/cmd/*.traceg tests/data/report/*.traceg tests/independent/*.traceg \
        tests/independent/*.trace tests/independent/*.log tests/data/traces2/*.traceg \
        tests/data/traces2/*.tracez tests/data/traces2/damaged/*.traceg \
        tests/data/traces2/damaged/*.tracez tests/data/traces2/damaged/*.ndjson \
        tests/data/traces2/damaged/*.log tests/independent/handwritten-export.jsonl",
    kernels_list::kernels_list_does_not_panic: "\
        tests/data/cmd/*.g tests/independent/kernelslist.g",
    compressed::compressed_is_bounded: "\
        tests/independent/traces/*.xz traces/vecadd-v3-sm61-head.trace.xz \
        tests/data/cmd/kernel-1.traceg tests/independent/handwritten-memtrace.log",
    container::container_is_bounded: "\
        tests/data/fatbins/*.fatbin tests/data/fatbins/host.obj tests/data/fatbins/lib.a \
        tests/data/fatbins/kernel.cubin",
    page::page_is_inert: "tests/data/cmd/*.wlt traces/generic.wlt",
    merge::summaries_merge_in_any_order: "\
        tests/data/cmd/shard-0.json+tests/data/cmd/shard-1.json \
        tests/data/cmd/shard-1.json+tests/data/cmd/shard-0.json tests/data/cmd/shard-0.json",
}

#[cfg(test)]
mod tests {
    use super::*;

    /// cargo-fuzz finds a target by its entry in Cargo.toml. Without an entry the target would never run, and nobody
    /// would notice, because no stable build compiles these files.
    #[test]
    fn each_target_has_a_binary_of_libfuzzer() -> std::result::Result<(), Box<dyn std::error::Error>>
    {
        let package = repository().join("fuzz");
        let manifest = std::fs::read_to_string(package.join("Cargo.toml"))?;
        for Target { name, .. } in TARGETS {
            let path = format!("fuzz_targets/{name}.rs");
            let entry = format!(
                "[[bin]]\nname = \"{name}\"\npath = \"{path}\"\nrequired-features = [\"libfuzzer\"]\n"
            );
            assert!(manifest.contains(&entry), "Cargo.toml lacks {name}");
            let expected = format!(
                "#![no_main]\nuse warpload_fuzz::targets::{name};\n\
                 libfuzzer_sys::fuzz_target!(|input: &[u8]| {name}(input));\n"
            );
            assert_eq!(std::fs::read_to_string(package.join(&path))?, expected, "{path}");
        }
        assert_eq!(std::fs::read_dir(package.join("fuzz_targets"))?.count(), TARGETS.len());
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
        Ok(())
    }
}
