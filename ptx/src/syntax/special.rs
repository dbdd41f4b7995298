//! Special registers, with their types, the first version and target that have them, and their values.

use crate::syntax::ScalarType;
use warpload_machine::code::{RESERVED_SHARED, Special};

/// A predefined, read-only register such as `%laneid`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpecialRegister {
    /// Names separated by blanks.
    names: &'static str,
    /// The type of one element.
    pub(crate) scalar: ScalarType,
    /// Whether it is a vector. Then only elements such as `%tid.x` have a value.
    pub(crate) is_vector: bool,
    /// The first version and the lowest target that have it; `sm_10` means any target, `None` all versions.
    pub(crate) needs: Needs,
    pub(crate) value: Value,
}

type Needs = Option<((u8, u8), u32)>;

/// The value of a special register in a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// A row of the machine.
    Row(Special),
    /// The row of each axis.
    Axes(fn(usize) -> Special),
    /// The clock, shifted right by a number of bits.
    Clock(u32),
    /// The same value in every launch.
    Constant(u64),
    /// A value that the driver or the hardware chooses.
    Unknown,
    /// The place in a cluster. Launches with clusters are refused.
    Cluster,
}

const WIDE_COUNTERS: &str = "%pm0_64 %pm1_64 %pm2_64 %pm3_64 %pm4_64 %pm5_64 %pm6_64 %pm7_64";

const ENVIRONMENT: &str = "%envreg0 %envreg1 %envreg2 %envreg3 %envreg4 %envreg5 %envreg6 \
    %envreg7 %envreg8 %envreg9 %envreg10 %envreg11 %envreg12 %envreg13 %envreg14 %envreg15 \
    %envreg16 %envreg17 %envreg18 %envreg19 %envreg20 %envreg21 %envreg22 %envreg23 %envreg24 \
    %envreg25 %envreg26 %envreg27 %envreg28 %envreg29 %envreg30 %envreg31";

/// [PTX ISA, "Special Registers"; the versions and targets from an assembler's verdicts]
static REGISTERS: [SpecialRegister; 38] = {
    use ScalarType::{B32, B64, Pred};
    use Value::{Axes, Clock, Cluster, Constant, Row, Unknown};
    [
        row("%tid", B32, true, None, Axes(Special::Thread)),
        row("%ntid", B32, true, None, Axes(Special::Threads)),
        row("%ctaid", B32, true, None, Axes(Special::Block)),
        row("%nctaid", B32, true, None, Axes(Special::Blocks)),
        row("%gridid", B64, false, None, Constant(0)),
        row("%clock", B32, false, None, Clock(0)),
        row("%clock_hi", B32, false, Some(((5, 0), 20)), Clock(32)),
        row("%clock64", B64, false, Some(((2, 0), 20)), Clock(0)),
        row("%globaltimer_lo", B32, false, Some(((3, 1), 30)), Clock(0)),
        row("%globaltimer_hi", B32, false, Some(((3, 1), 30)), Clock(32)),
        row("%globaltimer", B64, false, Some(((3, 1), 30)), Clock(0)),
        row("%laneid", B32, false, Some(((1, 3), 10)), Row(Special::Lane)),
        row("%warpid", B32, false, Some(((1, 3), 10)), Row(Special::Warp)),
        row("%nwarpid", B32, false, Some(((2, 0), 20)), Row(Special::Warps)),
        row("%smid", B32, false, Some(((1, 3), 10)), Constant(0)),
        row("%nsmid", B32, false, Some(((2, 0), 20)), Constant(1)),
        row("%lanemask_lt", B32, false, Some(((2, 0), 20)), mask(true, false, false)),
        row("%lanemask_le", B32, false, Some(((2, 0), 20)), mask(true, true, false)),
        row("%lanemask_eq", B32, false, Some(((2, 0), 20)), mask(false, true, false)),
        row("%lanemask_ge", B32, false, Some(((2, 0), 20)), mask(false, true, true)),
        row("%lanemask_gt", B32, false, Some(((2, 0), 20)), mask(false, false, true)),
        row("%dynamic_smem_size", B32, false, Some(((4, 1), 20)), Row(Special::DynamicShared)),
        row("%total_smem_size", B32, false, Some(((4, 1), 20)), Row(Special::TotalShared)),
        row("%aggr_smem_size", B32, false, Some(((8, 1), 90)), Row(Special::AllShared)),
        // ptxas makes the first three constants. The last two are the driver's.
        row("%reserved_smem_offset_begin", B32, false, Some(((7, 6), 80)), Constant(0)),
        row("%reserved_smem_offset_0", B32, false, Some(((7, 6), 80)), Constant(0)),
        row("%reserved_smem_offset_cap", B32, false, Some(((7, 6), 80)), Constant(RESERVED_SHARED)),
        row("%reserved_smem_offset_1", B32, false, Some(((7, 6), 80)), Unknown),
        row("%reserved_smem_offset_end", B32, false, Some(((7, 6), 80)), Unknown),
        row("%cluster_ctarank %cluster_nctarank", B32, false, Some(((7, 8), 90)), Cluster),
        row("%cluster_ctaid %cluster_nctaid", B32, true, Some(((7, 8), 90)), Cluster),
        row("%clusterid %nclusterid", B32, true, Some(((7, 8), 90)), Cluster),
        // The launch is refused if it has clusters, or asks for the place in one; and none is part of a graph.
        row("%is_explicit_cluster", Pred, false, Some(((7, 8), 90)), Constant(0)),
        row("%current_graph_exec", B64, false, Some(((8, 0), 50)), Constant(0)),
        row("%pm0 %pm1 %pm2 %pm3", B32, false, Some(((1, 3), 10)), Unknown),
        row("%pm4 %pm5 %pm6 %pm7", B32, false, Some(((3, 0), 20)), Unknown),
        row(WIDE_COUNTERS, B64, false, Some(((4, 0), 50)), Unknown),
        row(ENVIRONMENT, B32, false, None, Unknown),
    ]
};

const fn row(
    names: &'static str,
    scalar: ScalarType,
    is_vector: bool,
    needs: Needs,
    value: Value,
) -> SpecialRegister {
    SpecialRegister { names, scalar, is_vector, needs, value }
}

const fn mask(below: bool, here: bool, above: bool) -> Value {
    Value::Row(Special::LaneMask { below, here, above })
}

/// The special register with a name, if there is one.
pub(crate) fn special_register(name: &str) -> Option<&'static SpecialRegister> {
    REGISTERS.iter().find(|known| known.names.split(' ').any(|known| known == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_registers_are_found_by_name() {
        let needs = |name| special_register(name).map(|found| found.needs);
        assert_eq!(needs("%clock"), Some(None));
        assert_eq!(needs("%pm3"), Some(Some(((1, 3), 10))));
        assert_eq!(needs("%pm4"), Some(Some(((3, 0), 20))));
        assert_eq!(needs("%pm7_64"), Some(Some(((4, 0), 50))));
        assert_eq!(needs("%envreg31"), Some(None));
        for name in ["%pm8", "%envreg32", "%envreg01", "%envreg", "%pm8_64", "laneid", "%x", ""] {
            assert!(special_register(name).is_none(), "{name}");
        }
    }
}
