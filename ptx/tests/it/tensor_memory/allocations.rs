//! Executing a load does not allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use warpload_ptx::tensor::{
    Form, Issue, Pattern, Reduction, ReductionOperation, ReductionType, Rules, Shape,
    TensorAddress, TensorLoad, TensorMemory, TensorRegisters, execute,
};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn note() {
    // While a thread ends, its counter is gone. No test runs then.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

struct Counting;

// SAFETY: all calls are passed to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_load_allocates_nothing() {
    let memory = TensorMemory::filled(Pattern::F32Random);
    let mut registers = TensorRegisters::new();
    for shape in Shape::ALL {
        let num = (128 / shape.registers_per_repeat()) as u32;
        let split = (shape == Shape::S16x32bx2).then_some(0);
        let plain = Form { split, ..Form::plain(shape, num) };
        let max = Some(Reduction::new(ReductionOperation::Max, ReductionType::F32));
        for form in [plain, Form { pack: true, ..plain }, Form { reduction: max, ..plain }] {
            let Ok(load) = TensorLoad::new(form) else { continue };
            // Warp 0 may read here; warp 1 faults.
            for warp in [0, 1] {
                let issue = Issue::new(warp, TensorAddress(0));
                let before = ALLOCATIONS.get();
                let done = execute(&load, issue, &memory, &Rules::default(), &mut registers);
                assert_eq!(ALLOCATIONS.get(), before, "{load}");
                assert_eq!(done.is_ok(), warp == 0, "{load}");
            }
        }
    }
}
