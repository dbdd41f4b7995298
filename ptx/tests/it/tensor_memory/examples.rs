//! The three examples in the description of the instruction.

use warpload_ptx::tensor::WrittenTensorLoad;
use warpload_ptx::tensor::{
    Issue, Pattern, ReductionOperation, ReductionType, Rules, Shape, TensorAddress, TensorMemory,
    TensorRegisters, execute,
};
use warpload_ptx::{check, read, read_load};

/// Reads a single load, after checking that it is legal in a module.
fn written(text: &str) -> WrittenTensorLoad {
    let module = format!(
        ".version 8.8\n.target sm_103a\n.address_size 64
        .entry k() {{ .reg .b32 r<8>, taddr<4>, redVal; {text} }}"
    );
    let module = read(&module).unwrap();
    let verdicts: Vec<_> = check(&module).collect();
    assert!(verdicts.len() == 1 && verdicts[0].is_legal(), "{verdicts:?}");
    read_load(text).unwrap().tensor_load(text).unwrap()
}

/// Executes the load in warp 1, from lane 32 and column 8 on. The cells of the memory hold their addresses.
fn run(text: &WrittenTensorLoad) -> TensorRegisters {
    let memory = TensorMemory::filled(Pattern::LaneColumn);
    let issue = Issue::new(1, TensorAddress::new(32, 8).plus(text.address_offset));
    let mut registers = TensorRegisters::new();
    execute(&text.load, issue, &memory, &Rules::default(), &mut registers).unwrap();
    registers
}

const fn cell(lane: u32, column: u32) -> u32 {
    lane << 16 | column
}

#[test]
fn two_registers_of_each_lane() {
    let text = "tcgen05.ld.sync.aligned.32x32b.x2.b32     {r0, r1}, [taddr1];";
    let read = written(text);
    assert_eq!(read.load.shape(), Shape::S32x32b);
    let names: Vec<&str> = read.registers.iter().map(|name| name.text(text)).collect();
    assert_eq!((names, read.address.text(text)), (vec!["r0", "r1"], "taddr1"));
    let registers = run(&read);
    for thread in 0..32 {
        let lane = 32 + thread as u32;
        assert_eq!(registers.data()[0][thread], cell(lane, 8));
        assert_eq!(registers.data()[1][thread], cell(lane, 9));
    }
    assert_eq!((registers.data().len(), registers.reduced()), (2, None));
}

#[test]
fn eight_registers_of_sixteen_lanes() {
    let text =
        "tcgen05.ld.sync.aligned.16x128b.x4.b32    {r0, r1, r2, r3, r4, r5, r6, r7}, [taddr2];";
    let read = written(text);
    assert_eq!((read.load.registers(), read.load.columns()), (8, 16));
    let registers = run(&read);
    // Thread 6 has row 1 and column 2 of each repeat. Odd registers are eight rows further down.
    let own: Vec<u32> = registers.data().iter().map(|row| row[6]).collect();
    let expected = [10, 14, 18, 22].map(|column| [cell(33, column), cell(41, column)]);
    assert_eq!(own, expected.concat());
}

#[test]
fn a_maximum_of_two_halves() {
    let text = "tcgen05.ld.red.sync.aligned.16x32bx2.x8.u32.max {r0, r1, r2, r3, r4, r5, r6, r7},
                                                 redVal, [taddr3], 16;";
    let read = written(text);
    let reduction = read.load.reduction().unwrap();
    assert_eq!(
        (reduction.operation, reduction.kind),
        (ReductionOperation::Max, ReductionType::U32)
    );
    assert_eq!(read.reduced.map(|name| name.text(text)), Some("redVal"));
    assert_eq!(read.load.split(), Some(16));
    let registers = run(&read);
    assert_eq!(registers.data()[0][15], cell(47, 8));
    assert_eq!(registers.data()[0][16], cell(32, 24), "the second half begins 16 columns on");
    let maxima = registers.reduced().unwrap();
    assert_eq!((maxima[3], maxima[19]), (cell(35, 15), cell(35, 31)), "each half's own columns");
}
