//! Calls of functions without a body: `__assertfail`, `vprintf`, `malloc`, `free`, and others, which are not executed.
//!
//! The authority is the CUDA C++ Programming Guide ("Assertion", "Formatted Output", "Dynamic Global Memory Allocation
//! and Operations"); for texts, the C library (`machine/printf.rs`).

use super::{Launched, launch, module};
use warpload_ptx::launch::{
    AllocationUse, Assertion, DeviceMemory, Kernel, KernelFault, KernelFaultKind, KernelLaunch,
    MemoryAccess, MemoryObserver, PrintfFault,
};
use warpload_ptx::read;

const EXTERNS: &str = "
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.extern .func (.param .b64 r) other(.param .b64 a);
.extern .func (.reg .b32 r) inreg(.reg .b64 a);
.extern .func stop(.param .b32 a) .noreturn;
";

/// Launches a body in one block, with a buffer of 256 zeros.
fn launched(body: &str, threads: u32, uninitialized: bool) -> Launched {
    let mut options = KernelLaunch::new([1; 3], [threads, 1, 1]);
    options.options.checks.uninitialized = uninitialized;
    let (declared, body) = body.split_once("---").unwrap_or(("", body));
    launch(&module(&format!("{EXTERNS}{declared}\n---{body}")), options, &[vec![0; 256]])
}

/// A text as the initializer of a variable.
fn variable(name: &str, text: &str) -> String {
    let bytes: Vec<String> = text.bytes().chain([0]).map(|byte| byte.to_string()).collect();
    format!(".global .align 1 .b8 {name}[{}] = {{{}}};\n", bytes.len(), bytes.join(", "))
}

/// Stores to a buffer of local memory, and the call of `vprintf` with it. The result is in %r80.
fn print(format: &str, bytes: u32, stores: &str) -> String {
    format!(
        "{}---
        .local .align 8 .b8 buffer[{bytes}];
        {stores}
        mov.u64 %rd20, fmt; cvta.global.u64 %rd20, %rd20; mov.u64 %rd21, buffer; cvta.local.u64 %rd21, %rd21;
        {{ .param .b64 p0; st.param.b64 [p0], %rd20; .param .b64 p1; st.param.b64 [p1], %rd21; .param .b32 ret0;
        call.uni (ret0), vprintf, (p0, p1); ld.param.b32 %r80, [ret0]; }}
        st.global.u32 [%rd2], %r80;",
        variable("fmt", format)
    )
}

/// The text that one thread prints, without a fault, and the result of `vprintf`.
fn printed(format: &str, bytes: u32, stores: &str) -> (String, i32) {
    let launched = launched(&print(format, bytes, stores), 1, true);
    assert_eq!(launched.result.faults, [], "{format}");
    assert!(launched.result.skipped.is_empty());
    let text = String::from_utf8(launched.result.printed.clone()).expect("text");
    assert_eq!(launched.result.printed_bytes, text.len() as u64);
    (text, launched.words(0)[0].cast_signed())
}

/// The faults of one thread that prints, and the text so far.
fn misprinted(format: &str, bytes: u32, stores: &str) -> (Vec<KernelFaultKind>, String) {
    let launched = launched(&print(format, bytes, stores), 1, true);
    let kinds = launched.result.faults.into_iter().map(|fault| fault.kind).collect();
    (kinds, String::from_utf8(launched.result.printed).expect("text"))
}

/// A call of `malloc` with the size in a register, into another register.
fn malloc(size: &str, to: &str) -> String {
    format!(
        "{{ .param .b64 p0; st.param.b64 [p0], {size}; .param .b64 ret0; call.uni (ret0), malloc, (p0);
        ld.param.b64 {to}, [ret0]; }}"
    )
}

fn free(pointer: &str) -> String {
    format!("{{ .param .b64 p0; st.param.b64 [p0], {pointer}; call.uni free, (p0); }}")
}

fn kinds(launched: &Launched) -> Vec<&'static str> {
    launched.result.faults.iter().map(|fault| fault.kind.name()).collect()
}

// Text.

#[test]
fn values_are_at_multiples_of_their_sizes() {
    // One byte of text in front, so that the order of the pieces shows: an int, a double, a char, a pointer, a long.
    let stores = "st.local.u32 [buffer], -7; st.local.f64 [buffer+8], 0d3FF8000000000000;
        st.local.u32 [buffer+16], 65; st.local.u64 [buffer+24], 0x7f0012345678; st.local.u32 [buffer+32], 3;
        st.local.u64 [buffer+40], -1;";
    let (text, values) = printed("x %d|%6.2f|%c|%p|%hhu|%ld%%\n", 48, stores);
    assert_eq!(text, "x -7|  1.50|A|0x7f0012345678|3|-1%\n");
    assert_eq!(values, 6);
}

#[test]
fn formats_without_values_need_no_buffer() {
    assert_eq!(printed("100%% of it\n", 8, ""), ("100% of it\n".to_owned(), 0));
    // nvcc passes the null pointer then.
    let body = format!(
        "{}---
        mov.u64 %rd20, fmt; mov.u64 %rd21, 0;
        {{ .param .b64 p0; st.param.b64 [p0], %rd20; .param .b64 p1; st.param.b64 [p1], %rd21; .param .b32 ret0;
        call (ret0), vprintf, (p0, p1); }}",
        variable("fmt", "hello\n")
    );
    let launched = launched(&body, 2, true);
    assert_eq!(
        (launched.result.faults, &launched.result.printed[..]),
        (vec![], &b"hello\nhello\n"[..])
    );
}

