//! [`Launches`]: the kernels of accesses that name the launch they belong to.

use rustc_hash::FxHashMap;

use super::limits::MAX_KERNELS;
use super::sink::{Refused, Sink};
use crate::binary::{Kernel, NameError};

/// What tells launches apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LaunchId {
    /// The context, in which some tools begin to count anew; `None` if the source does not say.
    pub(super) context: Option<u64>,
    pub(super) number: u64,
}

/// The launches of a file, by their ids. Launches can run at the same time, so that their accesses
/// alternate; each launch is one kernel.
#[derive(Default)]
pub(super) struct Launches {
    launches: FxHashMap<LaunchId, Launch>,
    current: Option<(LaunchId, Begun)>,
}

enum Launch {
    /// Its kernel is known; no access was found so far.
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
    /// Names the kernel of a launch. One with a known id is another launch, for example of another
    /// process.
    pub(super) fn name(&mut self, launch: LaunchId, kernel: Kernel) -> Result<(), NameError> {
        self.check_room(launch)?;
        self.launches.insert(launch, Launch::Named(Box::new(kernel)));
        self.current = None;
        Ok(())
    }

    fn check_room(&self, launch: LaunchId) -> Result<(), NameError> {
        if self.launches.len() >= MAX_KERNELS && !self.launches.contains_key(&launch) {
            return Err(NameError::TooMany);
        }
        Ok(())
    }

    /// Makes the kernel of a launch the current one of `sink`. One that was not named is `kernel`, or
    /// else has its number as name.
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
