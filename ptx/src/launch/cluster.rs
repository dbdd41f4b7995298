//! [`needs_cluster`]: the instructions that only have an effect of their own in a cluster of several blocks.
//!
//! Blocks run one after the other, so launches with clusters are refused, and so are kernels with one of these
//! instructions: a launch attribute, which is not part of the module, may give them clusters. Instructions that use
//! the window of the cluster for the own block are executed as with `.shared::cta`: every barrier of an
//! asynchronous copy is written `.shared::cluster`, and addresses of the own block are in that window too.

use crate::module::Module;
use crate::syntax::load::{Keyword, MemoryScope, PtxInstruction, QualifierKind};
use crate::syntax::special::{Value, special_register};
use crate::syntax::types::SubQualifier;
use crate::syntax::{Opcode, StateSpace};

/// Whether an instruction names another block of its cluster, asks for the place in it, or waits for it.
pub(super) fn needs_cluster(module: &Module<'_>, of: &PtxInstruction<'_>) -> bool {
    let has = |word| of.has(QualifierKind::Keyword(word));
    match of.opcode {
        Opcode::Mapa | Opcode::GetCtaRank => return true,
        Opcode::Barrier if of.has(QualifierKind::Scope(MemoryScope::Cluster)) => return true,
        Opcode::Ld | Opcode::St | Opcode::Atom | Opcode::Red
            if !has(Keyword::Async)
                && of
                    .has(QualifierKind::Space(StateSpace::Shared, Some(SubQualifier::Cluster))) =>
        {
            return true;
        }
        _ => {}
    }
    if has(Keyword::MulticastCluster) || has(Keyword::MulticastClusterAll) {
        return true;
    }
    of.names().any(|name| {
        let special = special_register(module.text(name));
        special.is_some_and(|known| matches!(known.value, Value::Cluster))
            && module.find_at(of.scope, name).is_none()
    })
}
