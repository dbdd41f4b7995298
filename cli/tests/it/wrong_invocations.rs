//! Invocations that people type first and that are not quite right: each is understood, or answered with what is wrong
//! and what to do. The rows are those of the project's table of wrong invocations, typed in a shell.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{ROOT, Ran, file};

/// A command, its exit status, and texts that its answer has: the first begins the answer, on standard error if
/// anything is there, else on standard output; the others follow in this order.
type Row = (&'static str, i32, &'static [&'static str]);

const HALF: &str = "0x000ea2000c1e1900";

const WORDS: &[Row] = &[
    ("warpload decode 0x9c90000123470200", 0, &["LD.E R0, [R2+0x1234]\n"]),
    (
        "warpload decode --word 0x9c90000123470200 --sm 90",
        1,
        &[
            "error: 0x9c90000123470200 is not a load of SM 90: it has 64 bits, words of SM 90 have 128; it may be half of a word",
        ],
    ),
    ("warpload encode LD R0, [R2] 2>&-", 0, &["0x9c80000000070200\n"]),
    ("warpload encode LD R0", 2, &["error: expected `,`"]),
    ("warpload encode 'LD R0' 2>&-", 2, &[""]),
    (
        "printf 'LD R0\\nLD R0, [R2]\\n' | warpload encode - 2>&-",
        2,
        &["error\n0x9c80000000070200\n"],
    ),
    ("warpload encode 'LD R0' 'LD R0, [R2]' 2>&-", 2, &["error\n0x9c80000000070200\n"]),
    (
        "warpload explain --sm 80 'LDG.E R5, [R2.64+0x4] ; /* 0x0000040402057981 */ /* 0x000ee2000c1e1900 */'",
        0,
        &["0x000ee2000c1e19000000040402057981", "barrier 3", "UR4"],
    ),
    (
        "warpload explain --sm 80 'LDG.E R6, [R2.64+0x4] ; /* 0x0000040402057981 */ /* 0x000ee2000c1e1900 */'",
        0,
        &[
            "0x000ee2000c1e19000000040402057981",
            "the text beside the word is of another instruction",
        ],
    ),
    ("warpload explain --sm 90 0x000ea2000c1e1900", 1, &["error: ", HALF, "may be half of a word"]),
    (
        "warpload explain 'ld.global.u32 %r1, [%rd1];'",
        2,
        &["error: `ld.global.u32` is PTX, not SASS", "`warpload ptx check FILE`"],
    ),
    (
        "warpload explain ld.global.u32 %r1, [%rd1];",
        2,
        &["error: `ld.global.u32` is PTX, not SASS", "`warpload ptx check FILE`"],
    ),
    (
        "warpload explain 'tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [t];'",
        2,
        &["error: `tcgen05.ld.sync.aligned.32x32b.x2.b32` is PTX", "`warpload tmem run`"],
    ),
    (
        "warpload encode 'ld.global.u32 %r1, [%rd1];'",
        2,
        &["error: `ld.global.u32` is PTX, not SASS"],
    ),
    (
        "warpload decode 'LD.E R0, [R2]'",
        2,
        &["error: `LD.E R0, [R2]` is an instruction", "`warpload encode`"],
    ),
    (
        "warpload explain gather.cubin",
        2,
        &["error: gather.cubin: is a file", "`warpload decode` reads"],
    ),
    ("warpload decode nosuch.cubin", 2, &["error: nosuch.cubin: cannot be read"]),
    ("warpload decode gather.cubin --json", 0, &["{\"file\":\"gather.cubin\""]),
    ("warpload decode gather.cubin --kernel gather | grep -c LD", 0, &[""]),
    (
        "warpload decode --function gatherobn named.txt",
        2,
        &[
            "error: no function name matches `--function gatherobn`; the nearest are `GatherEOBnKernel`",
        ],
    ),
    ("warpload decode --check README.md", 2, &["error: README.md: ", "no SASS listing line"]),
    (
        "printf 'code for sm_50\\n' | warpload decode --check -",
        2,
        &["error: standard input: ", "no instruction"],
    ),
];

const FILES: &[Row] = &[
    (
        "warpload replay gather.cubin",
        2,
        &[
            "error: gather.cubin: a cubin, not a trace: `warpload decode` reads it; a trace is ",
            "Accel-Sim",
        ],
    ),
    (
        "warpload info gather.cubin",
        2,
        &["error: gather.cubin: a cubin, not a trace", "`warpload decode`"],
    ),
    ("warpload replay k.ptx", 2, &["error: k.ptx: PTX, not a trace: ", "`warpload ptx check`"]),
    (
        "warpload replay shard-0.json",
        2,
        &["error: shard-0.json: the summary of a shard, not a trace: `warpload merge`"],
    ),
    ("warpload decode app.wlt", 2, &["error: app.wlt: a binary trace", "`warpload replay`"]),
    ("warpload decode k.ptx", 2, &["error: k.ptx: PTX; `warpload ptx check`"]),
    (
        "warpload ptx check gather.cubin",
        2,
        &["error: gather.cubin: a cubin, not PTX: `warpload decode` reads it"],
    ),
    ("warpload ptx check app.wlt", 2, &["error: app.wlt: a binary trace of warpload, not PTX"]),
    ("warpload conform app.wlt", 2, &["error: app.wlt: a binary trace"]),
    (
        "warpload merge app.wlt",
        2,
        &["error: app.wlt: a binary trace of warpload, not the summary of a replay"],
    ),
    ("warpload compare k.ptx k.ptx", 2, &["error: k.ptx: PTX, not the summary of a replay"]),
    ("warpload replay traces", 0, &["8 instructions: "]),
    ("warpload replay listed", 0, &["4 instructions: "]),
    ("warpload replay empty", 2, &["error: empty: a folder without traces"]),
    (
        "warpload replay cutracer_main_20250101.log",
        2,
        &["error: cutracer_main_20250101.log: the log of CUTracer itself, not a trace: \
             the trace is a `kernel_*.ndjson` of the same run"],
    ),
    (
        "warpload info shard-0.json",
        0,
        &["note: the summary of shard 0 of 2; `warpload merge` adds the others"],
    ),
    ("warpload merge shard-0.json", 2, &["error: shard 1 of 2 is missing"]),
    ("warpload merge whole.json shard-0.json", 2, &["error: shard 1 of 2 is missing"]),
    (
        "warpload conform --executor fast README.md",
        2,
        &["error: README.md: not a suite: line 1 is not a JSON object"],
    ),
    ("printf '{\"a\":1}\\n' | warpload conform -", 2, &["FAIL standard input:1: not a case"]),
    (
        "warpload conform --command false vectors.jsonl",
        2,
        &[
            "error: false: ended with status 1 before it answered; it must write one line for each question, flushed at once",
        ],
    ),
    ("warpload test cases", 0, &[""]),
];

const OUTPUTS: &[Row] = &[
    (
        "warpload export app.wlt -o x.parquet",
        2,
        &["error: this build of warpload does not write Parquet", "write_parquet"],
    ),
    (
        "warpload access 'lane*4' --svg out.png",
        2,
        &[
            "error: out.png: the output is SVG, and the name says PNG; expected a name that ends in .svg",
        ],
    ),
    ("warpload tmem map 16x64b x2 --svg out.pdf", 2, &["error: out.pdf: the output is SVG"]),
    ("warpload replay app.wlt --html out.json", 2, &["error: out.json: the output is HTML"]),
    ("warpload replay app.wlt -o out.json && head -c1 out.json", 0, &["out.json written\n{"]),
    ("warpload replay app.wlt -o out.csv && head -c6 out.csv", 0, &["out.csv written\nlaunch"]),
    (
        "warpload replay app.wlt --format csv -o out.json",
        2,
        &["error: out.json: the output is CSV"],
    ),
    ("warpload replay app.wlt -o out.html", 2, &["error: out.html: the output is text", "`--html"]),
    (
        "warpload import listed/one.traceg -o out.json",
        2,
        &["error: out.json: the output is a binary trace"],
    ),
];

const NUMBERS: &[Row] = &[
    ("warpload access 'tid * 4'", 2, &["error: `tid` has no value", "did you mean `lane`?"]),
    ("warpload access 'threadIdx.x * 4'", 0, &["threadIdx.x * 4\nshared memory"]),
    (
        "warpload replay app.wlt --pc 0x1000..0",
        2,
        &[
            "error: invalid value '0x1000..0' for '--pc <LO[..HI]>': the range is empty: 0x1000 is above 0",
        ],
    ),
    (
        "warpload access 'n * lane' --for n=4..0",
        2,
        &[
            "error: invalid value 'n=4..0' for '--for <NAME=A..B>': the range is empty: 4 is above 0",
        ],
    ),
    (
        "warpload access 'n * lane' --for n=4..4",
        2,
        &["error: ", "the range is empty: 4..4 has no number, because the last one is left out"],
    ),
    (
        "warpload replay app.wlt --top 99999999999999999999",
        2,
        &[
            "error: invalid value '99999999999999999999' for '--top <N>': too large; expected a number of at most 18446744073709551615",
        ],
    ),
    (
        "warpload replay app.wlt --top -3",
        2,
        &["error: invalid value '-3' for '--top <N>': too small; expected a number of at least 1"],
    ),
    (
        "warpload vectors generate --instruction LD --count -1",
        2,
        &["error: invalid value '-1' for '--count <N>': too small; expected a number of at least "],
    ),
    (
        "warpload conform --jobs 5000 vectors.jsonl",
        2,
        &["error: ", "too large; expected a number from 1 to 1024"],
    ),
    ("warpload replay app.wlt --pc zz", 2, &["error: invalid value 'zz' for '--pc <LO[..HI]>'"]),
    ("warpload replay app.wlt --kernel nosuch", 2, &["error: ", "nosuch"]),
    (
        "warpload replay --trace app.wlt",
        2,
        &[
            "error: unexpected argument '--trace' found",
            "the trace has no option: `warpload replay TRACE`",
        ],
    ),
    ("warpload tmem map 16x64b x3", 2, &["error: "]),
    ("warpload tmem map 16x63b x2", 2, &["error: "]),
    (
        "warpload tmem map 'tcgen05.ld.sync.aligned.16x64b.x2.b32 {r0, r1}, [t];'",
        0,
        &["tcgen05.ld.sync.aligned.16x64b.x2.b32\n16 lanes"],
    ),
];

const KERNELS: &[Row] = &[
    (
        "warpload ptx run k.ptx --block 32 --arg zeros:128 --arg 1.5",
        2,
        &[
            "error: k.ptx: the kernel has 3 parameters, 2 are given: a: .u64, x: .f32, n: .u32; missing: n",
            "--arg",
            "zeros:BYTES",
            "@FILE",
        ],
    ),
    (
        "warpload ptx run k.ptx",
        2,
        &["error: k.ptx: the kernel has 3 parameters, none is given: a: .u64, x: .f32, n: .u32"],
    ),
    ("warpload ptx run plain.ptx", 0, &["1 block"]),
    (
        "warpload ptx loads k.ptx --parameter a=0x10000000",
        0,
        &["k.ptx:6:5: ld.param.u64 %rd1, [a]"],
    ),
    (
        "warpload ptx run triton.ptx --arg zeros:128",
        2,
        &[
            "error: triton.ptx: the kernel has 3 parameters, 1 is given: ",
            "Triton",
            "scratch memory",
        ],
    ),
    (
        "warpload ptx run k.ptx --arg 1.5 --arg 1.5 --arg 3",
        2,
        &[
            "error: --arg 1.5 (parameter 0): `a` is .u64, a pointer or an integer: `zeros:BYTES` or `@FILE`",
        ],
    ),
    (
        "ulimit -v 4000000; warpload ptx run k.ptx --arg zeros:9000000000 --arg 1.5 --arg 3",
        2,
        &["error: "],
    ),
    (
        "warpload ptx run k.ptx --set '%r1=0' --parameter n=3",
        2,
        &["error: k.ptx: the kernel has 3 parameters, 1 is given"],
    ),
];

const KERNEL: &str = ".version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 a, .param .f32 x, .param .u32 n) {
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [a];
    ld.global.u32 %r1, [%rd1];
    ret;
}";
const PLAIN: &str =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n    ret;\n}";
/// The parameters of a kernel of Triton 3: a pointer of the function, then two pointers to scratch memory.
const TRITON: &str = ".version 8.0\n.target sm_80\n.address_size 64
.visible .entry t(.param .u64 .ptr .global .align 1 t_param_0, .param .u64 .ptr .global .align 1 t_param_1,
    .param .u64 .ptr .global .align 1 t_param_2) .reqntid 128 { ret; }";
