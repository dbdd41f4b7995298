//! The text of addresses (docs/load-sm70.md sections 4 and 5).

use super::decode::Instruction128;
use super::form::{Address, Bare, Prefix};
use super::row::{Slot, TAH, TAHB};
use crate::operand::{Reg, UniformReg};
use crate::ready::Ready;
use crate::sm::Group;
use crate::text::{Text, registers};

/// Room for the longest text of a word of 128 bits, a copy with all its modifiers.
pub(super) const WIDE: usize = 192;

/// The text of a load of 128 bits.
pub(super) type WideText = Text<WIDE>;

/// `R0` to `RZ`, and `UR0` to `URZ`.
static REGISTERS: [Ready<7>; 256] = registers("", "");
static UNIFORM_REGISTERS: [Ready<7>; 256] = registers("U", "");

impl Instruction128 {
    pub(super) fn write_address(&self, address: Address, out: &mut WideText) {
        let offset = self.get_signed(Slot::Offset);
        match address {
            Address::Base(prefix, bare) => self.write_based(prefix, bare, out),
            Address::Indexed => {
                self.write_prefix(Prefix::Bank, out);
                out.push_byte(b'[');
                write_uniform(self.uniform(Slot::UniformBase), out);
                write_offset(offset, out);
            }
            Address::Global => self.write_global(offset, out),
            Address::Local => {
                let base = self.register(Slot::Base);
                if self.get(Slot::Descriptor) != 0 {
                    self.write_descriptor(self.uniform(Slot::UniformBase), out);
                    out.push_byte(b'[');
                    write_register(base, out);
                } else {
                    out.push_byte(b'[');
                    if !base.is_zero() {
                        write_register(base, out);
                        out.push_byte(b'+');
                    }
                    write_uniform(self.uniform(Slot::UniformBase), out);
                }
                write_offset(offset, out);
            }
            Address::Shared(bare) => {
                out.push_byte(b'[');
                let base = self.register(Slot::Base);
                let has_base = !base.is_zero() || self.get(Slot::Scale) != 0;
                if has_base {
                    write_register(base, out);
                    self.write_modifier(Slot::Scale, out);
                    out.push_byte(b'+');
                }
                write_uniform(self.uniform(Slot::UniformBase), out);
                if has_base || bare.signed.contains(self.group()) {
                    write_offset(offset, out);
                } else {
                    write_offset(self.get(Slot::Offset) as i64, out);
                }
            }
            Address::CopyTo { uniform } => self.write_copy_to(uniform, out),
            Address::CopyFrom { uniform } => self.write_copy_from(uniform, offset, out),
        }
    }

    fn write_prefix(&self, prefix: Prefix, out: &mut WideText) {
        match prefix {
            Prefix::Nothing => {}
            Prefix::Bank => {
                out.push_str("c[");
                out.push_hexadecimal(self.get(Slot::Bank) as u32);
                out.push_byte(b']');
            }
            Prefix::Handle => {
                out.push_str("cx[");
                write_uniform(self.uniform(Slot::Handle), out);
                out.push_byte(b']');
            }
            Prefix::Tensor => out.push_str("tmem"),
        }
    }

    /// Writes `[Ra.X4+off]` or `[UR+off]`, whichever register the form has.
    fn write_based(&self, prefix: Prefix, bare: Bare, out: &mut WideText) {
        self.write_prefix(prefix, out);
        let (base, uniform) = (self.register(Slot::Base), self.uniform(Slot::UniformBase));
        let offset = self.get_signed(Slot::Offset);
        if self.has(Slot::Base) && !base.is_zero() {
            out.push_base(base);
            self.write_modifier(Slot::Scale, out);
            return write_offset(offset, out);
        }
        out.push_byte(b'[');
        if self.has(Slot::UniformBase) && !uniform.is_zero() {
            if self.has_unknown_index() {
                out.push_str("???");
                out.push_decimal(uniform.number());
            } else {
                write_uniform(uniform, out);
            }
            write_offset(offset, out);
        } else {
            match bare.zero.filter(|_| offset == 0) {
                Some(zero) => out.push(&zero),
                None if bare.signed.contains(self.group()) => write_number(offset, out),
                None => out.push_hexadecimal(self.get(Slot::Offset) as u32),
            }
            out.push_byte(b']');
        }
    }

