//! The topics of the vectors, for every size of every instruction.

use serde_json::json;
use warpload::encoding::Size;
use warpload::lane::LANES;

use super::draft::{Draft, GLOBAL, Opcode, bytes as bytes_of, hex, memory};

type Lanes = [u64; LANES];

/// A load of one size, and its memory.
#[derive(Clone, Copy)]
struct Load {
    opcode: Opcode,
    size: Size,
    uniform: bool,
    /// Whether an LDG has `.E`.
    extended: bool,
}

/// The end of the default local window, as an offset.
const LOCAL_END: u64 = 0x100_0000;

impl Load {
    fn bytes(&self) -> u64 {
        self.size.bytes().into()
    }

    /// Returns how much memory there is, in bytes: not a multiple of the size, so that the last access
    /// crosses the end.
    fn room(&self) -> u64 {
        match self.opcode {
            Opcode::Ldl => self.bytes() + self.bytes().div_ceil(2),
            _ => 4 * self.bytes() + self.bytes().div_ceil(2),
        }
    }

    /// Returns the address of the first byte.
    fn first(&self) -> u64 {
        if self.opcode == Opcode::Ldg { GLOBAL } else { 0 }
    }

    /// Returns the instruction with a destination and an address, such as `R2`, without brackets.
    fn text(&self, destination: &str, address: &str) -> String {
        let size = self.size.name();
        match self.opcode {
            Opcode::Ldg if self.extended => format!("LDG.E.{size} {destination}, [{address}]"),
            Opcode::Ldg => format!("LDG.{size} {destination}, [{address}]"),
            Opcode::Ldl => format!("LDL.{size} {destination}, [{address}]"),
            Opcode::Lds if self.uniform => format!("LDS.U.{size} {destination}, [{address}]"),
            Opcode::Lds => format!("LDS.{size} {destination}, [{address}]"),
            Opcode::Ldc => format!("LDC.{size} {destination}, c[0x3][{address}]"),
        }
    }

    /// Creates a draft with those effective addresses.
    fn at(&self, topic: &str, addresses: impl Fn(u64) -> u64) -> Draft {
        self.with(topic, "R4", 0, addresses)
    }

    /// Creates a draft with another destination and an offset.
    fn with(
        &self,
        topic: &str,
        destination: &str,
        offset: i64,
        addresses: impl Fn(u64) -> u64,
    ) -> Draft {
        let address = match offset {
            0 => "R2".to_owned(),
            1.. => format!("R2+{offset:#x}"),
            _ => format!("R2-{:#x}", -offset),
        };
        let text = self.text(destination, &address);
        let mask = if self.extended { u64::MAX } else { u32::MAX.into() };
        let base = |lane| addresses(lane as u64).wrapping_add_signed(-offset) & mask;
        let memory = memory(self.opcode, self.room());
        Draft { base: std::array::from_fn(base), ..Draft::new(topic, text, memory) }
    }

    /// Returns addresses that are not allocated: those of the windows, high ones, nearby ones.
    fn nowhere(&self) -> Lanes {
        let near = self.first() + 64 * self.bytes();
        let all: [u64; 8] = match self.opcode {
            Opcode::Ldg if self.extended => [
                0xfe00_0000,
                0xff00_0010,
                1 << 40,
                near,
                0x1_0000_0000 + self.first(),
                1 << 63,
                u64::MAX - 15,
                0,
            ],
            Opcode::Ldg => [0xfe00_0000, 0xff00_0010, near, 0, 0xffff_fff0, 1 << 31, near, 0x10],
            Opcode::Ldl => [0xff00_0000, near, LOCAL_END, 1 << 23, 0xffff_fff0, 1 << 31, near, 64],
            Opcode::Lds => [0xfe00_0000, near, LOCAL_END, 1 << 23, 0xffff_fff0, 1 << 31, near, 96],
            Opcode::Ldc => [near, 0x1_0000, 0x8000, 0xffff_fff0, 1 << 31, near, 0xfff0, 0x1_0010],
        };
        std::array::from_fn(|lane| all[lane % 8])
    }
}

/// Returns all drafts but those about registers.
pub(super) fn drafts() -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (opcode, sizes) in [(Opcode::Ldg, 8), (Opcode::Ldl, 7), (Opcode::Lds, 7), (Opcode::Ldc, 6)]
    {
        for (i, &size) in Size::ALL[..sizes].iter().enumerate() {
            // Topics alternate between addresses with and without .E.
            let load = Load { opcode, size, uniform: false, extended: i % 2 == 0 };
            let load = Load { extended: load.extended && opcode == Opcode::Ldg, ..load };
            let other = Load { extended: !load.extended && opcode == Opcode::Ldg, ..load };
            drafts.extend(aligned(&load));
            drafts.extend(misaligned(&other));
            drafts.extend(outside(&load, &other));
            drafts.extend(offsets(&other, i % 2 == 0));
            drafts.extend(masks(&load));
            match opcode {
                Opcode::Ldl => drafts.extend(local_parts(&load)),
                Opcode::Ldc => drafts.extend(banks(&load)),
                Opcode::Lds => drafts.extend(hinted(&Load { uniform: true, ..load })),
                Opcode::Ldg if size == Size::U128 => drafts.extend(uniform(&load)),
                Opcode::Ldg => {}
            }
        }
    }
    drafts.extend(cache_operators());
    drafts.extend(address_bits());
    drafts.extend(unsigned_offsets());
    drafts
}

