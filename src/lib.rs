//! Emulates GPU load instructions from their machine code: the generic `LD` and its siblings of Maxwell and Pascal (SM
//! 5.x and 6.x, 64-bit words), and the loads of SM 7.0 to 12.x (128-bit words).
//!
//! - [`encoding`]: words and text to instructions and back. An [`Instruction`](encoding::Instruction) is a load of any
//!   SM.
//! - [`memory`], [`machine`], [`warp`], [`lane`]: the machine that executes an instruction.
//! - [`load`]: the two executors, [`load::execute`] and [`load::reference()`].
//! - [`explain`](mod@explain): an instruction in words.
//! - [`text`]: parsing of decimal and hexadecimal numbers, and escaping of foreign text for a terminal.
//! - `json` (feature `json`): reading JSON with errors that name the key.
//!
//! Other packages read files: cubins and listings (`warpload-binary`), memory traces (`warpload-trace` and
//! `warpload-replay`), PTX (`warpload-ptx`), test vectors and memory images (`warpload-suite`).
//!
//! # Three examples
//!
//! Assembled:
//! ```
//! use warpload::encoding::{Instruction, Sm};
//!
//! let word = |text| Instruction::parse(text, Sm::SPA5).map(|load| load.bits());
//! assert_eq!(word("LD.32 R3, [R1 + 20], P0;")?, 0x8080000001470103);
//! assert_eq!(word("LD.E R0, [R2 + 0x1234];")?, 0x9c90000123470200);
//! assert_eq!(word("LD.U.128 R4, [R1], P1;")?, 0x84e0000000070104);
//! # Ok::<(), warpload::encoding::ParseError>(())
//! ```
//!
//! Explained:
//! ```
//! use warpload::encoding::{Instruction, Sm};
//! use warpload::explain::effect;
//!
//! let decode = |word: u64| Instruction::decode(word, Sm::SPA5).load();
//! let say = |word| decode(word).map(|load| effect(&load)).unwrap_or_default();
//! assert_eq!(
//!     say(0x8080000001470103),
//!     "Every active lane loads 4 bytes from address R1 + 0x14 (local or global memory where P0 \
//!      is true, else shared memory) into R3."
//! );
//! assert_eq!(
//!     say(0x9c90000123470200),
//!     "Every active lane loads 4 bytes from address {R3, R2} + 0x1234 (local or global memory) \
//!      into R0."
//! );
//! assert_eq!(
//!     say(0x84e0000000070104),
//!     "Every active lane loads 16 bytes from address R1 (local or global memory where P1 is \
//!      true, else shared memory) into R4..R7."
//! );
//! let load = decode(0x84e0000000070104).expect("a load");
//! let size = load.describe().find(|reading| reading.name() == "sz").expect("a size");
//! assert_eq!(size.to_string(), "U.128: 16 bytes, four registers, uniform");
//! ```
//!
//! Executed:
//! ```
//! use warpload::encoding::{Instruction, Reg, Sm};
//! use warpload::lane::LANES;
//! use warpload::load::{UniformPath, execute};
//! use warpload::machine::Machine;
//! use warpload::memory::{AddressMap, MemoryBuilder};
//! use warpload::warp::Warp;
//!
//! // Word n of global memory holds n; word n of shared memory holds 0xff00 + n.
//! let words = |first: u32| (first..first + 2048).flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
//! let memory = MemoryBuilder::new(AddressMap::default())
//!     .global(0x1_0000_0000, &words(0))
//!     .shared(&words(0xff00))
//!     .build()?;
//! let machine = Machine::new(memory);
//! let run = |text, warp: &mut Warp| -> Result<_, Box<dyn std::error::Error>> {
//!     Ok(execute(&Instruction::parse(text, Sm::SPA5)?, &machine, warp)?)
//! };
//!
//! // P0 is false: the addresses are shared. Lane n reads word 5 + n.
//! let mut warp = Warp::new();
//! warp.set_register(Reg::new(1), std::array::from_fn(|lane| 0xfe00_0000 + 4 * lane as u32));
//! let outcome = run("LD.32 R3, [R1 + 20], P0", &mut warp)?;
//! assert!(outcome.lane_faults.is_empty());
//! assert_eq!(warp.register(Reg::new(3))[31], 0xff00 + 5 + 31);
//!
//! // Plg is PT: {R3, R2} is 0x1_0000_0000 + 4n, global.
//! warp.set_register(Reg::new(2), std::array::from_fn(|lane| 4 * lane as u32));
//! warp.set_register(Reg::new(3), [1; LANES]);
//! run("LD.E R0, [R2 + 0x1234]", &mut warp)?;
//! assert_eq!(warp.register(Reg::new(0))[2], 0x1234 / 4 + 2);
//!
//! // One shared address for all lanes: one fetch is broadcast.
//! warp.set_register(Reg::new(1), [0xfe00_0010; LANES]);
//! let outcome = run("LD.U.128 R4, [R1], P1", &mut warp)?;
//! assert_eq!(outcome.uniform, Some(UniformPath::Broadcast));
//! assert_eq!([4, 5, 6, 7].map(|r| warp.register(Reg::new(r))[9]), [0xff04, 0xff05, 0xff06, 0xff07]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

pub mod explain;
#[cfg(feature = "json")]
pub mod json;
pub mod lane;
pub mod load;
pub mod machine;
pub mod memory;
#[doc(hidden)]
pub mod simd;
pub mod text;
pub mod warp;

#[doc(hidden)]
pub use self::simd::initialize;
pub use warpload_encoding as encoding;

/// Runs the book's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/book/rust.md")]
struct Book;
