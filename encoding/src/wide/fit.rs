//! Fits written operands to a form.

use super::addresses::Addresses128;
use super::decode::Instruction128;
use super::form::{Address, Bare, Operand, Prefix};
use super::operand_text::{Suffix, Written, WrittenAddress, WrittenOperands, WrittenPrefix};
use super::row::{A, Kind, Slot, T};
use crate::operand::UniformReg;
use crate::text::{Expected, LineSpan, ParseError, ParseErrorKind as Error};

type Fit<T> = Result<T, ParseError>;

fn error<T>(kind: Error, span: LineSpan) -> Fit<T> {
    Err(ParseError { kind, span })
}

impl Instruction128 {
    /// Returns the instruction with these operands. `end` is where the text ends.
    pub(super) fn with_operands(mut self, written: &WrittenOperands, end: LineSpan) -> Fit<Self> {
        let mut next = 0;
        for operand in self.form().operands {
            let given = written.get(next);
            let (fitted, is_used) = self.with_operand(*operand, given, end)?;
            self = fitted;
            next += usize::from(is_used);
        }
        match written.get(next) {
            None => Ok(self),
            Some((_, span)) => error(Error::Expected(Expected::End), span),
        }
    }

    /// Returns the instruction with one operand, and whether it is the one that was `given`.
    fn with_operand(
        self,
        operand: Operand,
        given: Option<(Written, LineSpan)>,
        end: LineSpan,
    ) -> Fit<(Self, bool)> {
        let span = given.map_or(end, |(_, span)| span);
        let written = given.map(|(written, _)| written);
        match (operand, written) {
            (
                Operand::PredicateOut | Operand::PredicateOutOfZd,
                Some(Written::Predicate { uniform: false, negated: false, predicate }),
            ) => {
                let needs_zd = matches!(operand, Operand::PredicateOutOfZd);
                if needs_zd && self.get(Slot::Zd) == 0 {
                    return error(Error::Expected(Expected::Register), span);
                }
                Ok((self.set(Slot::PredicateOut, predicate.number().into(), span)?, true))
            }
            (Operand::PredicateOut | Operand::PredicateOutOfZd, _) => Ok((self, false)),
            (Operand::Register(slot), Some(Written::Register(register)))
                if matches!(self.kind(slot), Some(Kind::Register)) =>
            {
                Ok((self.set(slot, register.number().into(), span)?, true))
            }
            (Operand::Register(slot), Some(Written::Uniform(register)))
                if matches!(self.kind(slot), Some(Kind::UniformRegister)) =>
            {
                Ok((self.set_uniform(slot, register, span)?, true))
            }
            (Operand::Register(slot), _) => {
                let is_uniform = matches!(self.kind(slot), Some(Kind::UniformRegister));
                let expected =
                    if is_uniform { Expected::UniformRegister } else { Expected::Register };
                error(Error::Expected(expected), span)
            }
            (Operand::Address(address), Some(Written::Address(written))) => {
                Ok((self.with_address(address, &written, span)?, true))
            }
            (Operand::Address(_), _) => error(Error::Expected(Expected::Address), span),
            (Operand::Mask, Some(Written::Number(mask))) => {
                Ok((self.set(Slot::Mask, mask, span)?, true))
            }
            (Operand::Mask, _) => Ok((self, false)),
            (
                Operand::PredicateIn | Operand::PredicateInAlways | Operand::PredicateInOfBase,
                Some(Written::Predicate { uniform, negated, predicate }),
            ) => {
                let kind = self.kind(Slot::PredicateIn);
                let is_hidden = matches!(operand, Operand::PredicateInOfBase)
                    && self.uniform(Slot::UniformBase).is_zero();
                if is_hidden || uniform != matches!(kind, Some(Kind::UniformPredicate)) {
                    return error(Error::Expected(Expected::End), span);
                }
                let number = predicate.number();
                let is_inverted = matches!(kind, Some(Kind::InvertedPredicate));
                let bits = if is_inverted { 7 - number } else { number };
                let load = self.set(Slot::PredicateIn, bits.into(), span)?;
                Ok((load.set(Slot::PredicateInNegated, negated.into(), span)?, true))
            }
            (Operand::PredicateIn | Operand::PredicateInAlways | Operand::PredicateInOfBase, _) => {
                Ok((self, false))
            }
        }
    }

    fn addresses(&self) -> Addresses128 {
        Addresses128 { mnemonic: self.mnemonic(), sm: self.sm() }
    }

    fn set(self, slot: Slot, number: u64, span: LineSpan) -> Fit<Self> {
        if !self.has(slot) {
            return error(Error::AddressForm { known: self.addresses() }, span);
        }
        self.put(slot, number).ok_or(ParseError { kind: Error::NumberTooLarge, span })
    }

    fn set_uniform(self, slot: Slot, register: UniformReg, span: LineSpan) -> Fit<Self> {
        let Some(width) = self.width(slot) else {
            return error(Error::AddressForm { known: self.addresses() }, span);
        };
        let too_high = Error::UniformRegisterTooHigh { last: ((1u16 << width) - 2) as u8 };
        let bits = register.to_field(width).ok_or(ParseError { kind: too_high, span })?;
        self.set(slot, bits, span)
    }

