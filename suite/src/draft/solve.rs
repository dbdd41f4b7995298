//! From a draft to a vector: chooses the offset, then base registers so that the sums are the lanes' addresses.

use warpload_encoding::LoadParts;

use super::Draft;
use super::family::executable;
use super::state::Drawn;
use warpload::lane::{LANES, LaneValues};

impl Draft<'_> {
    pub(super) fn solve(mut self) -> Option<Drawn> {
        let first = self.executing().first().unwrap_or(0);
        let target = self.addresses[first];
        let unit = self.form.offset_unit;
        let offset = match self.offset {
            Some(offset) => offset,
            None if self.is_offset_alone() => target as i64,
            None => self.some_offset(),
        };
        let word = self.word((offset / unit) as u64)?;
        let (load, parts, _) = executable(word, self.family.sm)?;
        self.set_uniform_base(&parts, target);
        self.set_base(&parts);
        self.set_destinations();
        self.set_predicates();
        Some(Drawn { load, state: self.state })
    }

    /// A random offset for an address with a base, mostly a small one.
    fn some_offset(&mut self) -> i64 {
        let unit = self.form.offset_unit;
        match self.random.below(8) {
            0..3 => 0,
            3..6 => unit * (self.random.below(0x40) as i64),
            6 => -unit * (1 + self.random.below(0x40) as i64),
            _ => {
                let (least, most) = self.offset_range();
                if self.random.one_in(2) { least } else { most }
            }
        }
    }

    fn word(&self, offset: u64) -> Option<u128> {
        let form = self.form;
        let mut word = form.set(form.word, form.offset_name(), offset)?;
        let mut set = |name: &str, value: u64| {
            if let Some(changed) = form.set(word, name, value) {
                word = changed;
            }
        };
        set(form.destination_name(), self.rd.into());
        set(if form.fills_uniform() { "UR1st" } else { "R1st" }, self.other_rd.into());
        set("Ra", self.ra.into());
        // All ones are `URZ`, whatever the width of the field.
        set("UR", self.ur.into());
        set(if form.has("UPg") { "UPg" } else { "Pg" }, self.guard.0.into());
        set("!", self.guard.1.into());
        set("Plg", self.plg.0.into());
        set("bank", self.bank.into());
        for (name, value) in &self.fields {
            set(name, *value);
        }
        Some(word | self.unread)
    }

    /// Sets the uniform register of the address. Without a base it holds the address itself. With one it leaves a small
    /// number for the base.
    fn set_uniform_base(&mut self, parts: &LoadParts, target: u64) {
        let Some(uniform) = parts.address.uniform else {
            self.set_descriptor();
            return;
        };
        if uniform.register.is_zero() {
            return;
        }
        let offset = i64::from(parts.address.offset.signed());
        let rest = target.wrapping_sub(offset as u64);
        let least = if self.has_high_index { 0x8000_0000 } else { 0 };
        let index = least + 16 * self.random.below(64);
        let value = if self.has_base() { rest.wrapping_sub(index) } else { rest };
        let number = uniform.register.number();
        self.state.uniform_registers.insert(number, value as u32);
        if uniform.extended && number < 254 {
            self.state.uniform_registers.insert(number + 1, (value >> 32) as u32);
        }
    }

    /// Fills the register of a descriptor with a random value, because the register is not part of the address.
    fn set_descriptor(&mut self) {
        if self.form.get(self.form.word, "desc") == Some(1) && self.ur < 62 {
            let value = self.random.next() as u32;
            self.state.uniform_registers.insert(self.ur, value);
        }
    }

    /// Sets the base registers to the rest of each lane's address.
    fn set_base(&mut self, parts: &LoadParts) {
        if !self.has_base() {
            if self.form.has("Ra") && self.ra != 255 {
                // Beyond the register limit, so it is not read.
                self.state.registers.insert(self.ra, [0x40; LANES]);
            }
            return;
        }
        let address = &parts.address;
        let uniform = address.uniform.map_or(0, |uniform| {
            let held = |number| self.state.uniform_registers.get(&number).copied().unwrap_or(0);
            let number = uniform.register.number();
            u64::from(held(number)) | u64::from(held(number.wrapping_add(1))) << 32
        });
        let offset = i64::from(address.offset.signed()) as u64;
        let mut values = self.addresses.map(|a| a.wrapping_sub(offset).wrapping_sub(uniform));
        if !address.extended {
            values = values.map(|value| u64::from(value as u32) >> address.scale());
        }
        let low: LaneValues = values.map(|value| value as u32);
        let high: LaneValues = values.map(|value| (value >> 32) as u32);
        self.state.registers.insert(self.ra, low);
        let Some(next) = self.ra.checked_add(1).filter(|next| *next < 255) else { return };
        if address.extended {
            if high != [0; LANES] {
                self.state.registers.insert(next, high);
            }
        } else if self.has_stale_pair || self.form.width("E") > 0 && self.random.one_in(4) {
            // Not part of an address of 32 bits.
            self.state.registers.insert(next, [0x7; LANES]);
        }
    }

    /// Fills the destination, so that loaded zeros are visible, and so are registers that the load leaves unchanged.
    fn set_destinations(&mut self) {
        let count = self.form.registers() as u8;
        let (first, second) = if count == 8 { (4, 4) } else { (count, 0) };
        for (from, count) in [(self.rd, first), (self.other_rd, second)] {
            for number in (0..count).filter_map(|i| from.checked_add(i)).filter(|n| *n < 255) {
                // High bits are set for loads of 8 and 16 bits, so that a missing extension is visible.
                let high = if self.form.bytes() < 4 { 0xa5a5_a5a0 } else { 0 };
                let value = high + 1 + self.random.below(14) as u32;
                if self.form.fills_uniform() {
                    self.state.uniform_registers.entry(number).or_insert(value);
                } else {
                    self.state.registers.entry(number).or_insert([value; LANES]);
                }
            }
        }
    }

    fn set_predicates(&mut self) {
        let (guard, negated) = self.guard;
        if guard < 7 && self.form.has("UPg") {
            let is_true = (self.guarded != 0) != negated;
            self.state.uniform_predicates.insert(guard, is_true);
        } else if guard < 7 {
            let lanes = if negated { !self.guarded } else { self.guarded };
            self.state.predicates.insert(guard, lanes);
        }
        if self.plg.0 < 7 {
            self.state.predicates.insert(self.plg.0, self.plg.1);
        }
    }
}
