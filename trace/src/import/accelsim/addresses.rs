//! The addresses of an instruction that accesses memory by lanes, and which lanes they are of.

use super::line::Body;
use super::scan::Scan;
use super::version::AddressLanes;
use warpload::lane::{LANES, LaneMask};

/// What an instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// Addresses with a base and a stride over the lanes of the mask.
    Run(u64, i64),
    /// The addresses in the list, one for each lane of the mask.
    Listed,
    /// Addresses that may be of any lane.
    Unknown,
    /// As many addresses of blocks, and bytes of all of them.
    Transfer(u64, u64),
}

/// Room for one address for each lane.
#[derive(Debug, Default)]
pub(super) struct List {
    addresses: [u64; LANES],
    count: usize,
}

impl List {
    #[inline(always)]
    fn push(&mut self, address: u64) {
        // There are at most as many as lanes.
        if let Some(room) = self.addresses.get_mut(self.count) {
            *room = address;
            self.count += 1;
        }
    }

    #[inline(always)]
    pub(super) fn addresses(&self) -> &[u64] {
        &self.addresses[..self.count]
    }

    /// Keeps the addresses of the lanes of `mask` only.
    fn keep(&mut self, mask: LaneMask) {
        let all = self.addresses;
        self.count = 0;
        mask.lanes().for_each(|lane| self.push(all[lane]));
    }
}

impl Body<'_> {
    /// `mode addresses`: fills `list` with one for each lane of the mask, or returns a run.
    #[inline(always)]
    pub(super) fn addresses<'t, S: Scan<'t>>(
        &self,
        line: &mut S,
        mask: LaneMask,
        warp: u64,
        list: &mut List,
    ) -> Result<Operand, S::Error> {
        let last = self.version.last_mode;
        let expected = if last < 2 { MODES_OF_1 } else { MODES };
        list.count = 0;
        let is_more = self.version.needs_threads();
        let mode = line.decimal(expected)?;
        match mode {
            0 => {
                for _ in 0..mask.count() {
                    list.push(line.address("an address")?);
                }
                while is_more && line.first().is_some() {
                    let address = line.address("an address")?;
                    self.push_another(line, address, warp, list)?;
                }
            }
            1 => {
                let base = line.address("a base address")?;
                let stride = line.signed("a stride")?;
                return self.run(line, mask, base, stride, list);
            }
            2 if last >= 2 => {
                // There is a base even if no lane is active.
                let mut address = line.address("a base address")?;
                for i in 0..mask.count() {
                    if i > 0 {
                        address = address.wrapping_add_signed(line.signed("a delta")?);
                    }
                    list.push(address);
                }
                if is_more && list.count == 0 {
                    list.push(address);
                }
                while is_more && line.first().is_some() {
                    address = address.wrapping_add_signed(line.signed("a delta")?);
                    self.push_another(line, address, warp, list)?;
                }
            }
            _ => return Err(line.refuse(|| format!("\"{mode}\"; expected {expected}"))),
        }
        Ok(if is_more { self.attribute(mask, warp, list) } else { Operand::Listed })
    }

    /// Adds an address after those of the mask.
    fn push_another<'t, S: Scan<'t>>(
        &self,
        line: &S,
        address: u64,
        warp: u64,
        list: &mut List,
    ) -> Result<(), S::Error> {
        let threads = self.bounds.threads_of(warp);
        if list.count as u64 >= threads {
            return Err(line.refuse(|| format!("more addresses than the warp's {threads} threads")));
        }
        list.push(address);
        Ok(())
    }

    /// Finds the addresses of the lanes of `mask` among those of all lanes that were active before the
    /// guard.
    #[inline(always)]
    fn attribute(&self, mask: LaneMask, warp: u64, list: &mut List) -> Operand {
        let (lanes, count) = (mask.count() as usize, list.count);
        if count == lanes {
            return Operand::Listed;
        }
        let are_all = count as u64 == self.bounds.threads_of(warp);
        let end = (LANES as u32 - mask.bits().leading_zeros()) as usize;
        if mask.is_empty() || are_all && end <= count {
            list.keep(mask);
            return Operand::Listed;
        }
        Operand::Unknown
    }

    /// Returns whose a base and a stride are.
    #[inline(always)]
    fn run<'t, S: Scan<'t>>(
        &self,
        line: &S,
        mask: LaneMask,
        base: u64,
        stride: i64,
        list: &mut List,
    ) -> Result<Operand, S::Error> {
        let run = Operand::Run(base, stride);
        let lanes = self.version.lanes;
        match lanes {
            AddressLanes::Mask if is_run(mask) => Ok(run),
            AddressLanes::Mask => {
                Err(line.refuse(|| "a stride, but the lanes are not a run".to_owned()))
            }
            // The list begins with the first lane of all, which the mask may lack.
            _ if stride == 0 || mask.is_empty() => Ok(run),
            _ if mask.contains(0) => {
                let address = |lane| base.wrapping_add_signed(stride.wrapping_mul(lane as i64));
                mask.lanes().for_each(|lane| list.push(address(lane)));
                Ok(if is_run(mask) { run } else { Operand::Listed })
            }
            AddressLanes::MaskOrMore if is_run(mask) && mask.count() > 1 => Ok(run),
            _ => Ok(Operand::Unknown),
        }
    }
}

const MODES: &str = "an address mode: 0, 1 or 2";
const MODES_OF_1: &str = "an address mode: 0 or 1";

/// Returns whether the lanes are consecutive; an empty mask is.
fn is_run(mask: LaneMask) -> bool {
    let bits = mask.bits();
    let lowest = bits & bits.wrapping_neg();
    bits & bits.wrapping_add(lowest) == 0
}