    /// Sets an offset; `is_signed` says whether it is one, or an address of its own.
    fn set_offset(self, slot: Slot, written: &WrittenAddress, is_signed: bool) -> Fit<Self> {
        let (value, span) = (written.offset.unwrap_or(0), written.offset_span);
        let is_by_32 = matches!(self.kind(slot), Some(Kind::SignedBy32));
        let unit = if is_by_32 { 32 } else { 1 };
        let width = self.width(slot).unwrap_or(0);
        let (min, max) = if is_signed {
            (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1)
        } else {
            (0, (1i64 << width) - 1)
        };
        if value % unit != 0 {
            return error(Error::OffsetUnit { unit: unit as u8 }, span);
        }
        if value < 0 && !is_signed {
            return error(Error::NegativeWithoutBase { max: max as u64 }, span);
        }
        if !(min..=max).contains(&(value / unit)) {
            let (min, max) = (min * unit, (max * unit) as u64);
            return error(Error::OutOfRange { min, max, value: Some(value) }, span);
        }
        let bits = (value / unit) as u64 & (u64::MAX >> (64 - width));
        self.set(slot, bits, span)
    }

    fn with_address(self, address: Address, written: &WrittenAddress, span: LineSpan) -> Fit<Self> {
        let wrong = || error(Error::AddressForm { known: self.addresses() }, span);
        let (base, suffix) = written.base.unzip();
        let base_number = base.map_or(255, |base| u64::from(base.number()));
        let suffix = suffix.unwrap_or(Suffix::Nothing);
        match address {
            Address::Base(prefix, bare) => self.with_based(prefix, bare, written, span),
            Address::Indexed => match (written.prefix, written.base, written.uniform) {
                (WrittenPrefix::Bank(bank), None, Some(uniform)) => self
                    .set(Slot::Bank, bank, span)?
                    .set_uniform(Slot::UniformBase, uniform, span)?
                    .set_offset(Slot::Offset, written, true),
                _ => wrong(),
            },
            Address::Global => self.with_global(written, span),
            Address::Local => {
                let load = self.set(Slot::Base, base_number, span)?;
                let load = match (written.prefix, written.uniform) {
                    (WrittenPrefix::Nothing, Some(uniform)) => {
                        load.set_uniform(Slot::UniformBase, uniform, span)?
                    }
                    (WrittenPrefix::Descriptor(handle), None) if base.is_some() => load
                        .set(Slot::Descriptor, 1, span)?
                        .showing_descriptor()
                        .set_uniform(Slot::UniformBase, handle, span)?,
                    // The text of these SMs hides the descriptor.
                    (WrittenPrefix::Nothing, None)
                        if base.is_some() && A.contains(self.group()) =>
                    {
                        load.set(Slot::Descriptor, 1, span)?.set(Slot::UniformBase, 0, span)?
                    }
                    _ => return wrong(),
                };
                if suffix != Suffix::Nothing {
                    return wrong();
                }
                load.set_offset(Slot::Offset, written, true)
            }
            Address::Shared(bare) => {
                let (WrittenPrefix::Nothing, Some(uniform)) = (written.prefix, written.uniform)
                else {
                    return wrong();
                };
                let is_signed = base.is_some() || bare.signed.contains(self.group());
                self.set(Slot::Base, base_number, span)?
                    .scaled(suffix, span)?
                    .set_uniform(Slot::UniformBase, uniform, span)?
                    .set_offset(Slot::Offset, written, is_signed)
            }
            Address::CopyTo { uniform } => {
                let is_of_form = matches!(written.prefix, WrittenPrefix::Nothing)
                    && suffix == Suffix::Nothing
                    && uniform == written.uniform.is_some();
                if !is_of_form {
                    return wrong();
                }
                let load = self.set(Slot::Destination, base_number, span)?;
                let load = match written.uniform {
                    Some(uniform) => load.set_uniform(Slot::UniformBase, uniform, span)?,
                    None => load,
                };
                load.set_offset(Slot::SharedOffset, written, true)
            }
            Address::CopyFrom { uniform } => self.with_copy_from(uniform, written, span),
        }
    }

