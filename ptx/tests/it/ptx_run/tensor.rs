//! Loads of tensor memory in a function.

use warpload::lane::LaneMask;
use warpload::machine::Machine;
use warpload_ptx::run::{RunErrorKind, WarpTensorMemory};
use warpload_ptx::tensor::{LaneMode, Pattern, Rules, TensorAddress, TensorFault, TensorMemory};

use crate::ptx_run::fixture::{Case, Ran, Refusal};

/// Executes a body on a memory whose cells hold their addresses.
fn run(
    body: &str,
    sets: &[(&str, &str)],
    active: LaneMask,
    tensor: Option<(u32, LaneMode)>,
) -> Ran {
    let tensor = tensor.map(|(warp, lane_mode)| {
        let memory = TensorMemory::filled(Pattern::LaneColumn);
        WarpTensorMemory::new(memory, warp).rules(Rules::default().lane_mode(lane_mode))
    });
    let case = Case::with(".shared .b32 slot;", "", body).active(active.bits()).tensor(tensor);
    let set = |case: Case, (name, value): &(&str, &str)| case.set(name, value);
    sets.iter().fold(case, set).on(Machine::default())
}

const WARP_1: Option<(u32, LaneMode)> = Some((1, LaneMode::Strict));

/// The only load's error.
fn error(ran: &Ran) -> &RunErrorKind {
    let [Err(error)] = ran.loads.as_slice() else { panic!("{:?}", ran.loads) };
    error.kind()
}

const LOAD: &str = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %f1}, [taddr];";
const REDUCE: &str =
    "tcgen05.ld.red.sync.aligned.16x32bx2.x2.u32.max {%r0, %r1}, redVal, [taddr+4], 16;";

const fn cell(lane: u128, column: u128) -> Option<u128> {
    Some(lane << 16 | column)
}

#[test]
fn registers_get_the_cells() {
    let ran = run(LOAD, &[("taddr", "0x200008")], LaneMask::ALL, WARP_1);
    assert_eq!((ran.lane("%r0", 0), ran.lane("%r0", 31)), (cell(32, 8), cell(63, 8)));
    assert_eq!(ran.lane("%f1", 31), cell(63, 9), "floats are bits");
    let executed = ran.loads[0].as_ref().unwrap();
    let tensor = executed.tensor.unwrap();
    assert_eq!((executed.executing, executed.written.len()), (LaneMask::ALL, 2));
    assert_eq!((tensor.issue.warp, tensor.issue.address), (1, TensorAddress::new(32, 8)));
    assert_eq!((tensor.fault, executed.addresses[7]), (None, 0x20_0008));
}

#[test]
fn reductions_write_their_result() {
    let ran = run(REDUCE, &[("taddr", "0x200008")], LaneMask::ALL, WARP_1);
    assert_eq!((ran.lane("%r1", 0), ran.lane("%r1", 17)), (cell(32, 13), cell(33, 29)));
    assert_eq!((ran.lane("redVal", 0), ran.lane("redVal", 17)), (cell(32, 13), cell(33, 29)));
    assert_eq!(ran.loads[0].as_ref().unwrap().written.len(), 3);
}

/// The address may have been loaded: that of an allocation that began at 0.
#[test]
fn addresses_can_be_loaded_themselves() {
    let body = format!("ld.shared.b32 taddr, [slot]; {LOAD}");
    let ran = run(&body, &[], LaneMask::ALL, Some((3, LaneMode::Wrap)));
    assert_eq!(ran.lane("%r0", 1), cell(97, 0));
}

#[test]
fn a_fault_changes_nothing() {
    let sets = [("taddr", "8"), ("%r0", "lane")];
    let ran = run(LOAD, &sets, LaneMask::ALL, WARP_1);
    let executed = ran.loads[0].as_ref().unwrap();
    let fault = executed.tensor.unwrap().fault;
    assert!(matches!(fault, Some(TensorFault::LaneSlab { slab: 32, .. })), "{fault:?}");
    assert!(executed.written.is_empty());
    assert_eq!((ran.lane("%r0", 5), ran.lane("%f1", 5)), (Some(5), None));
}

#[test]
fn all_lanes_give_one_address() {
    let ran = run(LOAD, &[("taddr", "lane/7*4")], LaneMask::ALL, WARP_1);
    let expected =
        RunErrorKind::AddressesDiffer { register: "taddr".to_owned(), first: 0, lane: 7, other: 4 };
    assert_eq!(error(&ran), &expected);
    let ran = run(LOAD, &[], LaneMask::ALL, WARP_1);
    assert!(matches!(error(&ran), RunErrorKind::NoValue { .. }));
}

#[test]
fn all_lanes_take_part() {
    let sets = [("taddr", "0x200000"), ("%p1", "lane<30")];
    let guarded = format!("@%p1 {LOAD}");
    let missing = LaneMask::from_bits(0xc000_0000);
    let ran = run(&guarded, &sets, LaneMask::ALL, WARP_1);
    assert_eq!(error(&ran), &RunErrorKind::NotAllLanes { missing });
    let ran = run(LOAD, &sets, LaneMask::from_bits(0x3fff_ffff), WARP_1);
    assert_eq!(error(&ran), &RunErrorKind::NotAllLanes { missing });
    // A guard that is false in all lanes: nothing happens, whatever the address is.
    let ran = run(&guarded, &[("%p1", "lane<0")], LaneMask::ALL, None);
    let executed = ran.loads[0].as_ref().unwrap();
    assert_eq!((executed.executing, executed.tensor), (LaneMask::NONE, None));
    let ran = run(&guarded, &[("%p1", "lane<99"), sets[0]], LaneMask::ALL, WARP_1);
    assert_eq!(ran.lane("%r0", 31), cell(63, 0));
}

#[test]
fn errors_are_typed() {
    let body = format!("{REDUCE} ld.shared.b32 %r5, [redVal];");
    let wrong = [("taddr", "0"), ("%r1", "1")];
    let ran = run(&body, &wrong, LaneMask::ALL, None);
    let kinds: Vec<&RunErrorKind> = ran.errors().iter().map(|error| error.kind()).collect();
    assert!(matches!(kinds[..], [RunErrorKind::NoTensorMemory, RunErrorKind::NoValue { .. }]));
    for illegal in [
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0}, [taddr];",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r77}, [taddr];",
    ] {
        let ran = run(illegal, &wrong, LaneMask::ALL, WARP_1);
        assert!(matches!(ran.errors()[..], [Refusal::Illegal(_)]), "{illegal}");
    }
}

#[test]
fn the_result_of_a_failed_reduction_is_unknown() {
    let load = "tcgen05.ld.red.sync.aligned.32x32b.x2.u32.max {%r0, %r1}, redVal, [taddr];";
    let ran = run(
        &format!("{load} @%p1 {load}"),
        &[("taddr", "0"), ("%p1", "lane<4")],
        LaneMask::ALL,
        Some((0, LaneMode::Strict)),
    );
    assert!(ran.loads[0].is_ok());
    assert!(matches!(ran.errors()[0].kind(), RunErrorKind::NotAllLanes { .. }));
    let lane = |name, lane| ran.held(name).and_then(|held| held.lane(lane));
    assert_eq!((lane("redVal", 3), lane("%r1", 3)), (None, None));
    assert_eq!(lane("redVal", 4), cell(4, 1));
}
