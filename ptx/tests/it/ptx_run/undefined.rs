//! Generic loads whose qualifiers are not for the memory that lanes read.

use warpload::lane::LaneMask;

use crate::ptx_run::fixture::{Case, machine};

/// Lanes 0 to 7 read global memory, 8 to 15 shared, 16 to 23 local; the others nothing.
fn addresses() -> String {
    let map = warpload::memory::AddressMap::default();
    let (shared, local) = (map.shared().base, map.local().base);
    format!("lane<8?0x10000000:lane<16?{shared}:{local}")
}

const SHARED: u32 = 0xff00;
const LOCAL: u32 = 0xff_0000;

/// The qualifiers of a load and the lanes that they are not for.
fn undefined(load: &str) -> Vec<(String, LaneMask)> {
    let body = format!("{load}\n");
    let case = Case::new(&body).set("%rd1", &addresses()).set("%rd2", "0").active(0xff_ffff);
    let source = case.source();
    let ran = case.on(machine());
    let [Ok(executed)] = ran.loads.as_slice() else { panic!("{:?}", ran.loads) };
    let named = executed.undefined.iter();
    named.map(|one| (one.qualifier.text(&source).to_owned(), one.lanes)).collect()
}

fn of(qualifier: &str, lanes: u32) -> Vec<(String, LaneMask)> {
    vec![(qualifier.to_owned(), LaneMask::from_bits(lanes))]
}

#[test]
fn two_hundred_and_fifty_six_bits_are_for_global_memory() {
    let eight = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
    assert_eq!(undefined(&format!("ld.v8.b32 {eight}, [%rd1];")), of(".v8", SHARED | LOCAL));
    let four = "{%rd3, %rd4, %rd5, %rd6}";
    assert_eq!(undefined(&format!("ld.v4.u64 {four}, [%rd1];")), of(".v4", SHARED | LOCAL));
    assert_eq!(undefined("ld.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];"), []);
    assert_eq!(undefined("ld.v2.u64 {%rd3, %rd4}, [%rd1];"), []);
}

#[test]
fn mmio_and_policies_are_for_global_memory() {
    let mmio = undefined("ld.mmio.relaxed.sys.u32 %r1, [%rd1];");
    assert_eq!(mmio, [of(".mmio", SHARED | LOCAL), of(".relaxed", LOCAL)].concat());
    let hint = undefined("ld.L2::cache_hint.u32 %r1, [%rd1], %rd2;");
    assert_eq!(hint, of(".L2::cache_hint", SHARED | LOCAL));
    assert_eq!(undefined("ld.u32 %r1, [%rd1].unified;"), of(".unified", SHARED | LOCAL));
}

#[test]
fn order_between_threads_is_not_for_local_memory() {
    assert_eq!(undefined("ld.relaxed.gpu.u32 %r1, [%rd1];"), of(".relaxed", LOCAL));
    assert_eq!(undefined("ld.acquire.cta.u32 %r1, [%rd1];"), of(".acquire", LOCAL));
    // The fixture's version is 9.1, from which on this one may read local memory.
    assert_eq!(undefined("ld.volatile.u32 %r1, [%rd1];"), []);
}

#[test]
fn hints_and_plain_loads_are_for_all_memories() {
    for load in ["ld.u32", "ld.weak.u32", "ld.L1::evict_last.u32", "ld.L2::128B.u32", "ld.cg.u32"] {
        assert_eq!(undefined(&format!("{load} %r1, [%rd1];")), [], "{load}");
    }
}
