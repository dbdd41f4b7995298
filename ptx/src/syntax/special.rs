//! Special registers, with their types and the first version and target that have them.

use crate::syntax::ScalarType;

/// A predefined, read-only register such as `%laneid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpecialRegister {
    /// The type of one element.
    pub(crate) scalar: ScalarType,
    /// Whether it is a vector. Then only elements such as `%tid.x` have a value.
    pub(crate) is_vector: bool,
    /// The first version that has it; `None` for 1.0.
    pub(crate) version: Option<(u8, u8)>,
    /// The lowest target that has it; `None` for all.
    pub(crate) sm: Option<u32>,
}

type Needs = Option<((u8, u8), u32)>;

/// Names separated by blanks, the type, whether it is a vector, and the first version and target; `sm_10` means any
/// target. [PTX ISA, "Special Registers"; the versions and targets from an assembler's verdicts]
const REGISTERS: [(&str, ScalarType, bool, Needs); 16] = {
    use ScalarType::{B32, B64, Pred};
    [
        ("%clock", B32, false, None),
        ("%ctaid %nctaid %ntid %tid", B32, true, None),
        ("%gridid", B64, false, None),
        ("%laneid %pm0 %pm1 %pm2 %pm3 %smid %warpid", B32, false, Some(((1, 3), 10))),
        (
            "%lanemask_eq %lanemask_ge %lanemask_gt %lanemask_le %lanemask_lt %nsmid %nwarpid",
            B32,
            false,
            Some(((2, 0), 20)),
        ),
        ("%clock64", B64, false, Some(((2, 0), 20))),
        ("%globaltimer_hi %globaltimer_lo", B32, false, Some(((3, 1), 30))),
        ("%globaltimer", B64, false, Some(((3, 1), 30))),
        ("%dynamic_smem_size %total_smem_size", B32, false, Some(((4, 1), 20))),
        ("%clock_hi", B32, false, Some(((5, 0), 20))),
        (
            "%reserved_smem_offset_0 %reserved_smem_offset_1 %reserved_smem_offset_begin \
             %reserved_smem_offset_cap %reserved_smem_offset_end",
            B32,
            false,
            Some(((7, 6), 80)),
        ),
        ("%cluster_ctarank %cluster_nctarank", B32, false, Some(((7, 8), 90))),
        ("%cluster_ctaid %cluster_nctaid %clusterid %nclusterid", B32, true, Some(((7, 8), 90))),
        ("%is_explicit_cluster", Pred, false, Some(((7, 8), 90))),
        ("%current_graph_exec", B64, false, Some(((8, 0), 50))),
        ("%aggr_smem_size", B32, false, Some(((8, 1), 90))),
    ]
};

/// Numbered registers: prefix, suffix and count, such as `%envreg0` to `%envreg31`.
const NUMBERED: [(&str, &str, u32, ScalarType, Needs); 3] = [
    ("%envreg", "", 32, ScalarType::B32, None),
    ("%pm", "", 8, ScalarType::B32, Some(((3, 0), 20))),
    ("%pm", "_64", 8, ScalarType::B64, Some(((4, 0), 50))),
];

/// The special register with a name, if there is one.
pub(crate) fn special_register(name: &str) -> Option<SpecialRegister> {
    let mut rows = REGISTERS.into_iter();
    let one = rows.find(|(names, ..)| names.split(' ').any(|known| known == name));
    let known = one.map(|(_, scalar, is_vector, needs)| (scalar, is_vector, needs));
    let (scalar, is_vector, needs) = known.or_else(|| numbered(name))?;
    Some(SpecialRegister {
        scalar,
        is_vector,
        version: needs.map(|needs| needs.0),
        sm: needs.map(|needs| needs.1),
    })
}

fn numbered(name: &str) -> Option<(ScalarType, bool, Needs)> {
    NUMBERED.iter().find_map(|(prefix, suffix, count, scalar, needs)| {
        let number = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
        let is_number = number == "0" || !number.starts_with('0');
        let is_one = is_number && number.parse().is_ok_and(|number: u32| number < *count);
        is_one.then_some((*scalar, false, *needs))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_registers_are_found_by_name() {
        let needs = |name| special_register(name).map(|found| (found.version, found.sm));
        assert_eq!(needs("%clock"), Some((None, None)));
        assert_eq!(needs("%pm3"), Some((Some((1, 3)), Some(10))));
        assert_eq!(needs("%pm4"), Some((Some((3, 0)), Some(20))));
        assert_eq!(needs("%pm7_64"), Some((Some((4, 0)), Some(50))));
        assert_eq!(needs("%envreg31"), Some((None, None)));
        for name in ["%pm8", "%envreg32", "%envreg01", "%envreg", "%pm8_64", "laneid", "%x", ""] {
            assert_eq!(special_register(name), None, "{name}");
        }
    }
}
