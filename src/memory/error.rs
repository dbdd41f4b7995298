//! [`ConfigError`]: an invalid configuration of a machine.

use super::windows::{Space, Window};

/// An invalid machine configuration. Addresses and sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The register limit is not 1..=255.
    #[error("register_limit is {register_limit}; expected 1..=255")]
    RegisterLimit {
        /// The limit given.
        register_limit: u64,
    },
    /// The address width is not 32..=64.
    #[error("address_bits is {address_bits}; expected 32..=64")]
    AddressBits {
        /// The width given.
        address_bits: u32,
    },
    /// A window of size 0.
    #[error("the {space} window is empty; expected a size above 0")]
    EmptyWindow {
        /// The window's memory.
        space: Space,
    },
    /// A window whose base or size is not a multiple of 16.
    #[error(
        "the {space} window (base {:#x}, size {:#x}) is not aligned; expected multiples of 16",
        window.base, window.size
    )]
    MisalignedWindow {
        /// The window's memory.
        space: Space,
        /// The window.
        window: Window,
    },
    /// A window that extends beyond the address space.
    #[error(
        "the {space} window (base {:#x}, size {:#x}) reaches beyond 2^{address_bits}",
        window.base, window.size
    )]
    WindowBeyondAddressBits {
        /// The window's memory.
        space: Space,
        /// The window.
        window: Window,
        /// The width of an address.
        address_bits: u32,
    },
    /// The windows overlap.
    #[error(
        "the shared window (base {:#x}, size {:#x}) and the local window (base {:#x}, size \
         {:#x}) overlap",
        shared.base, shared.size, local.base, local.size
    )]
    WindowsOverlap {
        /// The shared window.
        shared: Window,
        /// The local window.
        local: Window,
    },
    /// A global allocation that extends beyond the address space.
    #[error("the allocation (base {base:#x}, size {size:#x}) reaches beyond 2^{address_bits}")]
    AllocationBeyondAddressBits {
        /// The allocation's first address.
        base: u64,
        /// Its size.
        size: u64,
        /// The width of an address.
        address_bits: u32,
    },
    /// A global allocation inside a window.
    #[error("the allocation (base {base:#x}, size {size:#x}) overlaps the {space} window")]
    AllocationInWindow {
        /// The allocation's first address.
        base: u64,
        /// Its size.
        size: u64,
        /// The window's memory.
        space: Space,
    },
    /// Two global allocations that overlap.
    #[error("the allocations at {first:#x} and {second:#x} overlap")]
    AllocationsOverlap {
        /// The base of the lower one.
        first: u64,
        /// The base of the higher one.
        second: u64,
    },
    /// Shared memory larger than its window.
    #[error("shared memory (size {size:#x}) is larger than its window (size {window_size:#x})")]
    SharedTooLarge {
        /// The memory's size.
        size: u64,
        /// The window's size.
        window_size: u64,
    },
    /// Shared memory that is set a second time.
    #[error("shared memory is set twice")]
    SharedTwice,
    /// The low part of local memory that is set a second time.
    #[error("the low part of local memory is set twice")]
    LocalLowTwice,
    /// The high part of local memory that is set a second time.
    #[error("the high part of local memory is set twice")]
    LocalHighTwice,
    /// A lane's local memory, both parts together, larger than its window.
    #[error(
        "a lane's local memory (sizes {low:#x} and {high:#x}) is larger than its window (size \
         {window_size:#x})"
    )]
    LocalTooLarge {
        /// The low part's size.
        low: u64,
        /// The high part's size.
        high: u64,
        /// The window's size.
        window_size: u64,
    },
    /// Local memory that is not 32 times the size per lane.
    #[error(
        "local memory with bytes_per_lane {bytes_per_lane} needs 32 times that, {} bytes; its size is \
         {size}",
        *bytes_per_lane as u128 * 32
    )]
    LocalNotThirtyTwoLanes {
        /// The size per lane.
        bytes_per_lane: u64,
        /// The size given for all lanes together.
        size: u64,
    },
    /// A constant bank number above 31.
    #[error("there is no constant bank {bank}; expected 0..=31")]
    ConstantBank {
        /// The number given.
        bank: u64,
    },
    /// Two constant banks with the same number.
    #[error("constant bank {bank} is given twice")]
    ConstantBankTwice {
        /// The bank.
        bank: u8,
    },
    /// A constant bank of more than 64 KiB.
    #[error("constant bank {bank} has {size} bytes; expected at most 65536")]
    ConstantTooLarge {
        /// The bank.
        bank: u8,
        /// Its size.
        size: u64,
    },
    /// A region that is not inside the arena.
    #[error("bytes {start}..{end} lie outside the arena (size {arena})")]
    OutsideArena {
        /// The region's first byte.
        start: u128,
        /// The byte after its last.
        end: u128,
        /// The size of the arena in bytes.
        arena: u64,
    },
}
