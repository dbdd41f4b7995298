//! [`Undefined`]: generic loads with a qualifier that the documents do not allow for the memory they read.

use crate::syntax::load::{MemoryOrder, PtxLoad, QualifierKind};
use crate::syntax::{ScalarType, Span, Version};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::Space;

/// A qualifier of a generic load that is only defined for some memories, and the lanes with an address in another one.
/// The value that such a lane loads is undefined; here, the load ignores the qualifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// The qualifier.
    pub qualifier: Span,
    /// The lanes.
    pub lanes: LaneMask,
}

/// The first PTX version that defines `.volatile` for local memory.
const VOLATILE_LOCAL: Version = Version::new(9, 1);

/// The qualifiers that are undefined for the memory of some lane. Loads with a state space have none, because
/// [`check`](crate::rules::check) refuses them.
pub(super) fn undefined(
    load: &PtxLoad<'_>,
    version: Version,
    spaces: &[Option<Space>; LANES],
) -> Vec<Undefined> {
    if load.space().is_some() {
        return Vec::new();
    }
    let bits = load.scalar().and_then(ScalarType::register_bits);
    let unified = load.address().and_then(|address| address.unified);
    let qualifiers = load
        .qualifiers()
        .filter_map(|qualifier| Some((qualifier.span, granted(qualifier.kind, bits, version)?)));
    let limited = qualifiers.chain(unified.map(|span| (span, is_global as fn(Space) -> bool)));
    let undefined = limited.map(|(qualifier, is_granted)| {
        let is_outside = |lane: usize| spaces[lane].is_some_and(|space| !is_granted(space));
        Undefined { qualifier, lanes: LaneMask::from_fn(is_outside) }
    });
    undefined.filter(|undefined| !undefined.lanes.is_empty()).collect()
}

/// Whether a qualifier is defined for a memory, as a test; `None` if it is defined for all. Hints are missing where the
/// documents only say that the hint itself is undefined, because the loaded value is still defined. [`ld`, Description]
fn granted(kind: QualifierKind, bits: Option<u32>, version: Version) -> Option<fn(Space) -> bool> {
    match kind {
        QualifierKind::Vector(8) | QualifierKind::Mmio | QualifierKind::CacheHint => {
            Some(is_global)
        }
        QualifierKind::Vector(4) if bits == Some(64) => Some(is_global),
        QualifierKind::Order(MemoryOrder::Relaxed | MemoryOrder::Acquire) => {
            Some(is_shared_or_global)
        }
        QualifierKind::Order(MemoryOrder::Volatile) if version < VOLATILE_LOCAL => {
            Some(is_shared_or_global)
        }
        _ => None,
    }
}

fn is_global(space: Space) -> bool {
    space == Space::Global
}

fn is_shared_or_global(space: Space) -> bool {
    matches!(space, Space::Global | Space::Shared)
}