/// "If the format string is NULL, -1 is returned."
#[test]
fn the_null_format_prints_nothing() {
    let body = "{ .param .b64 p0; st.param.b64 [p0], 0; .param .b64 p1; st.param.b64 [p1], 0; .param .b32 ret0;
        call (ret0), vprintf, (p0, p1); ld.param.b32 %r80, [ret0]; } st.global.u32 [%rd2], %r80;";
    let launched = launched(body, 1, true);
    assert_eq!((launched.words(0)[0], launched.result.printed.len()), (u32::MAX, 0));
    assert_eq!(launched.result.faults, []);
}

#[test]
fn texts_and_stars_are_read_from_memory() {
    let format = format!("{}{}", variable("name", "warp"), ".global .u32 unused;");
    let body = print(
        "[%-*s|%.*f]",
        48,
        "mov.u64 %rd30, name; cvta.global.u64 %rd30, %rd30;
        st.local.u32 [buffer], 6; st.local.u64 [buffer+8], %rd30; st.local.u32 [buffer+16], 1;
        st.local.f64 [buffer+24], 0d4002000000000000;",
    );
    let body = format!("{format}{body}");
    let launched = launched(&body, 1, true);
    assert_eq!(String::from_utf8_lossy(&launched.result.printed), "[warp  |2.2]");
    // The result is not known: no document says whether the sizes count. So its store is of an unknown value.
    assert_eq!(launched.result.faults, []);
}