const NAMED: &str = "code for sm_50
    Function : GatherEOBnKernel
    /*0008*/                   LD.E R0, [R2], P0;              /* 0x8090000000070200 */
    Function : other
    /*0008*/                   LD.E R0, [R2], P0;              /* 0x8090000000070200 */
";

/// Makes the files that the rows name.
fn files(folder: &Path) {
    let copy = |from: &str, to: &str| fs::copy(file(from), folder.join(to)).unwrap();
    for name in ["traces", "listed", "empty", "cases"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    copy("traces/gather.sm_50.cubin", "gather.cubin");
    copy("traces/generic.wlt", "app.wlt");
    for folder in ["traces", "listed"] {
        copy("traces/rows-kernel-1.traceg", &format!("{folder}/one.traceg"));
        copy("traces/rows-kernel-2.traceg", &format!("{folder}/two.traceg"));
    }
    copy("README.md", "README.md");
    copy("README.md", "traces/README.md");
    for (name, text) in [
        ("k.ptx", KERNEL),
        ("plain.ptx", PLAIN),
        ("triton.ptx", TRITON),
        ("named.txt", NAMED),
        ("listed/kernelslist.g", "two.traceg\n"),
        ("cutracer_main_20250101.log", "[2025-01-01 10:00:00] CUTRACER: cutracer_init\n"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let vectors = fs::read_to_string(file("tests/data/ld-vectors.jsonl")).unwrap();
    for name in ["vectors.jsonl", "cases/vectors.jsonl"] {
        let lines: Vec<&str> = vectors.lines().take(20).collect();
        fs::write(folder.join(name), lines.join("\n") + "\n").unwrap();
    }
    for shard in ["--shard 0/2 -o shard-0.json", "-o whole.json"] {
        let made = typed(&format!("warpload replay app.wlt --format json {shard}"), folder);
        assert_eq!(made.status, 0, "{}", made.stderr);
    }
}

/// Runs a line in a shell.
fn typed(line: &str, folder: &Path) -> Ran {
    let command = Path::new(env!("CARGO_BIN_EXE_warpload")).parent().unwrap();
    let path = format!("{}:{}", command.display(), std::env::var("PATH").unwrap());
    let ran = Command::new("sh").args(["-c", line]).current_dir(folder).env("PATH", path).output();
    ran.unwrap().into()
}

fn check(rows: &[Row]) {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    let mut wrong = String::new();
    for (line, status, texts) in rows {
        let ran = typed(line, folder.path());
        let answer = if ran.stderr.is_empty() { &ran.stdout } else { &ran.stderr };
        let mut rest = answer.strip_prefix(texts[0]);
        for text in &texts[1..] {
            rest = rest.and_then(|rest| rest.split_once(text)).map(|(_, rest)| rest);
        }
        if ran.status != *status || rest.is_none() {
            wrong +=
                &format!("$ {line}\n? {}, expected {status}: {texts:?}\n{answer}\n", ran.status);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn words_and_texts_are_recognized() {
    check(WORDS);
}

#[test]
fn files_of_another_kind_are_named() {
    check(FILES);
}

#[test]
fn an_output_has_the_format_of_its_name() {
    check(OUTPUTS);
}

#[test]
fn numbers_and_names_have_answers() {
    check(NUMBERS);
}

#[test]
fn a_launch_says_what_it_needs() {
    check(KERNELS);
}

/// An example in a help that is wrapped without a backslash cannot be pasted.
#[test]
fn examples_can_be_pasted() {
    let mut wrong = String::new();
    for command in [
        "",
        "decode",
        "encode",
        "explain",
        "run",
        "conform",
        "import",
        "export",
        "replay",
        "merge",
        "compare",
        "show",
        "access",
        "images",
        "stats",
        "ptx check",
        "ptx lower",
        "ptx run",
        "ptx loads",
        "tmem map",
        "tmem run",
    ] {
        let help = typed(&format!("COLUMNS=100 warpload {command} --help"), Path::new(ROOT));
        let examples = help.stdout.split_once("Examples:\n").map_or("", |(_, examples)| examples);
        let mut continues = false;
        for line in examples.lines().take_while(|line| !line.is_empty()) {
            let begins =
                ["  warpload ", "  cuobjdump ", "  nvdisasm ", "  cut ", "  echo ", "  clang "]
                    .iter()
                    .any(|start| line.starts_with(start));
            if !(begins || continues || line.starts_with("   ")) || line.len() > 100 {
                wrong += &format!("{command}: {line}\n");
            }
            continues = line.ends_with('\\');
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
