//! [`NameMap`], maps from names of a module.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// A map from names of a module.
pub(crate) type NameMap<K, V> = HashMap<K, V, NameHash>;

/// Hashes names in a few cycles, which the hash of the standard library, made for any keys, does not.
/// Names come from untrusted files, which cannot choose names that collide: the secret numbers are
/// drawn when the program starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHash([u64; 2]);

impl Default for NameHash {
    fn default() -> Self {
        static SEEDS: LazyLock<[u64; 2]> = LazyLock::new(|| {
            let random = RandomState::new();
            // Odd, or a product with it may be zero.
            [random.hash_one(0), random.hash_one(1) | 1]
        });
        Self(*SEEDS)
    }
}

impl BuildHasher for NameHash {
    type Hasher = NameHasher;

    fn build_hasher(&self) -> NameHasher {
        NameHasher { state: self.0[0], factor: self.0[1] }
    }
}

/// Multiplies eight bytes at a time by a secret number, and folds the halves of the product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHasher {
    state: u64,
    factor: u64,
}

impl NameHasher {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        self.state = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        // With the length, so that zeros at the end count.
        let mut last = bytes.len() as u64;
        for byte in rest {
            last = last << 8 | u64::from(*byte);
        }
        self.add(last);
    }

    /// The end of a text, which its length has said.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.state
    }
}