#[test]
fn threads_print_in_order_and_observers_hear_each() {
    struct Heard(Vec<Vec<u8>>);
    impl MemoryObserver for Heard {
        fn access(&mut self, _: &MemoryAccess<'_>) {}
        fn printed(&mut self, text: &[u8]) {
            self.0.push(text.to_vec());
        }
    }
    let source = module(&format!(
        "{EXTERNS}{}",
        print(
            "%u ",
            8,
            "mov.u32 %r1, %ctaid.x;
        mad.lo.u32 %r1, %r1, 2, %r0; st.local.u32 [buffer], %r1;"
        )
    ));
    let module = read(&source).expect("a module");
    let mut memory = DeviceMemory::new();
    let out = memory.allocate(vec![0; 16], AllocationUse::Argument(0)).expect("room");
    let launch = KernelLaunch::new([2, 1, 1], [2, 1, 1]).parameter(&out.to_le_bytes());
    let mut heard = Heard(Vec::new());
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let result = kernel.run(&launch, &mut memory, Some(&mut heard)).expect("an end");
    assert_eq!(result.printed, b"0 1 2 3 ");
    assert_eq!(heard.0, [b"0 ", b"1 ", b"2 ", b"3 "]);
}

#[test]
fn a_result_keeps_one_mebibyte_of_text() {
    // 64 KiB less one in each call.
    let long = "x".repeat(65_535);
    let body = format!(
        "{}---
        mov.u64 %rd20, fmt; mov.u32 %r1, 0;
        AGAIN: {{ .param .b64 p0; st.param.b64 [p0], %rd20; .param .b64 p1; st.param.b64 [p1], 0; .param .b32 ret0;
        call (ret0), vprintf, (p0, p1); }}
        add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 20; @%p1 bra AGAIN;",
        variable("fmt", &long)
    );
    let launched = launched(&body, 1, false);
    assert_eq!(
        (launched.result.printed.len(), launched.result.printed_bytes),
        (1 << 20, 20 * 65_535)
    );
}

#[test]
fn wrong_formats_are_faults_and_never_garbage() {
    let conversion = |text: &str| {
        vec![KernelFaultKind::Printf(
            PrintfFault::Conversion { conversion: text.to_owned() }.into(),
        )]
    };
    let one = "st.local.u32 [buffer], 5;";
    assert_eq!(misprinted("a%db%nc%d\n", 16, one), (conversion("%n"), "a5b".to_owned()));
    assert_eq!(misprinted("%99999d", 16, one), (conversion("%99999d"), String::new()));
    assert_eq!(misprinted("50%", 16, one), (conversion("%"), "50".to_owned()));
    assert_eq!(misprinted("%Lf", 16, one), (conversion("%Lf"), String::new()));
    // A width from the buffer.
    let wide = "st.local.u32 [buffer], 1000000000; st.local.u32 [buffer+4], 1;";
    assert_eq!(misprinted("%*d", 16, wide), (conversion("%*d"), String::new()));

    // More conversions than values: the buffer ends, although other local memory follows it.
    let (kinds, text) = misprinted("%d %d %f\n", 8, "st.local.v2.u32 [buffer], {1, 2};");
    let lack = PrintfFault::NoValue { conversion: "%f".to_owned(), bytes: 8 };
    assert_eq!((kinds, &text[..]), (vec![KernelFaultKind::Printf(lack.into())], "1 2 "));
    // A value that nothing has written.
    let (kinds, text) = misprinted("%d %d!\n", 8, one);
    let unknown = PrintfFault::UnknownValue { conversion: "%d".to_owned() };
    assert_eq!(
        (kinds, &text[..]),
        (vec![KernelFaultKind::Printf(unknown.clone().into())], "5 <not known>!\n")
    );
    // A value that an instruction which is not executed should have made, without the check.
    let (kinds, text) = misprinted(
        "%d!\n",
        8,
        "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd5, {%r6}];
        st.local.u32 [buffer], %r1;",
    );
    assert_eq!(
        (kinds, &text[..]),
        (vec![KernelFaultKind::Printf(unknown.into())], "<not known>!\n")
    );
    // A text at a wrong address.
    let (kinds, text) = misprinted("%s!\n", 8, "st.local.u64 [buffer], 64;");
    let lack = PrintfFault::NoText { conversion: "%s".to_owned() };
    assert_eq!((kinds, &text[..]), (vec![KernelFaultKind::Printf(lack.into())], "<not known>!\n"));
    // A null buffer, and a format outside memory, with the address in the message.
    let call = |format: &str, buffer: &str| {
        let body = format!(
            "{}---
            mov.u64 %rd20, {format}; mov.u64 %rd21, {buffer};
            {{ .param .b64 p0; st.param.b64 [p0], %rd20; .param .b64 p1; st.param.b64 [p1], %rd21; .param .b32 ret0;
            call (ret0), vprintf, (p0, p1); ld.param.b32 %r80, [ret0]; }}
            setp.eq.u32 %p1, %r80, 1; @%p1 st.global.u32 [%rd2], 1;",
            variable("fmt", "%d\n")
        );
        let launched = launched(&body, 1, false);
        assert_eq!(launched.result.printed, b"");
        launched.result.faults[0].to_string()
    };
    assert_eq!(call("fmt", "0"), "printf: the buffer does not have the 4 bytes that `%d` needs");
    assert_eq!(call("64", "0"), "printf: the format is not in memory up to its end, at 0x40");
    assert_eq!(
        call("fmt", "%rd70"),
        "the buffer of `vprintf` is not known: nothing has written `%rd70`"
    );
    assert_eq!(
        call("%rd70", "0"),
        "the format of `vprintf` is not known: nothing has written `%rd70`"
    );
}

/// "The printf() command can accept at most 32 arguments in addition to the format string. Additional arguments beyond
/// this will be ignored, and the format specifier output as is."
#[test]
fn the_thirty_third_value_is_not_read() {
    let stores: String =
        (0..33).map(|value| format!("st.local.u32 [buffer+{}], {value};", 4 * value)).collect();
    let (text, values) = printed(&"%x".repeat(33), 132, &stores);
    let expected: String = (0..32).map(|value| format!("{value:x}")).collect();
    assert_eq!((text, values), (expected + "%x", 32));
}

#[test]
fn indirect_calls_and_registers_reach_the_same_functions() {
    // By address, with half of the lanes in a function of the module.
    let body = format!(
        "{}.func (.param .b32 r) own(.param .b64 a, .param .b64 b) {{ st.param.b32 [r], 99; ret; }}
        ---
        .local .align 8 .b8 buffer[8];
        st.local.u32 [buffer], %r0; mov.u64 %rd20, fmt; mov.u64 %rd21, buffer; cvta.local.u64 %rd21, %rd21;
        mov.u64 %rd22, vprintf; mov.u64 %rd23, own; and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;
        selp.b64 %rd24, %rd22, %rd23, %p1;
        {{ .param .b64 p0; st.param.b64 [p0], %rd20; .param .b64 p1; st.param.b64 [p1], %rd21; .param .b32 ret0;
        proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);
        call (ret0), %rd24, (p0, p1), proto; ld.param.b32 %r80, [ret0]; }}
        st.global.u32 [%rd2], %r80;",
        variable("fmt", "t%d;")
    );
    let launched = launched(&body, 4, true);
    assert_eq!((launched.result.faults.len(), &launched.result.printed[..]), (0, &b"t0;t2;"[..]));
    assert_eq!(launched.words(0)[..4], [1, 99, 1, 99]);
    // The lanes go on together: four stores before and in the call, and one after it.
    assert_eq!(launched.result.counts.stores, 5);
}

