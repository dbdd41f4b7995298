//! [`RecordAddresses`]: the addresses of one memory instruction, in the forms that traces use.

/// The addresses of the active lanes, in one of the forms that traces use. The i-th value
/// belongs to the i-th active lane, lanes ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordAddresses<'a> {
    /// The i-th active lane has `base + i * stride`, modulo 2^64. Stride 0: one address.
    Stride {
        /// The first active lane's address.
        base: u64,
        /// The distance between neighbours, in bytes.
        stride: i64,
    },
    /// Each active lane but the first has its predecessor's address plus a delta, modulo 2^64.
    Deltas {
        /// The first active lane's address.
        base: u64,
        /// One delta for each active lane but the first, in bytes.
        deltas: &'a [i32],
    },
    /// Every active lane's address.
    List(&'a [u64]),
    /// It is unknown which address belongs to which lane.
    Unknown,
    /// What the source says of an instruction that moves blocks, not lanes.
    Transfer {
        /// How many addresses it has.
        count: u64,
        /// The bytes that it moves.
        bytes: u64,
    },
}

impl RecordAddresses<'_> {
    /// Returns the addresses of `active` lanes in order; none if the lanes have none.
    pub fn each(&self, active: u32) -> impl Iterator<Item = u64> {
        let form = *self;
        let mut address = match form {
            Self::Stride { base, .. } | Self::Deltas { base, .. } => base,
            Self::List(_) | Self::Unknown | Self::Transfer { .. } => 0,
        };
        (0..active as usize).map_while(move |i| {
            let step = match form {
                Self::List(list) => return list.get(i).copied(),
                Self::Unknown | Self::Transfer { .. } => return None,
                _ if i == 0 => 0,
                Self::Stride { stride, .. } => stride,
                Self::Deltas { deltas, .. } => i64::from(*deltas.get(i - 1)?),
            };
            address = address.wrapping_add_signed(step);
            Some(address)
        })
    }

    /// Returns the shortest form of `list`, which has one address for each active lane. `deltas`
    /// holds the result if it has deltas.
    pub fn shortest<'a>(list: &'a [u64], deltas: &'a mut Vec<i32>) -> RecordAddresses<'a> {
        let Some((&base, rest)) = list.split_first() else {
            return RecordAddresses::Stride { base: 0, stride: 0 };
        };
        let stride = rest.first().map_or(0, |next| next.wrapping_sub(base) as i64);
        let (mut is_stride, mut are_short) = (true, true);
        deltas.clear();
        deltas.extend(list.iter().zip(rest).map(|(at, next)| {
            let step = next.wrapping_sub(*at) as i64;
            is_stride &= step == stride;
            are_short &= i32::try_from(step).is_ok();
            step as i32
        }));
        if is_stride {
            return RecordAddresses::Stride { base, stride };
        }
        if are_short {
            RecordAddresses::Deltas { base, deltas }
        } else {
            RecordAddresses::List(list)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_give_the_same_addresses() {
        for form in [
            RecordAddresses::Stride { base: 100, stride: 4 },
            RecordAddresses::Deltas { base: 100, deltas: &[4, 4] },
            RecordAddresses::List(&[100, 104, 108]),
        ] {
            assert_eq!(form.each(3).collect::<Vec<_>>(), [100, 104, 108]);
            assert_eq!(form.each(0).count(), 0);
        }
        let wraps = RecordAddresses::Stride { base: 4, stride: -8 };
        assert_eq!(wraps.each(2).collect::<Vec<_>>(), [4, u64::MAX - 3]);
    }

    #[test]
    fn the_shortest_form() {
        let mut room = Vec::new();
        let shortest = RecordAddresses::shortest(&[5, 5, 5], &mut room);
        assert_eq!(shortest, RecordAddresses::Stride { base: 5, stride: 0 });
        let shortest = RecordAddresses::shortest(&[5, 4, 9], &mut room);
        assert_eq!(shortest, RecordAddresses::Deltas { base: 5, deltas: &[-1, 5] });
        let far = [0, 1 << 40, 7];
        assert_eq!(RecordAddresses::shortest(&far, &mut room), RecordAddresses::List(&far));
        assert_eq!(
            RecordAddresses::shortest(&[], &mut room),
            RecordAddresses::Stride { base: 0, stride: 0 }
        );
    }
}
