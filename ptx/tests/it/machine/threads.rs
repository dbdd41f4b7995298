//! Blocks on several threads: nothing shows how many there were.

use std::collections::BTreeMap;

use proptest::prelude::*;
use warpload_ptx::launch::{
    AllocationUse, CheckedRaces, DeviceMemory, Kernel, KernelLaunch, KernelResult, MemoryAccess,
    MemoryObserver,
};
use warpload_ptx::read;

/// Blocks and threads of the launches.
const GRID: u32 = 37;
const BLOCK: u32 = 40;

fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64
         .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 b);
         .global .align 1 .b8 format[4] = {{37, 117, 10, 0}};
         .visible .entry k(.param .u64 x, .param .u32 a, .param .u32 b, .param .u32 c, .param .u32 d) {{
             .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
             ld.param.u64 %rd1, [x];
             mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
             ld.param.u32 %r3, [a]; ld.param.u32 %r4, [b]; ld.param.u32 %r5, [c]; ld.param.u32 %r6, [d];
             {body}
             ret;
         }}"
    )
}

/// What a launch leaves and finds, with a number of threads.
fn launched(
    source: &str,
    words: [u32; 4],
    bytes: usize,
    threads: usize,
) -> (KernelResult, Vec<u8>) {
    let module = read(source).expect("a module");
    let mut memory = DeviceMemory::new();
    let contents = (0..bytes as u32).map(|byte| byte as u8).collect();
    let x = memory.allocate(contents, AllocationUse::Argument(0)).expect("room");
    let mut launch = KernelLaunch::new([GRID, 1, 1], [BLOCK, 1, 1]).parameter(&x.to_le_bytes());
    for word in words {
        launch = launch.parameter(&word.to_le_bytes());
    }
    (launch.options.threads, launch.options.batch) = (threads, 32);
    launch.options.checks.races = Some(CheckedRaces::All);
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let result = kernel.run(&launch, &mut memory, None).expect("an end");
    (result, memory.bytes(x).expect("a buffer").to_vec())
}

fn all_threads_agree(body: &str, words: [u32; 4], bytes: usize) -> (KernelResult, Vec<u8>) {
    let source = kernel(body);
    let expected = launched(&source, words, bytes, 1);
    for threads in 2..=5 {
        assert_eq!(launched(&source, words, bytes, threads), expected, "{threads} threads: {body}");
    }
    expected
}

/// The address of word `%r7` of the buffer in `%rd3`.
const WORD: &str = "mul.wide.u32 %rd2, %r7, 4; add.s64 %rd3, %rd1, %rd2;";

#[test]
fn the_last_block_that_writes_a_word_wins() {
    let body = format!("mov.u32 %r7, 3; {WORD} st.global.u32 [%rd3], %r1;");
    let (_, bytes) = all_threads_agree(&body, [0; 4], 64);
    assert_eq!(bytes[12..16], (GRID - 1).to_le_bytes());
    // It writes what was there before the first one.
    let body = format!(
        "mov.u32 %r7, 0; {WORD} setp.eq.u32 %p1, %r1, {}; selp.b32 %r8, 0x03020100, 7, %p1; st.global.u32 [%rd3], %r8;",
        GRID - 1
    );
    let (_, bytes) = all_threads_agree(&body, [0; 4], 64);
    assert_eq!(bytes[..4], [0, 1, 2, 3]);
}

#[test]
fn blocks_see_what_blocks_before_them_wrote() {
    let body = format!(
        "add.u32 %r7, %r1, 0; {WORD} ld.global.u32 %r8, [%rd3]; add.u32 %r8, %r8, 1; st.global.u32 [%rd3+4], %r8;"
    );
    let (_, bytes) = all_threads_agree(&body, [0; 4], 4 * GRID as usize + 4);
    let last = u32::from_le_bytes(bytes[4 * GRID as usize..].try_into().expect("a word"));
    assert_eq!(last, 0x0302_0100 + GRID);
}

#[test]
fn blocks_that_write_bytes_of_one_word_are_apart() {
    let body = "cvt.u64.u32 %rd2, %r1; add.s64 %rd3, %rd1, %rd2; st.global.u8 [%rd3], %r1;";
    let (_, bytes) = all_threads_agree(body, [0; 4], 64);
    assert!(bytes[..GRID as usize].iter().zip(0..).all(|(byte, block)| *byte == block));
}

#[test]
fn faults_and_texts_are_in_the_order_of_blocks() {
    let body = format!(
        "mad.lo.u32 %r7, %r1, 11, %r2; {WORD} st.global.u32 [%rd3], %r1;
         {{ .local .align 8 .b8 buffer[8]; .param .b64 f; .param .b64 b; .param .b32 r;
            st.local.u32 [buffer], %r1; cvta.global.u64 %rd4, format; cvta.local.u64 %rd5, buffer;
            setp.eq.u32 %p1, %r2, 0;
            st.param.b64 [f], %rd4; st.param.b64 [b], %rd5;
            @%p1 call (r), vprintf, (f, b); }}"
    );
    let body = body
        .replace("cvta.global.u64 %rd4, format", "mov.u64 %rd4, format")
        .replace("cvta.local.u64 %rd5, buffer", "mov.u64 %rd5, buffer; cvta.local.u64 %rd5, %rd5");
    let (result, _) = all_threads_agree(&body, [0; 4], 400);
    let printed: String = (0..GRID).map(|block| format!("{block}\n")).collect();
    assert_eq!(String::from_utf8_lossy(&result.printed), printed);
    assert!(result.fault_count > 20, "{}", result.fault_count);
}

