//! Generic loads on memory that the documents do not grant them: [`Undefined`].

use crate::syntax::load::{MemoryOrder, PtxLoad, QualifierKind};
use crate::syntax::{ScalarType, Span, Version};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::Space;

/// A qualifier of a generic load that is only for some memories, and the lanes whose address lies
/// in another one. What such a lane loads is undefined; here it is what any load of its bytes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// The qualifier.
    pub qualifier: Span,
    /// The lanes.
    pub lanes: LaneMask,
}

/// The first version whose documents let `.volatile` read local memory.
const VOLATILE_LOCAL: Version = Version::new(9, 1);

/// Returns the qualifiers that are not for the memory of some lane. Loads with a state space have
/// none: [`check`](crate::rules::check) refuses them.
pub(super) fn undefined(
    load: &PtxLoad<'_>,
    version: Version,
    spaces: &[Option<Space>; LANES],
) -> Vec<Undefined> {
    if load.space().is_some() {
        return Vec::new();
    }
    let bits = load.scalar().and_then(ScalarType::bits);
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

/// Which memories a qualifier is for; `None` if it is for all. Hints are not named whose documents
/// leave only the hint undefined. [`ld`, Description]
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