fn aligned(load: &Load) -> Vec<Draft> {
    let (first, bytes) = (load.first(), load.bytes());
    let mut drafts = vec![load.at("one address", |_| first)];
    if load.opcode != Opcode::Ldl {
        let side_by_side = load.at("lanes side by side", |lane| first + bytes * lane);
        let memory = memory(load.opcode, bytes * LANES as u64);
        drafts.push(Draft { memory, ..side_by_side });
        drafts.push(load.at("lanes here and there", |lane| first + bytes * (lane * 7 % 4)));
    }
    drafts
}

fn misaligned(load: &Load) -> Vec<Draft> {
    let (first, bytes) = (load.first(), load.bytes());
    if bytes == 1 {
        return Vec::new();
    }
    let draft = |topic| load.at(topic, |lane| first + lane * 5 % (2 * bytes));
    vec![
        draft("misaligned, forced"),
        Draft { is_reporting: true, ..draft("misaligned, reported") },
        Draft {
            is_reporting: true,
            ..load.at("misaligned and outside, reported", |lane| load.nowhere()[lane as usize] + 1)
        },
    ]
}

fn outside(load: &Load, other: &Load) -> Vec<Draft> {
    let (first, bytes) = (load.first(), load.bytes());
    let behind = load.room().next_multiple_of(bytes);
    let at_the_end = |lane: u64| (first + behind + bytes * (lane % 4)).wrapping_sub(2 * bytes);
    vec![
        load.at("lanes before and behind the end", at_the_end),
        other.at("nothing is allocated", |lane| other.nowhere()[lane as usize]),
        load.with("zeroes of one lane", "R8", 0, except(9, load.nowhere()[0], first)),
        other.with(
            "values dropped, one lane outside",
            "RZ",
            0,
            except(9, other.nowhere()[1], first),
        ),
    ]
}

/// Returns `address` for every lane but `lane`, which has `other`.
fn except(lane: u64, other: u64, address: u64) -> impl Fn(u64) -> u64 {
    move |at| if at == lane { other } else { address }
}

fn offsets(load: &Load, is_even: bool) -> Vec<Draft> {
    let (first, bytes) = (load.first(), load.bytes());
    let several = if load.opcode == Opcode::Ldl { 1 } else { 4 };
    let lane_address = |lane: u64| first + bytes * (lane % several);
    let (down, up) = match load.opcode {
        Opcode::Ldc => (-0x8000, 0x7fff),
        _ => (-0x80_0000, 0x7f_ffff),
    };
    let alone = load.text("R4", &format!("{first:#x}"));
    let alone = Draft::new("the offset is the address", alone, memory(load.opcode, load.room()));
    let overlapping = if load.size.registers() == 4 { "R0" } else { "R2" };
    vec![
        if is_even {
            load.with("the most negative offset", "R4", down, lane_address)
        } else {
            load.with("the largest offset, the sum wraps", "R4", up, lane_address)
        },
        alone,
        load.with("Rd overlaps Ra", overlapping, -0x10, lane_address),
    ]
}

fn masks(load: &Load) -> Vec<Draft> {
    let draft = |topic: &str| load.at(topic, |_| load.first());
    let guarded = |guard: &str, topic: &str| {
        let draft = draft(topic);
        let text = format!("{guard} {}", draft.text);
        Draft { text, active: 0x0ff0_3c3c, predicate: 0x3333_ff00, ..draft }
    };
    vec![
        guarded("@P1", "guard and active mask"),
        guarded("@!P1", "negated guard and active mask"),
        Draft { active: 0, ..load.at("no lane is active", |_| load.nowhere()[0]) },
    ]
}

