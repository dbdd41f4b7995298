//! Shared by the readers of tools' logs: kernels by launch id, plain numbers without sign and spaces, and addresses of
//! 32 lanes without an active mask.

use rustc_hash::FxHashMap;

use super::MAX_KERNELS;
use super::interner::NameError;
use super::interner::Refused;
use super::sink::Sink;
use crate::binary::{Kernel, RecordAddresses};
use warpload::lane::{LANES, LaneMask};
use warpload::text::{parse_decimal, parse_hexadecimal};

/// Identifies a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LaunchId {
    /// The context, because some tools number launches within it; `None` if the source does not have it.
    pub(super) context: Option<u64>,
    pub(super) number: u64,
}

/// The launches of a file by id. Launches can run concurrently, so that their accesses alternate. Each launch is one
/// kernel.
#[derive(Default)]
pub(super) struct Launches {
    launches: FxHashMap<LaunchId, Launch>,
    current: Option<(LaunchId, Begun)>,
}

enum Launch {
    /// Its kernel is known, but it has no access yet.
    Named(Box<Kernel>),
    /// It has accesses.
    Begun(Begun),
}

/// A launch that has accesses.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    /// The number of its kernel.
    kernel: u32,
    /// Zeros if unknown, as for `block`.
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
}

impl Launches {
    /// Names the kernel of a launch. A known id starts a new launch, because another process may use the same ids.
    pub(super) fn name(&mut self, launch: LaunchId, kernel: Kernel) -> Result<(), NameError> {
        self.check_room(launch)?;
        self.launches.insert(launch, Launch::Named(Box::new(kernel)));
        self.current = None;
        Ok(())
    }

    fn check_room(&self, launch: LaunchId) -> Result<(), NameError> {
        if self.launches.len() >= MAX_KERNELS && !self.launches.contains_key(&launch) {
            return Err(NameError::Launches);
        }
        Ok(())
    }

    /// Makes the launch's kernel the current one of `sink`. An unnamed launch gets `kernel`, named after its number
    /// unless `kernel` has a name.
    #[inline]
    pub(super) fn select(
        &mut self,
        sink: &mut Sink<'_>,
        launch: LaunchId,
        kernel: Option<&Kernel>,
    ) -> Result<Begun, Refused> {
        match self.current {
            Some((current, begun)) if current == launch => Ok(begun),
            _ => self.select_other(sink, launch, kernel),
        }
    }

    fn select_other(
        &mut self,
        sink: &mut Sink<'_>,
        launch: LaunchId,
        unnamed: Option<&Kernel>,
    ) -> Result<Begun, Refused> {
        let kernel = match self.launches.remove(&launch) {
            Some(Launch::Begun(begun)) => {
                sink.select(begun.kernel)?;
                self.launches.insert(launch, Launch::Begun(begun));
                self.current = Some((launch, begun));
                return Ok(begun);
            }
            Some(Launch::Named(kernel)) => *kernel,
            None => {
                self.check_room(launch)?;
                let mut kernel = unnamed.cloned().unwrap_or_default();
                if kernel.name.is_empty() {
                    kernel.name = sink.name(&format!("grid launch {}", launch.number))?;
                }
                kernel
            }
        };
        let Kernel { grid, block, .. } = kernel;
        let begun = Begun { kernel: sink.kernel(kernel)?, grid, block };
        self.launches.insert(launch, Launch::Begun(begun));
        self.current = Some((launch, begun));
        Ok(begun)
    }
}

pub(super) fn decimal<N: TryFrom<u64>>(text: &str) -> Option<N> {
    N::try_from(parse_decimal(text)?).ok()
}

/// The context at the start of a message, `CTX 0x…`.
pub(super) fn context(message: &str) -> Option<u64> {
    parse_hexadecimal(message.strip_prefix("CTX 0x")?.split(' ').next()?)
}

/// Parses `x,y,z`.
pub(super) fn dimensions(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split(',').map(|number| decimal(number.trim()));
    let three = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(three)
}

/// The note of a trace with inferred active masks.
pub(super) const UNMASKED_NOTE: &str = "the active masks are inferred: lanes with address 0 were taken as \
    inactive, and offset 0 of shared or local memory looks the same";

/// A buffer for the addresses of one access.
#[derive(Default)]
pub(super) struct Unmasked {
    list: [u64; LANES],
}

impl Unmasked {
    /// The lanes with an address other than 0, and these addresses.
    #[inline]
    pub(super) fn active(&mut self, addresses: &[u64; LANES]) -> (LaneMask, RecordAddresses<'_>) {
        let (mut mask, mut count) = (0, 0);
        for (lane, address) in addresses.iter().enumerate() {
            let is_active = *address != 0;
            mask |= u32::from(is_active) << lane;
            // The next address overwrites the 0 of an inactive lane.
            if let Some(place) = self.list.get_mut(count) {
                *place = *address;
            }
            count += usize::from(is_active);
        }
        let list = self.list.get(..count).unwrap_or_default();
        (LaneMask::from_bits(mask), RecordAddresses::List(list))
    }
}
