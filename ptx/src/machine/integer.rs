//! Integer operations on one lane without an equivalent in Rust.

/// `bfe`: extracts `length` bits from `position` on, and extends them.
#[inline(always)]
pub(super) fn extract(a: u64, position: u32, length: u32, bits: u32, is_signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let last = bits - 1;
    let sign_at = (position + length).wrapping_sub(1).min(last);
    let is_negative = is_signed && length != 0 && a >> sign_at & 1 != 0;
    let fill = if is_negative { u64::MAX } else { 0 };
    let taken = if position > last { 0 } else { length.min(last + 1 - position) };
    let low = if taken == 0 { 0 } else { u64::MAX >> (64 - taken) };
    let field = if taken == 0 { 0 } else { a >> position & low };
    let value = field | fill & !low;
    if bits == 64 { value } else { value & u64::from(u32::MAX) }
}

/// `bfi`: inserts the low `length` bits of `a` into `b`, from `position` on.
#[inline(always)]
pub(super) fn insert(a: u64, b: u64, position: u32, length: u32, bits: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let taken = if position >= bits { 0 } else { length.min(bits - position) };
    if taken == 0 {
        return b;
    }
    let mask = (u64::MAX >> (64 - taken)) << position;
    (b & !mask) | (a << position & mask)
}

/// `bfind`: the position of the highest bit that differs from the sign; all ones if there is none.
#[inline(always)]
pub(super) fn highest(a: u64, bits: u32, is_signed: bool, is_shift: bool) -> u32 {
    let extended = if is_signed && bits == 32 { a as u32 as i32 as i64 as u64 } else { a };
    let bare = if is_signed && (extended as i64) < 0 { !extended } else { extended };
    match 63_u32.checked_sub(bare.leading_zeros()) {
        None => u32::MAX,
        Some(place) if is_shift => bits - 1 - place,
        Some(place) => place,
    }
}

/// `fns`: the position of the bit that is `offset` set bits away from `base`.
pub(super) fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |place: u32| mask >> place & 1 != 0;
    let base = base & 31;
    if offset == 0 {
        return if is_set(base) { base } else { u32::MAX };
    }
    let mut left = offset.unsigned_abs();
    let mut up = base..32;
    let mut down = (0..=base).rev();
    let next: &mut dyn Iterator<Item = u32> = if offset > 0 { &mut up } else { &mut down };
    for place in next {
        left -= u32::from(is_set(place));
        if left == 0 {
            return place;
        }
    }
    u32::MAX
}

/// The quotient of two integers of 32 bits, computed in f64, because processors divide vectors of floats, but not of
/// integers. It is exact: the distance of any other quotient from the next integer is larger than the error of an f64.
#[inline(always)]
pub(super) fn quotient(a: f64, b: f64) -> u32 {
    /// A sum with this has an integer in its low half.
    const INTEGERS: f64 = (3_u64 << 51) as f64;
    let bits = ((a / b).trunc() + INTEGERS).to_bits() as u32;
    if b == 0.0 { u32::MAX } else { bits }
}

/// `prmt`: selects four bytes from eight.
#[inline(always)]
pub(super) fn permute(a: u32, b: u32, selectors: u32) -> u32 {
    let mut result = 0;
    for place in 0..4 {
        let selector = selectors >> (4 * place);
        let word = if selector & 4 != 0 { b } else { a };
        let high = word >> (8 * (selector & 3)) << 24;
        let high = if selector & 8 != 0 { (high as i32 >> 31) as u32 } else { high };
        result |= high >> 24 << (8 * place);
    }
    result
}

/// The meaning of the selectors of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PermuteMode {
    /// A selector for each byte. Its highest bit replicates the sign.
    Each,
    /// Four bytes from the selected one on, upwards or downwards.
    Forward,
    Backward,
    /// The selected byte or half in all places.
    Byte,
    Half,
    /// The bytes below or above the selected one become copies of it.
    ClampLeft,
    ClampRight,
}

/// Translates the modes that use only two bits of the selector to selectors for each byte.
pub(super) fn permute_selectors(mode: PermuteMode, selector: u32) -> u32 {
    let table: [u32; 4] = match mode {
        PermuteMode::Each => return selector,
        PermuteMode::Forward => [0x3210, 0x4321, 0x5432, 0x6543],
        PermuteMode::Backward => [0x5670, 0x6701, 0x7012, 0x0123],
        PermuteMode::Byte => [0x0000, 0x1111, 0x2222, 0x3333],
        PermuteMode::Half => [0x1010, 0x3232, 0x1010, 0x3232],
        PermuteMode::ClampLeft => [0x3210, 0x3211, 0x3222, 0x3333],
        PermuteMode::ClampRight => [0x0000, 0x1110, 0x2210, 0x3210],
    };
    table[(selector & 3) as usize]
}

/// `lop3`: looks up three bits in a table, for each bit position.
#[inline(always)]
pub(super) fn logic3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut result = 0;
    for term in 0..8 {
        let chosen = (if term & 4 != 0 { a } else { !a })
            & (if term & 2 != 0 { b } else { !b })
            & (if term & 1 != 0 { c } else { !c });
        result |= if table >> term & 1 != 0 { chosen } else { 0 };
    }
    result
}

/// `dp4a` and `dp2a`: multiplies `count` parts of `a` with bytes of `b` from `first` on, and adds the products to `c`.
#[inline(always)]
pub(super) fn dot(
    (a, a_signed): (u32, bool),
    (b, b_signed): (u32, bool),
    c: u32,
    count: u32,
    first: u32,
) -> u32 {
    let width = 32 / count;
    let part = |value: u32, place: u32, width: u32, is_signed: bool| {
        let high = value << (32 - width * (place + 1));
        if is_signed {
            i64::from(high as i32 >> (32 - width))
        } else {
            i64::from(high >> (32 - width))
        }
    };
    let products =
        (0..count).map(|i| part(a, i, width, a_signed) * part(b, first + i, 8, b_signed));
    (products.sum::<i64>() as u32).wrapping_add(c)
}
