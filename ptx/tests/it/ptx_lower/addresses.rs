//! The formation of addresses: one short kernel for each rule, at levels 0, 1 and 3.

use crate::ptx_lower::corpus::{level, lowered, rows, sorted_forms};

#[test]
fn addresses_are_formed_as_ptxas_forms_them() {
    let rows = rows(include_bytes!("../../ptx_lower/addresses.jsonl.xz"));
    assert_eq!(rows.len(), 360);
    for row in rows {
        let got = sorted_forms(&lowered(&row.module, level(&row).unwrap()));
        assert_eq!(got, sorted_forms(&row.loads), "{} {:?}", row.id, row.flags);
    }
}
