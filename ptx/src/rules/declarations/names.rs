//! Variables, registers and parameters whose name is declared twice in a scope.

use super::Judged;
use super::functions::{duplicate, redefined};
use crate::module::{Array, Declaration, DeclarationId, Linkage};

impl Judged<'_> {
    /// Whether the name is that of an earlier declaration in the same scope.
    pub(super) fn name(&mut self, id: DeclarationId) {
        let Declaration { scope, count, .. } = *self.declared;
        let function = self.module.function_id(scope);
        let has_names = self.module.function_of(scope).is_none_or(|known| known.body.is_some());
        let text = self.module.text(self.declared.name);
        let first = self.module.names.first(function, scope, text, count.is_some());
        let Some(first) = first.filter(|_| has_names) else { return };
        if first != id {
            self.again(first, id);
        } else if count.is_none()
            && let Some(run) = self.module.run_around(scope, self.declared.name)
        {
            let text = self.module.text(run);
            duplicate(self.findings, self.declared.name, self.text(), &format!("run `{text}<..>`"));
        }
    }

    /// A second declaration of a name: legal beside an `.extern` one of the same type.
    fn again(&mut self, first: DeclarationId, id: DeclarationId) {
        let Some(before) = self.module.declaration(first) else { return };
        let declared = self.declared;
        let is_extern = |of: &Declaration| of.linkage == Linkage::Extern;
        let defined = self.module.names.definition(first);
        let is_second = is_extern(before)
            && !is_extern(declared)
            && defined.is_some_and(|defined| defined != id);
        if (!is_extern(before) && !is_extern(declared)) || is_second {
            return duplicate(self.findings, declared.name, self.text(), "variable");
        }
        let of = |declared: &Declaration| (declared.scalar, declared.vector);
        if of(before) != of(declared) || !self.has_dimensions_of(before) {
            let message = format!("`{}` was declared with another type", self.text());
            redefined(self.findings, declared.name, message);
        }
    }

    /// Whether two declarations have the same lengths; of the first one either may leave it open.
    fn has_dimensions_of(&self, before: &Declaration) -> bool {
        let is_array = |of: &Declaration| of.array != Array::Single;
        if !is_array(before) && !is_array(self.declared) {
            return true;
        }
        let mut here = self.module.dimensions(self.declared);
        let mut there = self.module.dimensions(before);
        if let ([a, ..], [b, ..]) = (&mut here[..], &mut there[..])
            && (*a == 0 || *b == 0)
        {
            (*a, *b) = (0, 0);
        }
        here == there
    }
}
