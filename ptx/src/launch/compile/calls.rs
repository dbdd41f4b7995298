//! Calls of functions, external ones among them.

use super::{Compiled, FunctionCompiler, NotExecuted};
use crate::module::{
    Declaration, DeclarationId, Function, FunctionId, FunctionKind, count_step, variable_bytes,
};
use crate::syntax::load::{CallOperands, Element as Written, ElementKind, PtxInstruction};
use crate::syntax::{Span, StateSpace};
use std::ops::Range;
use warpload_machine::code::{Action, CallOp, CallTarget, Callee, Passed};
use warpload_machine::{External, ScalarType as T};

impl<'m> FunctionCompiler<'_, 'm> {
    pub(super) fn call(&mut self, of: &PtxInstruction<'m>) -> Compiled<()> {
        let CallOperands { returns, callee, arguments, has_prototype } = of.call();
        let name = callee.ok_or(NotExecuted)?;
        let target = self.call_target(of, name.span, has_prototype)?;
        let callee = self.module.function_id_of(self.module.text(name.span));
        let callee = callee.and_then(|id| self.module.functions().get(id.index()));
        let parameters = callee.map_or(0..0, |callee| callee.parameters.clone());
        let results = callee.map_or(0..0, |callee| callee.returns.clone());
        let places = |this: &mut Self, list: &[Written], declared: Range<usize>| {
            let mut declared = declared.map(|place| DeclarationId(place as u32));
            let mut places = Vec::new();
            for element in list {
                let declared = declared.next().and_then(|id| this.module.declaration(id));
                places.push(this.argument(of, element, declared)?);
            }
            Ok(Box::<[Passed]>::from(places))
        };
        let arguments = places(self, arguments, parameters)?;
        let returns = places(self, returns, results)?;
        let is_split = self.guard.is_some() || matches!(target, CallTarget::Indirect(_));
        self.emit(Action::Call(Box::new(CallOp { target, arguments, returns })));
        if is_split {
            self.unguarded(|this| this.emit(Action::RejoinCall).d);
        }
        Ok(())
    }

    fn call_target(
        &mut self,
        of: &PtxInstruction<'m>,
        name: Span,
        has_prototype: bool,
    ) -> Compiled<CallTarget> {
        if has_prototype && let Ok(element) = self.single(of, name) {
            // A register can hold the address of any function, so all of them are decoded.
            let has_all = std::mem::replace(&mut self.calls.has_all, true);
            let all = if has_all { &[][..] } else { self.module.functions() };
            for (place, function) in all.iter().enumerate() {
                count_step();
                let id = FunctionId(place as u32);
                if function.kind == FunctionKind::Func || function.body.is_none() {
                    self.callee(id, function);
                }
            }
            return Ok(CallTarget::Indirect(self.fitted(element, T::B64)?));
        }
        let id = self.module.function_id_of(self.module.text(name)).ok_or(NotExecuted)?;
        let function = self.module.functions().get(id.index()).ok_or(NotExecuted)?;
        Ok(CallTarget::Direct(self.callee(id, function)))
    }

    fn callee(&mut self, id: FunctionId, function: &Function) -> Callee {
        if function.body.is_some() {
            return self.calls.add(id);
        }
        *self.calls.callees.entry(id).or_insert_with(|| {
            let module = self.module;
            let sizes = |places: &Range<usize>| -> Vec<u64> {
                let ids = places.clone().map(|place| DeclarationId(place as u32));
                let declared = ids.filter_map(|id| module.declaration(id));
                let size = declared.map(|declared| match declared.space {
                    StateSpace::Register => declared.element_bytes().unwrap_or(0),
                    _ => variable_bytes(module, declared),
                });
                size.collect()
            };
            let (returns, parameters) = (sizes(&function.returns), sizes(&function.parameters));
            let is_noreturn = function.bounds.is_noreturn;
            let name = module.text(function.name);
            self.code.externals.push(External::of(name, &returns, &parameters, is_noreturn));
            Callee::External(self.code.externals.len() - 1)
        })
    }

    /// The location of an argument or a result. `declared` is the parameter of the callee, if it is known.
    fn argument(
        &mut self,
        of: &PtxInstruction<'m>,
        element: &Written,
        declared: Option<&Declaration>,
    ) -> Compiled<Passed> {
        match element.kind {
            ElementKind::Sink => Ok(Passed::Nothing),
            ElementKind::Constant(value) => {
                // A constant has the type of the parameter.
                let scalar = declared.map(|declared| declared.scalar).ok_or(NotExecuted)?;
                let bits = value.bits(scalar).ok_or(NotExecuted)?;
                let slot = self.constant(bits, 2);
                Ok(Passed::Register { slot, rows: 2 })
            }
            _ => {
                if let Some((offset, bytes)) = self.local(of, element.span) {
                    return Ok(Passed::Local { offset, bytes });
                }
                let element = self.element(of, element)?.ok_or(NotExecuted)?;
                let bits = declared.and_then(|declared| declared.scalar.register_bits());
                if bits.is_some_and(|bits| bits != element.bits) || element.bits == 1 {
                    return Err(NotExecuted);
                }
                Ok(Passed::Register { slot: element.slot, rows: element.rows })
            }
        }
    }
}