/// A function prints from the local memory of its caller, and fails an assertion in some lanes, whose callers end, too.
#[test]
fn nested_calls_print_and_fail_in_their_lanes() {
    let call = "{ .param .b64 p0; st.param.b64 [p0], %rd1; .param .b64 p1; st.param.b64 [p1], %rd2; .param .b32 ret0;
        call.uni (ret0), vprintf, (p0, p1); ld.param.b32 %r1, [ret0]; }";
    let fail = "{ .param .b64 p0; st.param.b64 [p0], 0; .param .b64 p1; st.param.b64 [p1], 0; .param .b32 p2;
        st.param.b32 [p2], 7; .param .b64 p3; st.param.b64 [p3], 0; .param .b64 p4; st.param.b64 [p4], 1;
        call.uni __assertfail, (p0, p1, p2, p3, p4); }";
    let body = format!(
        "{}.func (.param .b32 r) inner(.param .b64 b, .param .b32 n) {{
            .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p;
            ld.param.b64 %rd2, [b]; mov.u64 %rd1, fmt; {call} ld.param.b32 %r2, [n];
            setp.eq.u32 %p, %r2, 1; @!%p bra ON; {fail} ON: st.param.b32 [r], %r1; ret; }}
        .func (.param .b32 r) outer(.param .b32 n) {{
            .reg .b64 %rd<9>; .reg .b32 %r<9>; .local .align 8 .b8 buffer[8];
            ld.param.b32 %r1, [n]; st.local.u32 [buffer], %r1; st.local.u32 [buffer+4], 40; mov.u64 %rd1, buffer;
            cvta.local.u64 %rd1, %rd1;
            {{ .param .b64 p0; st.param.b64 [p0], %rd1; .param .b32 p1; st.param.b32 [p1], %r1; .param .b32 ret0;
            call.uni (ret0), inner, (p0, p1); ld.param.b32 %r2, [ret0]; }} st.param.b32 [r], %r2; ret; }}
        ---{{ .param .b32 p0; st.param.b32 [p0], %r0; .param .b32 ret0; call.uni (ret0), outer, (p0);
        ld.param.b32 %r80, [ret0]; }} st.global.u32 [%rd2], %r80;",
        variable("fmt", "%d+%d;")
    );
    let launched = launched(&body, 3, true);
    assert_eq!(launched.result.printed, b"0+40;1+40;2+40;");
    assert_eq!(kinds(&launched), ["assertion"]);
    assert_eq!(&*launched.result.faults[0].function, "inner");
    assert_eq!(launched.words(0)[..4], [2, 0, 2, 0]);
    // One value more than the caller's buffer has.
    let longer = body.replace(&variable("fmt", "%d+%d;"), &variable("fmt", "%d+%d;%d"));
    let launched = self::launched(&longer, 1, false);
    assert_eq!((kinds(&launched), &launched.result.printed[..]), (vec!["printf"], &b"0+40;"[..]));
}

// Assertions.

/// nvcc 13.5: `assert(x[i]==0 && "must be zero")` fails in thread 2, which ends; thread 3 prints.
#[test]
fn an_assertion_ends_its_thread_and_names_its_text() {
    let source = include_str!("../../machine/externals/assert_and_printf.ptx");
    let words = [0_u32, 0, 5, 0, 0, 0, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect();
    let launched = launch(source, KernelLaunch::new([1; 3], [8, 1, 1]), &[words]);
    assert_eq!(launched.words(0), [1, 2, 5, 4, 5, 6, 7, 8]);
    assert_eq!(launched.result.printed, b"hello 3\n");
    assert!(launched.result.skipped.is_empty());
    let [fault] = &launched.result.faults[..] else { panic!("{:?}", launched.result.faults) };
    let assertion = Assertion {
        expression: Some("x[i]==0 && \"must be zero\"".to_owned()),
        file: Some("as.cu".to_owned()),
        line: Some(3),
        function: Some("void k(int *)".to_owned()),
    };
    assert_eq!(fault.kind, KernelFaultKind::Assertion(assertion.into()));
    assert_eq!((fault.thread, fault.kind.name()), ([2, 0, 0], "assertion"));
    assert_eq!(
        fault.to_string(),
        "assertion failed: x[i]==0 && \"must be zero\", as.cu:3, in `void k(int *)`"
    );
}

/// nvcc 12.9: three threads print, and 12 of 32 fail an assertion.
#[test]
fn printed_text_and_assertions_are_in_order() {
    let source = include_str!("../../machine/externals/talk.ptx");
    let module = read(source).expect("a module");
    let mut memory = DeviceMemory::new();
    let out = memory.allocate(vec![0; 128], AllocationUse::Argument(0)).expect("room");
    let launch = KernelLaunch::new([1; 3], [32, 1, 1]);
    let launch = launch.parameter(&out.to_le_bytes()).parameter(&20_u32.to_le_bytes());
    let kernel = Kernel::named(&module, "talk").expect("a kernel");
    let result = kernel.run(&launch, &mut memory, None).expect("an end");
    assert_eq!(
        String::from_utf8_lossy(&result.printed),
        "thread 0 has 0.000000\nthread 1 has 0.500000\nthread 2 has 1.000000\n"
    );
    assert_eq!(result.fault_count, 12);
    let threads: Vec<u32> = result.faults.iter().map(|fault| fault.thread[0]).collect();
    assert_eq!(threads, (20..32).collect::<Vec<_>>());
    assert_eq!(result.faults[0].to_string(), "assertion failed: i < n, talk.cu:9, in `talk`");
    let words = memory.bytes(out).expect("a buffer").as_chunks().0;
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let expected: Vec<u32> = (0..32).map(|thread| if thread < 20 { thread } else { 0 }).collect();
    assert_eq!(words, expected);
}

/// Triton's `tl.device_assert`: the message, in place of the `trap` that follows the call.
#[test]
fn device_asserts_of_triton_have_their_message() {
    let source = include_str!("../../machine/externals/gather.ptx");
    let module = read(source).expect("a module");
    let mut memory = DeviceMemory::new();
    let mut launch = KernelLaunch::new([1; 3], [32, 1, 1]);
    for (number, bytes) in [(0, 128), (1, 128), (2, 128), (3, 0), (4, 0), (5, 0)] {
        if number == 3 {
            launch = launch.parameter(&7_u32.to_le_bytes());
            continue;
        }
        let mut bytes = vec![0; bytes];
        if number == 1 {
            bytes[4 * 5..4 * 5 + 4].copy_from_slice(&9_u32.to_le_bytes());
        }
        let base = memory.allocate(bytes, AllocationUse::Argument(number)).expect("room");
        launch = launch.parameter(&base.to_le_bytes());
    }
    let kernel = Kernel::named(&module, "gather").expect("a kernel");
    let result = kernel.run(&launch, &mut memory, None).expect("an end");
    let [fault] = &result.faults[..] else { panic!("{:?}", result.faults) };
    assert_eq!(fault.thread, [5, 0, 0]);
    let text = fault.to_string();
    assert!(text.starts_with("assertion failed: index out of range, /tmp/w/"), "{text}");
    assert!(text.ends_with("gen.py:9, in `unknown`"), "{text}");
}

#[test]
fn assertions_with_wrong_texts_are_assertions_all_the_same() {
    let call = "{ .param .b64 p0; st.param.b64 [p0], 64; .param .b64 p1; st.param.b64 [p1], %rd70;
        .param .b32 p2; st.param.b32 [p2], 12; .param .b64 p3; st.param.b64 [p3], %rd20; .param .b64 p4;
        st.param.b64 [p4], 1; call.uni __assertfail, (p0, p1, p2, p3, p4); }";
    let body = format!(
        "{}---\nsetp.lt.u32 %p1, %r0, 3; @!%p1 bra ON;\nmov.u64 %rd20, name; {call}\nON: st.global.u32 [%rd2], 1;",
        variable("name", &"f".repeat(2000))
    );
    let launched = launched(&body, 4, false);
    assert_eq!(kinds(&launched), ["assertion"; 3]);
    assert_eq!(launched.words(0)[..5], [0, 0, 0, 1, 0]);
    let text = launched.result.faults[0].to_string();
    let name = format!("{}…", "f".repeat(1024));
    assert_eq!(
        text,
        format!(
            "assertion failed: its text is not known, line 12 of a file that is not known, in `{name}`"
        )
    );
}

