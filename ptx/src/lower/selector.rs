//! [`Selector`], what is known at a load and what it becomes.

use warpload::encoding::Instruction;

use super::anchors::Anchors;
use super::flow::Flow;
use super::lowered::{Binding, OptimizationLevel};
use super::registers::Numbers;
use super::uniform::Uniformity;
use crate::module::{Function, Module, VariableLayout};

/// What is known at a load.
pub(super) struct Selector<'m, 's> {
    pub(super) module: &'m Module<'s>,
    pub(super) function: &'m Function,
    pub(super) layout: &'m VariableLayout<'m>,
    pub(super) level: OptimizationLevel,
    /// `None` at level 0, which knows nothing of addresses.
    pub(super) uniformity: Option<Uniformity>,
    pub(super) flow: Flow<'m, 's>,
    pub(super) anchors: Anchors,
    pub(super) numbers: Numbers,
    /// What the load becomes.
    pub(super) instructions: Vec<Instruction>,
    pub(super) bindings: Vec<Binding>,
}

impl Selector<'_, '_> {
    /// Whether the assembler looks at how addresses are computed.
    pub(super) fn is_optimized(&self) -> bool {
        self.level > OptimizationLevel::O0
    }

    /// Whether addresses have 64 bits.
    pub(super) fn is_wide(&self) -> bool {
        self.module.address_size.is_none_or(|size| size.bits != 32)
    }

    /// Adds a binding, unless the pieces of a load share it.
    pub(super) fn bind(&mut self, binding: Binding) {
        if !self.bindings.contains(&binding) {
            self.bindings.push(binding);
        }
    }
}