#[test]
fn races_are_reported_once() {
    let body =
        "{ .shared .align 4 .b8 tile[4]; st.shared.u32 [tile], %r2; ld.shared.u32 %r8, [tile]; }";
    let (result, _) = all_threads_agree(body, [0; 4], 4);
    assert!((1..=2).contains(&result.fault_count), "{:?}", result.faults);
}

#[test]
fn a_launch_ends_at_the_same_instruction() {
    let source = kernel("");
    let module = read(&source).expect("a module");
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let ends = [1, 3].map(|threads| {
        let mut memory = DeviceMemory::new();
        let mut launch = KernelLaunch::new([GRID, 1, 1], [BLOCK, 1, 1]).parameter(&[0; 8]);
        for _ in 0..4 {
            launch = launch.parameter(&[0; 4]);
        }
        (launch.options.threads, launch.options.batch, launch.options.steps) = (threads, 32, 301);
        kernel.run(&launch, &mut memory, None).map_err(|error| format!("{error:?}"))
    });
    assert!(ends[0].is_err());
    assert_eq!(ends[0], ends[1]);
}

/// The accesses of each instruction, in the order of the blocks.
#[derive(Default)]
struct Accesses {
    own: BTreeMap<u32, Vec<[u32; 3]>>,
    parts: Vec<Accesses>,
    /// Whether blocks of several threads were taken over at once.
    is_divided: bool,
}

impl MemoryObserver for Accesses {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        self.own.entry(access.site.0).or_default().push(access.block);
    }

    fn needs_values(&self) -> bool {
        false
    }

    fn divide(&mut self, count: usize) -> Option<Vec<Box<dyn MemoryObserver + Send + '_>>> {
        self.parts.resize_with(count, Self::default);
        Some(self.parts.iter_mut().map(|part| Box::new(Part(part)) as Box<_>).collect())
    }

    fn unite(&mut self, is_kept: bool) {
        self.is_divided |= is_kept && self.parts.len() > 1;
        for part in self.parts.drain(..).filter(|_| is_kept) {
            for (site, blocks) in part.own {
                self.own.entry(site).or_default().extend(blocks);
            }
        }
    }
}

struct Part<'a>(&'a mut Accesses);

impl MemoryObserver for Part<'_> {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        self.0.access(access);
    }

    fn needs_values(&self) -> bool {
        false
    }
}

/// The accesses of a launch with a number of threads, and whether it was divided. `first` are the bytes of a parameter
/// before the others, if there is one.
fn observed(first: Option<&[u8]>, threads: usize) -> (BTreeMap<u32, Vec<[u32; 3]>>, bool) {
    let mut source =
        kernel(&format!("mad.lo.u32 %r7, %r1, {BLOCK}, %r2; {WORD} st.global.u32 [%rd3], %r1;"));
    let mut launch = KernelLaunch::new([GRID, 1, 1], [BLOCK, 1, 1]);
    if let Some(first) = first {
        source = source.replace("k(", &format!("k(.param .b8 first[{}], ", first.len()));
        launch = launch.parameter(first);
    }
    let module = read(&source).expect("a module");
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let mut memory = DeviceMemory::new();
    let bytes = vec![0; 4 * (GRID * BLOCK) as usize];
    let x = memory.allocate(bytes, AllocationUse::Argument(0)).expect("room");
    launch = launch.parameter(&x.to_le_bytes());
    for _ in 0..4 {
        launch = launch.parameter(&[0; 4]);
    }
    (launch.options.threads, launch.options.batch) = (threads, 32);
    let mut accesses = Accesses::default();
    kernel.run(&launch, &mut memory, Some(&mut accesses)).expect("an end");
    (accesses.own, accesses.is_divided)
}

#[test]
fn an_observer_that_divides_itself_gets_all_accesses() {
    let (expected, is_divided) = observed(None, 1);
    assert!(!is_divided);
    assert_eq!(observed(None, 4), (expected.clone(), true));
    assert!(expected.values().all(|blocks| blocks.is_sorted()), "{expected:?}");
}

/// The other tests hold for one thread, too, so that this one shows that there are several.
#[test]
fn padding_between_parameters_leaves_blocks_on_several_threads() {
    assert_eq!(observed(Some(&[7]), 4), (observed(None, 1).0, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Blocks read and write words that depend on their number, some of them the same.
    #[test]
    fn the_order_of_blocks_never_shows(
        words in any::<[u32; 4]>(),
        size in 1..200_u32,
        width in prop::sample::select(vec!["u32", "u16", "u8"]),
        is_each: bool,
    ) {
        let own = if is_each { "mad.lo.u32 %r7, %r1, %r3, %r2" } else { "mad.lo.u32 %r7, %r1, %r3, %r4" };
        let body = format!(
            "mad.lo.u32 %r8, %r1, %r5, %r6; rem.u32 %r8, %r8, {size}; mul.wide.u32 %rd2, %r8, 4; add.s64 %rd3, %rd1, %rd2;
             ld.global.{width} %r9, [%rd3];
             {own}; rem.u32 %r7, %r7, {size}; {WORD}
             mad.lo.u32 %r9, %r9, 3, %r1; st.global.{width} [%rd3], %r9;"
        );
        let source = kernel(&body);
        let expected = launched(&source, words, 4 * size as usize, 1);
        prop_assert_eq!(launched(&source, words, 4 * size as usize, 4), expected);
    }
}