/// A barrier does not wait for a thread that an assertion has ended.
#[test]
fn barriers_do_not_wait_for_failed_threads() {
    let body = "setp.eq.u32 %p1, %r0, 40; @!%p1 bra ON;
        { .param .b64 p0; st.param.b64 [p0], 0; .param .b64 p1; st.param.b64 [p1], 0; .param .b32 p2;
        st.param.b32 [p2], 0; .param .b64 p3; st.param.b64 [p3], 0; .param .b64 p4; st.param.b64 [p4], 1;
        call.uni __assertfail, (p0, p1, p2, p3, p4); }
        ON: bar.sync 0; and.b32 %r1, %r0, 63; setp.lt.u32 %p2, %r1, 4; @%p2 st.global.u32 [%rd2], 3;";
    let launched = launched(body, 64, false);
    assert_eq!(kinds(&launched), ["assertion"]);
    assert_eq!(launched.words(0)[..5], [3, 3, 3, 3, 0]);
}

// The heap.

#[test]
fn memory_of_malloc_is_the_threads_own_until_it_is_free() {
    let body = format!(
        "{} st.u32 [%rd5], %r0; st.u32 [%rd5+60], 7; ld.u32 %r1, [%rd5]; st.global.u32 [%rd2], %r1;
        and.b64 %rd6, %rd5, 15; cvt.u32.u64 %r2, %rd6; st.global.u32 [%rd2+128], %r2; {}",
        malloc("64", "%rd5"),
        free("%rd5")
    );
    let launched = launched(&body, 32, true);
    assert_eq!(launched.result.faults, []);
    assert_eq!(launched.words(0)[..32], (0..32).collect::<Vec<_>>());
    // "guaranteed to be aligned to a 16-byte boundary".
    assert_eq!(launched.words(0)[32..], [0; 32]);
    // free(NULL) does nothing.
    let launched = self::launched(&free("0"), 32, true);
    assert_eq!(launched.result.faults, []);
}

