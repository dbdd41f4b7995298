//! Vectors before they are executed.

use std::error::Error;

use serde_json::{Map, Value, json};
use warpload::encoding::{Instruction, parse_line};
use warpload::lane::LANES;
use warpload::memory::mix;

/// The four instructions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    Ldg,
    Ldl,
    Lds,
    Ldc,
}

/// A vector without its expected result.
#[derive(Clone)]
pub(super) struct Draft {
    /// What it tests.
    pub(super) topic: String,
    /// The instruction.
    pub(super) text: String,
    /// Bits that are also set in the word.
    pub(super) unread_bits: u64,
    /// The bytes, by key of `initial.memory`.
    pub(super) memory: Value,
    /// `initial.windows`.
    pub(super) windows: Option<Value>,
    pub(super) address_bits: u32,
    pub(super) register_limit: u64,
    pub(super) is_reporting: bool,
    pub(super) active: u32,
    /// P1.
    pub(super) predicate: u32,
    /// The value of {R3, R2}, or of the instruction's base registers.
    pub(super) base: [u64; LANES],
}

/// The value of destination registers before the load, so that loaded zeroes are visible.
const BEFORE: u32 = 7;

impl Draft {
    /// Creates a draft in which all lanes execute `text`, with 0 in the base.
    pub(super) fn new(topic: &str, text: String, memory: Value) -> Self {
        Self {
            topic: topic.to_owned(),
            text,
            unread_bits: 0,
            memory,
            windows: None,
            address_bits: 40,
            register_limit: 255,
            is_reporting: false,
            active: u32::MAX,
            predicate: 0,
            base: [0; LANES],
        }
    }

    pub(super) fn name(&self) -> String {
        format!("{}: {}", self.text, self.topic)
    }

    pub(super) fn word(&self) -> Result<u64, Box<dyn Error>> {
        Ok(self.instruction()?.encode() | self.unread_bits)
    }

    fn instruction(&self) -> Result<Instruction, Box<dyn Error>> {
        Ok(parse_line(&self.text).map_err(|error| error.to_string())?.instruction)
    }

    /// Returns `initial`, without the defaults.
    pub(super) fn initial(&self) -> Result<Value, Box<dyn Error>> {
        let mut initial = Map::new();
        let mut add = |is_needed: bool, key: &str, value: Value| {
            if is_needed {
                initial.insert(key.to_owned(), value);
            }
        };
        add(true, "memory", self.memory.clone());
        add(self.windows.is_some(), "windows", json!(self.windows));
        add(self.address_bits != 40, "address_bits", json!(self.address_bits));
        add(self.register_limit != 255, "register_limit", json!(self.register_limit));
        add(self.is_reporting, "misaligned", json!("report"));
        add(self.active != u32::MAX, "active", hex(self.active.into()));
        add(self.predicate != 0, "predicates", json!({"P1": hex(self.predicate.into())}));
        let registers = self.registers()?;
        add(!registers.is_empty(), "registers", Value::Object(registers));
        Ok(Value::Object(initial))
    }

    /// Returns the values of the destination; those of the base override them.
    fn registers(&self) -> Result<Map<String, Value>, Box<dyn Error>> {
        let instruction = self.instruction()?;
        let mut registers = Map::new();
        let mut set = |number: u32, values: [u64; LANES]| {
            if number < 255 {
                registers.insert(format!("R{number}"), json!(values.map(hex)));
            }
        };
        let first = u32::from(instruction.destination().number());
        let count = instruction.size().map_or(0, |size| size.registers());
        for number in first..first + count {
            set(number, [BEFORE.into(); LANES]);
        }
        let base = instruction.address().base;
        if !base.is_zero() {
            let number = u32::from(base.number());
            set(number, self.base.map(|pair| pair & 0xffff_ffff));
            let high = self.base.map(|pair| pair >> 32);
            if instruction.address().extended || high != [0; LANES] {
                set(number + 1, high);
            }
        }
        Ok(registers)
    }
}

pub(super) fn hex(number: u64) -> Value {
    json!(format!("{number:#x}"))
}

/// Returns `count` bytes in hexadecimal, which depend on the seed.
pub(super) fn bytes(seed: u64, count: u64) -> Value {
    json!((0..count).map(|i| format!("{:02x}", mix(seed << 32 | i) as u8)).collect::<String>())
}

/// Returns `initial.memory` with at least `size` bytes for the instruction, and some in other spaces.
pub(super) fn memory(opcode: Opcode, size: u64) -> Value {
    let lanes = LANES as u64;
    match opcode {
        // The second allocation is adjacent to the first.
        Opcode::Ldg => json!({
            "global": [
                {"base": hex(GLOBAL), "hex": bytes(1, size)},
                {"base": hex(GLOBAL + size), "hex": bytes(2, 0x15)},
            ],
            "shared": {"hex": bytes(3, 16)},
        }),
        Opcode::Ldl => json!({
            "global": [{"base": "0x0", "hex": bytes(4, 32)}],
            "local": {
                "bytes_per_lane": size, "hex": bytes(5, size * lanes),
                "high": {"bytes_per_lane": size, "hex": bytes(6, size * lanes)},
            },
        }),
        Opcode::Lds => json!({
            "global": [{"base": "0x0", "hex": bytes(7, 32)}],
            "shared": {"hex": bytes(8, size)},
        }),
        Opcode::Ldc => json!({
            "shared": {"hex": bytes(9, 32)},
            "constant": [
                {"bank": 0, "hex": bytes(10, 32)},
                {"bank": 3, "hex": bytes(11, size)},
                {"bank": 17, "hex": ""},
                {"bank": 31, "hex": bytes(12, 25)},
            ],
        }),
    }
}

/// The address of the first global allocation; other memory begins at offset 0.
pub(super) const GLOBAL: u64 = 0x1000;