    /// Returns whether the index of `LDCU cx[URa][URb]` is one that the SM does not have.
    pub(super) fn has_unknown_index(&self) -> bool {
        let is_10 = matches!(self.group(), Group::Blackwell100 | Group::Blackwell101);
        is_10 && self.form().opcode == 0xbac
    }

    /// Writes the address of an `LD` or `LDG` with a uniform register.
    fn write_global(&self, offset: i64, out: &mut WideText) {
        let (base, uniform) = (self.register(Slot::Base), self.uniform(Slot::UniformBase));
        let is_wide = self.get(Slot::Wide) != 0;
        if self.get(Slot::Descriptor) != 0 {
            self.write_descriptor(uniform, out);
            out.push_base(base);
            out.push_str(".64");
        } else if self.is_uniform_alone() {
            out.push_byte(b'[');
            write_uniform(uniform, out);
        } else {
            if base.is_zero() && is_wide {
                out.push_str("[???255");
            } else {
                out.push_base(base);
            }
            if is_wide {
                out.push_str(".64+");
            } else {
                out.push_str(".U32+");
            }
            write_uniform(uniform, out);
        }
        write_offset(offset, out);
    }

    /// Writes `desc[UR]`, which the text of Ampere shows only if a bit says so.
    fn write_descriptor(&self, register: UniformReg, out: &mut WideText) {
        if !self.has(Slot::ShowDescriptor) || self.get(Slot::ShowDescriptor) != 0 {
            out.push_str("desc[");
            write_uniform(register, out);
            out.push_byte(b']');
        }
    }

    fn write_copy_to(&self, uniform: bool, out: &mut WideText) {
        let base = self.register(Slot::Destination);
        let offset = self.get_signed(Slot::SharedOffset);
        out.push_byte(b'[');
        if !base.is_zero() {
            write_register(base, out);
            if uniform {
                out.push_byte(b'+');
            }
        }
        if uniform {
            write_uniform(self.uniform(Slot::UniformBase), out);
        } else if base.is_zero() {
            if offset == 0 {
                out.push_str("RZ");
            } else {
                write_number(offset, out);
            }
            return out.push_byte(b']');
        }
        write_offset(offset, out);
    }

    fn write_copy_from(&self, uniform: bool, offset: i64, out: &mut WideText) {
        let register = self.uniform(Slot::UniformBase);
        let has_descriptor = self.get(Slot::Descriptor) != 0;
        if has_descriptor {
            self.write_descriptor(if uniform { register } else { self.next(register) }, out);
        }
        out.push_byte(b'[');
        write_register(self.register(Slot::Base), out);
        out.push_str(if self.get(Slot::Wide) != 0 { ".64" } else { ".U32" });
        if uniform && !has_descriptor && !register.is_zero() {
            out.push_byte(b'+');
            write_uniform(register, out);
        }
        write_offset(offset, out);
    }

    /// Returns the uniform register after `register`, `URZ` after the last one.
    pub(super) fn next(&self, register: UniformReg) -> UniformReg {
        let last =
            if TAHB.contains(self.group()) && !TAH.contains(self.group()) { 254 } else { 62 };
        if register.number() >= last {
            UniformReg::URZ
        } else {
            UniformReg::new(register.number() + 1)
        }
    }
}

pub(super) fn write_register(register: Reg, out: &mut WideText) {
    out.push_nth(&REGISTERS, register.number());
}

pub(super) fn write_uniform(register: UniformReg, out: &mut WideText) {
    out.push_nth(&UNIFORM_REGISTERS, register.number());
}

/// Writes `+0x10]`, `+-0x10]`, and `]` for 0.
fn write_offset(offset: i64, out: &mut WideText) {
    if offset != 0 {
        out.push_byte(b'+');
        write_number(offset, out);
    }
    out.push_byte(b']');
}

fn write_number(number: i64, out: &mut WideText) {
    if number < 0 {
        out.push_byte(b'-');
    }
    // No offset has more than 32 bits.
    out.push_hexadecimal(number.unsigned_abs() as u32);
}