#[test]
fn wrong_uses_of_the_heap_have_their_names() {
    let first = |body: String| -> KernelFault {
        let launched = launched(&body, 1, true);
        launched.result.faults.first().expect("a fault").clone()
    };
    let allocated = malloc("60", "%rd5");
    let freed = free("%rd5");
    let past = first(format!("{allocated} st.u32 [%rd5+60], 7;"));
    assert_eq!(
        past.to_string(),
        "out of bounds: 0x70000000003c is the end of 60 bytes from `malloc`"
    );
    assert_eq!(past.nearest.expect("near").purpose, AllocationUse::Heap { bytes: 60 });
    let before = first(format!("{allocated} ld.u32 %r1, [%rd5+-4];"));
    assert_eq!(
        before.to_string(),
        "out of bounds: 0x6ffffffffffc is 4 bytes before 60 bytes from `malloc`"
    );
    let after = first(format!("{allocated} st.u32 [%rd5], 1; {freed} ld.u32 %r1, [%rd5+8];"));
    assert_eq!(
        after.to_string(),
        "use after free: 0x700000000008 was one of 60 bytes from `malloc`"
    );
    assert_eq!(after.kind.name(), "use_after_free");
    let store = first(format!("{allocated} {freed} st.u32 [%rd5], 1;"));
    assert_eq!(store.kind, KernelFaultKind::UseAfterFree { bytes: 60 });
    let atomic = first(format!("{allocated} {freed} atom.add.u32 %r1, [%rd5], 1;"));
    assert_eq!(atomic.kind, KernelFaultKind::UseAfterFree { bytes: 60 });
    let twice = first(format!("{allocated} {freed} {freed}"));
    assert_eq!(twice.to_string(), "double free: 0x700000000000 is free already");
    let inside = first(format!("{allocated} add.u64 %rd6, %rd5, 16; {}", free("%rd6")));
    assert_eq!(inside.to_string(), "invalid free: `malloc` has not returned 0x700000000010");
    // Memory of cudaMalloc "cannot be freed using free() on device".
    let argument = first(free("%rd1"));
    assert_eq!((argument.kind, argument.address), (KernelFaultKind::InvalidFree, 0x8000_0000));
    let unknown = first(free("%rd70"));
    assert_eq!(
        unknown.to_string(),
        "the pointer of `free` is not known: nothing has written `%rd70`"
    );
    assert_eq!(unknown.kind.name(), "unknown_value");
    let read = first(format!("{allocated} ld.u32 %r1, [%rd5+4];"));
    assert_eq!(read.kind, KernelFaultKind::Uninitialized);
    // Memory that is allocated again is not the one that was freed.
    let again = first(format!(
        "{allocated} st.u32 [%rd5], 1; {freed} {} ld.u32 %r1, [%rd6];",
        malloc("60", "%rd6")
    ));
    assert_eq!(again.kind, KernelFaultKind::Uninitialized);
    assert_ne!(again.address, 0x7000_0000_0000);
}

/// "or NULL if insufficient memory exists to fulfill the request". 8 MiB is the heap's size without cudaDeviceSetLimit.
#[test]
fn an_exhausted_heap_returns_the_null_pointer() {
    let count = |bytes: u64, limit: Option<u64>| {
        let body = format!(
            "mov.u32 %r1, 0;\nAGAIN: {} setp.eq.u64 %p1, %rd5, 0; @%p1 bra END;
            add.u32 %r1, %r1, 1; bra AGAIN;\nEND: st.global.u32 [%rd2], %r1;",
            malloc(&bytes.to_string(), "%rd5")
        );
        let mut options = KernelLaunch::new([1; 3], [1, 1, 1]);
        options.options.heap_bytes = limit.unwrap_or(options.options.heap_bytes);
        let launched = launch(&module(&format!("{EXTERNS}---{body}")), options, &[vec![0; 256]]);
        assert_eq!(launched.result.faults, []);
        launched.words(0)[0]
    };
    assert_eq!(count(1 << 20, None), 8);
    assert_eq!(count(0x1_0000_0000, None), 0);
    assert_eq!(count(u64::MAX, None), 0);
    assert_eq!(count(0, Some(64)), 4);
    assert_eq!(count(17, Some(64)), 2);
    // What is free again can be allocated again: a million bytes in all, in a heap of 64.
    let body = format!(
        "mov.u32 %r1, 0; mov.u32 %r2, 0;\nAGAIN: {} setp.eq.u64 %p1, %rd5, 0; @%p1 add.u32 %r2, %r2, 1; {}
        add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 70000; @%p2 bra AGAIN; st.global.u32 [%rd2], %r2; {} ld.u32 %r3, [%rd5];",
        malloc("16", "%rd5"),
        free("%rd5"),
        free("%rd5")
    );
    let mut options = KernelLaunch::new([1; 3], [1, 1, 1]);
    options.options.heap_bytes = 64;
    let launched = launch(&module(&format!("{EXTERNS}---{body}")), options, &[vec![0; 256]]);
    assert_eq!(launched.words(0)[0], 0);
    assert_eq!(kinds(&launched), ["double_free", "use_after_free"]);
}

/// As in CUDA, memory of `malloc` stays until it is freed, in later launches, too.
#[test]
fn memory_of_malloc_outlives_its_launch() {
    let source = format!(
        "{EXTERNS}
        .visible .entry first(.param .u64 out) {{ .reg .b64 %rd<9>; ld.param.u64 %rd1, [out];
        {} st.u32 [%rd5], 77; st.global.u64 [%rd1], %rd5; ret; }}
        .visible .entry second(.param .u64 out) {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; ld.param.u64 %rd1, [out];
        ld.global.u64 %rd5, [%rd1]; ld.u32 %r1, [%rd5]; st.global.u32 [%rd1], %r1; {} ret; }}",
        malloc("4", "%rd5"),
        free("%rd5")
    );
    let source = format!(".version 8.7\n.target sm_90a\n.address_size 64\n{source}");
    let module = read(&source).expect("a module");
    let mut memory = DeviceMemory::new();
    let out = memory.allocate(vec![0; 8], AllocationUse::Argument(0)).expect("room");
    for (name, faults) in [("first", 0), ("second", 0), ("first", 0)] {
        let launch = KernelLaunch::new([1; 3], [1, 1, 1]).parameter(&out.to_le_bytes());
        let result =
            Kernel::named(&module, name).expect("a kernel").run(&launch, &mut memory, None);
        assert_eq!(result.expect("an end").faults.len(), faults, "{name}");
        if name == "second" {
            assert_eq!(memory.bytes(out).expect("a buffer")[..4], 77_u32.to_le_bytes());
        }
    }
}

