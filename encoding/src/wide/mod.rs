//! The loads of SM 7.0 to 12.x: words of 128 bits.
//!
//! - `layout/` is **the table** of fields, `values/` the names of their values;
//! - `form.rs` lists the forms: which opcode has which layout on which SMs, and how it is written;
//! - `plan.rs` works out where the fields are, `decode.rs` what is refused;
//! - `write.rs` and `read.rs` are the text, `parts.rs` what a load means.
//!
//! To add an instruction: its rows, and a row in the list of forms.

mod addresses;
mod decode;
mod fit;
mod form;
mod hidden;
// One row a line.
#[rustfmt::skip]
mod layout;
mod modifiers;
mod operand_text;
mod parts;
mod plan;
mod read;
mod reading;
mod row;
mod tail;
mod tensor;
mod values;
mod write;
mod write_address;

pub use self::addresses::Addresses128;
pub use self::decode::{Decoded128, Instruction128, Refusal};
pub use self::hidden::HiddenDescriptor;
pub use self::modifiers::Modifiers128;
pub(crate) use self::operand_text::uniform_named;
pub use self::read::{ParsedLine128, parse_line_128, parse_line_128_like, parse_opcode_128};
pub use self::reading::FieldReading128;
pub use self::tail::Annotations128;
pub use self::tensor::{TensorParts128, TensorReduction128, TensorShape128, TensorType128};