    /// `[Ra.X4+off]` or `[UR+off]`, whichever register the form has.
    fn with_based(
        self,
        prefix: Prefix,
        bare: Bare,
        written: &WrittenAddress,
        span: LineSpan,
    ) -> Fit<Self> {
        let wrong = || error(Error::AddressForm { known: self.addresses() }, span);
        if !written.prefix.is(prefix) {
            return wrong();
        }
        let load = match written.prefix {
            WrittenPrefix::Bank(bank) => self.set(Slot::Bank, bank, span)?,
            WrittenPrefix::Handle(handle) => self.set_uniform(Slot::Handle, handle, span)?,
            _ => self,
        };
        let is_signed = bare.signed.contains(self.group());
        let (load, has_base) = match (written.base, written.uniform) {
            (None, None) => (load, false),
            (Some((base, suffix)), None) if self.has(Slot::Base) => {
                // Ampere's `LDL [RZ+0x10]` is the text of a hidden descriptor.
                let is_hidden = self.mnemonic() == "LDL"
                    && A.contains(self.group())
                    && written.offset.is_some();
                if base.is_zero() && (suffix != Suffix::Nothing || is_hidden) {
                    return wrong();
                }
                let load = load.set(Slot::Base, base.number().into(), span)?;
                (load.scaled(suffix, span)?, !base.is_zero())
            }
            (None, Some(uniform)) if self.has(Slot::UniformBase) => {
                let load = load.set_uniform(Slot::UniformBase, uniform, span)?;
                if !uniform.is_zero() && load.has_unknown_index() {
                    return wrong();
                }
                (load, !uniform.is_zero())
            }
            _ => return wrong(),
        };
        load.set_offset(Slot::Offset, written, is_signed || has_base)
    }

    /// The address of an `LD` or `LDG` with a uniform register.
    fn with_global(self, written: &WrittenAddress, span: LineSpan) -> Fit<Self> {
        let wrong = || error(Error::AddressForm { known: self.addresses() }, span);
        // With `.256` there is no `.E` that could be missing.
        let is_extended = !self.has(Slot::Extended) || self.get(Slot::Extended) != 0;
        let (wide, load) = match (written.prefix, written.base, written.uniform) {
            (WrittenPrefix::Descriptor(handle), Some((base, Suffix::Wide)), None) => {
                let load = self.set(Slot::Base, base.number().into(), span)?;
                let load = load.set(Slot::Descriptor, 1, span)?.showing_descriptor();
                (true, load.set_uniform(Slot::UniformBase, handle, span)?)
            }
            // The text of these SMs hides the descriptor.
            (WrittenPrefix::Nothing, Some((base, Suffix::Wide)), None)
                if A.contains(self.group()) =>
            {
                let load = self.set(Slot::Base, base.number().into(), span)?;
                (true, load.set(Slot::Descriptor, 1, span)?.set(Slot::UniformBase, 0, span)?)
            }
            (WrittenPrefix::Nothing, Some((base, suffix)), Some(uniform)) => {
                let wide = match suffix {
                    Suffix::Wide => true,
                    Suffix::Narrow => false,
                    _ => return wrong(),
                };
                let load = self.set(Slot::Base, base.number().into(), span)?;
                (wide, load.set_uniform(Slot::UniformBase, uniform, span)?)
            }
            (WrittenPrefix::Nothing, None, Some(uniform))
                if T.and(A).contains(self.group()) || self.has(Slot::Mask) =>
            {
                (is_extended, self.set_uniform(Slot::UniformBase, uniform, span)?)
            }
            _ => return wrong(),
        };
        if wide && !is_extended {
            return error(Error::NeedsExtended, span);
        }
        load.set(Slot::Wide, wide.into(), span)?.set_offset(Slot::Offset, written, true)
    }

    fn with_copy_from(self, uniform: bool, written: &WrittenAddress, span: LineSpan) -> Fit<Self> {
        let wrong = || error(Error::AddressForm { known: self.addresses() }, span);
        let Some((base, suffix @ (Suffix::Wide | Suffix::Narrow))) = written.base else {
            return wrong();
        };
        let wide = suffix == Suffix::Wide;
        let load = self.set(Slot::Base, base.number().into(), span)?;
        let load = load.set(Slot::Wide, wide.into(), span)?;
        let load = match (written.prefix, written.uniform) {
            (WrittenPrefix::Descriptor(handle), None) if wide => {
                let load = load.set(Slot::Descriptor, 1, span)?.showing_descriptor();
                if uniform {
                    load.set_uniform(Slot::UniformBase, handle, span)?
                } else if handle == load.next(load.uniform(Slot::UniformBase)) {
                    load
                } else {
                    return error(Error::DescriptorAfterUniform, span);
                }
            }
            // The text of these SMs hides the descriptor.
            (WrittenPrefix::Nothing, None) if uniform && wide && A.contains(self.group()) => {
                load.set(Slot::Descriptor, 1, span)?.set(Slot::UniformBase, 0, span)?
            }
            (WrittenPrefix::Nothing, None) if uniform || wide => load,
            (WrittenPrefix::Nothing, Some(register)) if uniform => {
                load.set_uniform(Slot::UniformBase, register, span)?
            }
            _ => return wrong(),
        };
        load.set_offset(Slot::Offset, written, true)
    }

    fn scaled(self, suffix: Suffix, span: LineSpan) -> Fit<Self> {
        match suffix {
            Suffix::Nothing => Ok(self),
            Suffix::Scale(scale) => self.set(Slot::Scale, scale, span),
            Suffix::Wide | Suffix::Narrow => {
                error(Error::AddressForm { known: self.addresses() }, span)
            }
        }
    }

    /// Sets the bit by which the text of Ampere shows the descriptor.
    fn showing_descriptor(self) -> Self {
        self.put(Slot::ShowDescriptor, 1).unwrap_or(self)
    }
}
