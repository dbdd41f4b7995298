//! Operands: variables by name, special registers, constants of every type, addresses, and registers that are not
//! known.

use warpload_ptx::machine::{DeviceMemory, Kernel, KernelError, KernelLaunch};
use warpload_ptx::read;

/// A kernel that adds a constant table to a global counter, and writes the third word of the table.
const VARIABLES: &str = ".version 8.0\n.target sm_80\n.address_size 64
.const .align 4 .u32 table[4] = {1, 2, 3, 4};
.global .f32 scale = 0f3F800000;
.global .u32 count;
.shared .u32 each;
.extern .global .u32 elsewhere;
.visible .entry k() {
    .reg .b32 %r<5>; .reg .f32 %f<3>;
    ld.const.u32 %r1, [table+8]; ld.global.u32 %r2, [count]; add.u32 %r2, %r2, %r1; st.global.u32 [count], %r2;
    ld.global.f32 %f1, [scale]; add.f32 %f1, %f1, %f1; st.global.f32 [scale], %f1;
    ret;
}";

#[test]
fn variables_are_set_before_a_launch_and_read_after_it() {
    let module = read(VARIABLES).expect("a module");
    let kernel = Kernel::named(&module, "k").unwrap();
    let id = |name: &str| kernel.variable(name).unwrap();
    let table = kernel.variable_value(id("table"), "5,6,7").unwrap();
    let scale = kernel.variable_value(id("scale"), "2.5").unwrap();
    let launch = KernelLaunch::new([1; 3], [1; 3])
        // Shorter than the variable: the last word keeps its initial value.
        .variable(id("table"), &table[..12])
        .variable(id("scale"), &scale)
        .variable(id("count"), &100_u32.to_le_bytes());
    let mut memory = DeviceMemory::new();
    assert_eq!(memory.variable("count"), None);
    let result = kernel.run(&launch, &mut memory, None).unwrap();
    assert!(result.faults.is_empty(), "{}", result.faults[0]);
    let bytes = |memory: &DeviceMemory, name: &str| {
        let base = memory.variable(name).unwrap_or_else(|| panic!("{name}"));
        memory.bytes(base).expect("an allocation").to_vec()
    };
    assert_eq!(bytes(&memory, "count"), 107_u32.to_le_bytes());
    assert_eq!(bytes(&memory, "scale"), 5.0_f32.to_le_bytes());
    let expected: Vec<u8> = [5_u32, 6, 7, 4].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(bytes(&memory, "table"), expected);
    // Variables of a block, of another module, and unknown ones are not among them.
    for name in ["each", "elsewhere", "nothing"] {
        assert_eq!(memory.variable(name), None);
        let error = kernel.variable(name).unwrap_err();
        let message = format!("no variable `{name}`; the module has table, scale, count");
        assert_eq!(error.to_string(), message);
    }
    // A second launch in the same memory begins with the initial values again.
    kernel.run(&KernelLaunch::new([1; 3], [1; 3]), &mut memory, None).unwrap();
    assert_eq!(bytes(&memory, "count"), 3_u32.to_le_bytes());
}

#[test]
fn values_that_are_longer_than_their_variable_are_refused() {
    let module = read(VARIABLES).expect("a module");
    let kernel = Kernel::named(&module, "k").unwrap();
    let launch = KernelLaunch::new([1; 3], [1; 3]);
    let launch = launch.variable(kernel.variable("count").unwrap(), &[0; 5]);
    let error = kernel.run(&launch, &mut DeviceMemory::new(), None).unwrap_err();
    let name = "count".to_owned();
    assert_eq!(error, KernelError::VariableSize { name, expected: 4, given: 5 });
    assert_eq!(error.to_string(), "`count` has 4 bytes, 5 are given");
}