// Others.

/// A store of a value that is unknown makes the memory unknown; a branch that needs it is a fault.
#[test]
fn other_functions_are_listed_and_their_results_unknown() {
    let listed = |body: &str| {
        let launched = launched(body, 2, false);
        let [skipped] = &launched.result.skipped[..] else {
            panic!("{:?}", launched.result.skipped)
        };
        assert_eq!(skipped.count, 1);
        (skipped.text.clone(), kinds(&launched), launched)
    };
    let call =
        "{ .param .b64 p0; st.param.b64 [p0], 5; .param .b64 ret0;\ncall.uni (ret0), other, (p0);
        ld.param.b64 %rd5, [ret0]; }";
    let needs = "setp.eq.u64 %p1, %rd5, 0; @%p1 st.global.u32 [%rd2], 1;";
    let (text, faults, launched) = listed(&format!("{call} {needs}"));
    assert_eq!(
        (&text[..], &faults[..]),
        ("call.uni (ret0), other, (p0)", &["unknown_value"; 2][..])
    );
    assert_eq!(launched.words(0)[..2], [0, 0]);
    let (text, faults, _) = listed(
        "\ncall (%r5), inreg, (%rd1);\nsetp.eq.u32 %p1, %r5, 0; @%p1 st.global.u32 [%rd2], 1;",
    );
    assert_eq!((&text[..], &faults[..]), ("call (%r5), inreg, (%rd1)", &["unknown_value"; 2][..]));
    // By address.
    let (_, faults, _) = listed(&format!(
        "mov.u64 %rd22, other; {{ .param .b64 p0; st.param.b64 [p0], 5; .param .b64 ret0;
        proto: .callprototype (.param .b64 _) _ (.param .b64 _);
        call (ret0), %rd22, (p0), proto; ld.param.b64 %rd5, [ret0]; }} {needs}"
    ));
    assert_eq!(faults, ["unknown_value"; 2]);
    // A function that has the name of a known one, and other parameters, is not the known one.
    let source = module(
        ".extern .func (.param .b32 r) malloc(.param .b32 n);\n---
        { .param .b32 p0; st.param.b32 [p0], 5; .param .b32 ret0; call (ret0), malloc, (p0); }",
    );
    let launched = launch(&source, KernelLaunch::new([1; 3], [1, 1, 1]), &[vec![0; 256]]);
    assert_eq!(launched.result.skipped.len(), 1);
    // A module's own function of that name is executed.
    let source = module(
        ".func (.param .b64 r) malloc(.param .b64 n) { st.param.b64 [r], 12; ret; }\n---
        { .param .b64 p0; st.param.b64 [p0], 5; .param .b64 ret0; call (ret0), malloc, (p0);
        ld.param.b64 %rd5, [ret0]; } st.global.u64 [%rd1], %rd5;",
    );
    let launched = launch(&source, KernelLaunch::new([1; 3], [1, 1, 1]), &[vec![0; 256]]);
    assert_eq!((launched.words(0)[0], launched.result.skipped.len()), (12, 0));
}

#[test]
fn memory_that_a_function_may_write_is_unknown() {
    let after = |pointer: &str, load: &str| {
        let body = format!(
            ".shared .align 8 .b8 tile[64];\n---
            .local .align 8 .b8 mine[16]; .local .align 8 .b8 apart[16];
            st.local.u64 [mine], 1; st.local.u64 [apart], 1; st.shared.u64 [tile], 1; mov.u64 %rd30, mine;
            cvta.local.u64 %rd30, %rd30; mov.u64 %rd31, tile; cvta.shared.u64 %rd31, %rd31; add.u64 %rd32, %rd1, 100;
            {{ .param .b64 p0; st.param.b64 [p0], {pointer}; .param .b64 ret0; call (ret0), other, (p0); }}
            {load} setp.eq.u64 %p1, %rd40, 1; @%p1 mov.u64 %rd41, 0; @%p1 bra END; END:"
        );
        kinds(&launched(&body, 1, false))
    };
    assert_eq!(after("%rd1", "ld.global.u64 %rd40, [%rd1+8];"), ["unknown_value"]);
    assert_eq!(after("%rd32", "ld.global.u64 %rd40, [%rd1];"), ["unknown_value"]);
    assert_eq!(after("%rd31", "ld.shared.u64 %rd40, [tile];"), ["unknown_value"]);
    assert_eq!(after("%rd30", "ld.local.u64 %rd40, [mine+8];"), ["unknown_value"]);
    // What the pointer does not reach stays known.
    assert_eq!(after("%rd30", "ld.local.u64 %rd40, [apart];"), [""; 0]);
    assert_eq!(after("%rd30", "ld.global.u64 %rd40, [%rd1];"), [""; 0]);
    assert_eq!(after("5", "ld.shared.u64 %rd40, [tile];"), [""; 0]);
    // A pointer in a struct.
    let body = "---{ .param .align 8 .b8 p0[16]; st.param.u32 [p0], 3; st.param.u64 [p0+8], %rd1;
        call three, (p0); } ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; END:";
    let source = module(&format!(".extern .func three(.param .align 8 .b8 p[16]);\n{body}"));
    let launched = launch(&source, KernelLaunch::new([1; 3], [1, 1, 1]), &[vec![0; 256]]);
    assert_eq!(kinds(&launched), ["unknown_value"]);
}

