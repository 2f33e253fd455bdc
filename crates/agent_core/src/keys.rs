//! Tables by a toolkit's own keys for nodes. Neither an agent nor a user chooses those, so their
//! hash need not withstand anybody, and may be a cheap one.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasherDefault, Hasher},
};

pub(crate) type KeyMap<K, V> = HashMap<K, V, BuildHasherDefault<KeyHasher>>;
pub(crate) type KeySet<K> = HashSet<K, BuildHasherDefault<KeyHasher>>;

#[derive(Clone, Copy, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    /// The product's best bits are the high ones; a table takes some from both ends.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