/// The high part, which ends with the window; adjacent parts in a small window.
fn local_parts(load: &Load) -> Vec<Draft> {
    let bytes = load.bytes();
    let high = load.at("lanes in the low and the high part", |lane| {
        if lane % 2 == 0 { 0 } else { LOCAL_END - bytes }
    });
    let before = load.at("lanes before the high part", |lane| {
        LOCAL_END - (load.room() + bytes).next_multiple_of(bytes) + bytes * (lane % 3)
    });
    let touching =
        load.at("the parts touch", |lane| [0, 8, 16, 32][lane as usize % 4] & !(bytes - 1));
    let local = json!({
        "bytes_per_lane": 11, "hex": bytes_of(13, 11 * 32),
        "high": {"bytes_per_lane": 21, "hex": bytes_of(14, 21 * 32)},
    });
    let windows = json!({"local": {"base": hex(0x10), "size": hex(32)}});
    let touching = Draft { memory: json!({"local": local}), windows: Some(windows), ..touching };
    vec![high, before, touching]
}

fn banks(load: &Load) -> Vec<Draft> {
    let bank = |topic: &str, bank: &str| {
        let draft = load.at(topic, |lane| load.bytes() * (lane % 3));
        Draft { text: draft.text.replace("c[0x3]", bank), ..draft }
    };
    let negative = load.text("R4", "-0x8");
    vec![
        bank("another bank", "c[0x0]"),
        bank("the last bank", "c[0x1f]"),
        bank("a bank that is empty", "c[0x11]"),
        bank("a bank that is not there", "c[0x4]"),
        Draft::new(
            "a negative offset without a base wraps",
            negative,
            memory(load.opcode, load.room()),
        ),
    ]
}

/// Loads with the hint that all lanes have one address.
fn uniform(load: &Load) -> Vec<Draft> {
    let (first, bytes) = (load.first(), load.bytes());
    let second = first + bytes;
    vec![
        load.at("one address is broadcast", |_| second),
        Draft {
            is_reporting: true,
            ..load.at("one rounded address is broadcast", |lane| second + lane % bytes)
        },
        load.at("one lane elsewhere diverges", except(9, first, second)),
        load.at("one lane outside diverges", except(31, load.nowhere()[1], second)),
        load.at("one address that is not allocated diverges", |_| load.nowhere()[1]),
        Draft {
            active: 1 << 9,
            ..load.at("one active lane is broadcast", except(9, second, load.nowhere()[1]))
        },
    ]
}

/// `LDS.U`: the hint has no observable effect, whether the lanes have one address or not.
fn hinted(load: &Load) -> Vec<Draft> {
    let first = load.first();
    let second = first + load.bytes();
    vec![
        load.at("one address with .U", |_| second),
        load.at("two addresses with .U", except(9, first, second)),
        load.at("one lane outside with .U", except(31, load.nowhere()[1], second)),
        Draft {
            active: 1 << 9,
            ..load.at("one active lane with .U", except(9, second, load.nowhere()[1]))
        },
    ]
}

/// No cache operator changes a value.
fn cache_operators() -> Vec<Draft> {
    let load = |opcode| Load { opcode, size: Size::B32, uniform: false, extended: false };
    let of = |opcode, mnemonic: &str, operators: &[&str]| -> Vec<Draft> {
        let load = load(opcode);
        let draft = load.at("cache operator", |_| load.first());
        let text = |operator| draft.text.replace(mnemonic, &format!("{mnemonic}.{operator}"));
        operators.iter().map(|operator| Draft { text: text(operator), ..draft.clone() }).collect()
    };
    let mut drafts = of(Opcode::Ldg, "LDG", &["CG", "CI", "CV"]);
    drafts.extend(of(Opcode::Ldl, "LDL", &["LU", "CI", "CV"]));
    drafts
}

/// The last bytes of the address space, and those above: not allocated, but not outside a window.
fn address_bits() -> Vec<Draft> {
    [32, 40, 49, 63]
        .into_iter()
        .map(|bits| {
            let top = 1u64 << bits;
            let memory = json!({"global": [{
                "base": hex(top - 16), "hex": bytes_of(15, 16),
            }]});
            let windows = json!({
                "shared": {"base": hex(0x20), "size": hex(0x20)},
                "local": {"base": hex(0x40), "size": hex(0x20)},
            });
            let topic = format!("the end of {bits} address bits");
            let draft = Draft::new(&topic, "LDG.E.64 R4, [R2-0x8]".to_owned(), memory);
            let base = std::array::from_fn(|lane| top - 8 + 8 * (lane as u64 % 4));
            Draft { windows: Some(windows), address_bits: bits, base, ..draft }
        })
        .collect()
}

/// Without a base, 0xfffff8 is not -8.
fn unsigned_offsets() -> Vec<Draft> {
    let memory = json!({"global": [{"base": hex(0xff_fff0), "hex": bytes_of(16, 16)}]});
    let draft = |text: &str, register_limit| Draft {
        register_limit,
        ..Draft::new("the offset is unsigned", text.to_owned(), memory.clone())
    };
    vec![
        draft("LDG.64 R4, [0xfffff8]", 255),
        draft("LDG.E.64 R4, [0xfffff8]", 255),
        draft("LDG.64 R4, [R8-0x8]", 8),
    ]
}