/// A call of a `.noreturn` function does not return, whatever the function does.
#[test]
fn threads_end_in_functions_that_do_not_return() {
    let body = "setp.eq.u32 %p1, %r0, 1; @!%p1 bra ON;
        { .param .b32 p0; st.param.b32 [p0], 5; call.uni stop, (p0); }\nON: st.global.u32 [%rd2], 1;";
    let launched = launched(body, 3, false);
    assert_eq!(launched.words(0)[..3], [1, 0, 1]);
    assert_eq!(launched.result.skipped.len(), 1);
}

// Memory of calls.

/// Local memory and parameters of a call are new in each call, and in each round of a loop.
#[test]
fn frames_begin_unwritten() {
    let functions = "
        .func (.param .b32 r) f () { .local .align 4 .b8 l[64]; st.local.u32 [l], 77; st.param.b32 [r], 0; ret; }
        .func (.param .b32 r) g () { .reg .b32 %a; .local .align 4 .b8 m[64]; ld.local.u32 %a, [m]; st.param.b32 [r], %a; ret; }
        .func (.param .b32 r) h () { ret; }
        .func (.param .b32 r) id (.param .b32 a) { .reg .b32 %a; ld.param.b32 %a, [a]; st.param.b32 [r], %a; ret; }\n---";
    let of = |body: &str, threads: u32| {
        let launched = launched(&format!("{functions}{body}"), threads, true);
        kinds(&launched)
    };
    let call_f = "{ .param .b32 s; call (s), f; }";
    let call_g = "{ .param .b32 s; call (s), g; ld.param.b32 %r4, [s]; }";
    assert_eq!(of(&format!("{call_f} {call_g}"), 1), ["uninitialized"]);
    assert_eq!(of(call_g, 1), ["uninitialized"]);
    // The same call again, and in the second warp.
    assert_eq!(of(&format!("{call_g} {call_f} {call_g}"), 1), ["uninitialized"; 2]);
    assert_eq!(
        of(&format!("{call_f} setp.eq.u32 %p1, %r0, 33; @!%p1 bra ON; {call_g} ON:"), 34),
        ["uninitialized"]
    );
    // Lanes whose call goes another way keep what they have written.
    let apart = format!(
        ".local .align 4 .b8 own[8]; st.local.u32 [own], 5; and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0;
        @%p1 bra OTHER; {call_f} bra ON; OTHER: {call_f} ON: ld.local.u32 %r4, [own];"
    );
    assert_eq!(of(&apart, 4), [""; 0]);
    // A result that the function does not write.
    assert_eq!(of("{ .param .b32 s; call (s), h; ld.param.b32 %r4, [s]; }", 1), ["uninitialized"]);
    // A parameter that only the first round of a loop writes.
    let once = "mov.u32 %r1, 0; AGAIN: setp.eq.u32 %p1, %r1, 0;
        { .param .b32 p; @%p1 st.param.b32 [p], 3; .param .b32 s; call (s), id, (p); ld.param.b32 %r4, [s]; }
        add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 2; @%p2 bra AGAIN;";
    assert_eq!(of(once, 1)[..1], ["uninitialized"]);
    let each = once.replace("@%p1 st.param", "st.param");
    assert_eq!(of(&each, 1), [""; 0]);
}

/// All words of a large argument point to the same memory, which is made unknown once: 65,536 times 256 KiB would take
/// longer than any test.
#[test]
fn large_arguments_cost_their_size() {
    let body = ".extern .func big(.param .align 8 .b8 p[262144]);
        ---.local .align 8 .b8 mine[131072]; .shared .align 8 .b8 tile[32768];
        mov.u64 %rd30, mine; cvta.local.u64 %rd30, %rd30; mov.u64 %rd31, tile; cvta.shared.u64 %rd31, %rd31;
        { .param .align 8 .b8 p0[262144]; mov.u32 %r1, p0; mov.u32 %r2, 0;
        AGAIN: st.param.v2.u64 [p0], {%rd30, %rd31}; add.u32 %r3, %r1, %r2;
        st.local.v2.u64 [%r3], {%rd30, %rd31}; add.u32 %r2, %r2, 16; setp.lt.u32 %p1, %r2, 262144; @%p1 bra AGAIN;
        call big, (p0); }
        ld.shared.u32 %r4, [tile+32764]; setp.eq.u32 %p2, %r4, 0; @%p2 bra END; END:";
    let launched = launched(body, 32, false);
    assert_eq!(launched.result.skipped.len(), 1);
    assert_eq!((launched.result.fault_count, kinds(&launched)[0]), (32, "unknown_value"));
}
