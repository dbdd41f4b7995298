//! Cache operators.

use super::named::named_values;
use crate::impossible::OrImpossible;

named_values! {
    /// How the load uses the caches. It never changes the value (docs/ld.md section 4, 9).
    CacheOp, 2 bits, default Ca;
    Ca, "CA", "cache at all levels";
    Cg, "CG", "cache at global level, L2 and below";
    Ci, "CI", "inconsistent, for data that never change";
    Cv, "CV", "volatile, fetch again";
}

named_values! {
    /// How `LDL` uses the caches: like [`CacheOp`], except that the second one is for memory whose
    /// contents are not needed again (docs/load-family.md section 1).
    LocalCacheOp, 2 bits, default Ca;
    Ca, "CA", "cache at all levels";
    Lu, "LU", "last use, the line need not be written back";
    Ci, "CI", "inconsistent, for data that never change";
    Cv, "CV", "volatile, fetch again";
}
