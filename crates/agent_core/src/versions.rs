//! Text versions: a number given out with a text, that differs whenever the text has changed
//! since it was last given out, whoever changed it (rule 6).

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
};

struct Seen {
    stamp: u64,
    hash: u64,
    version: u64,
}

/// The versions given out so far: one counter for the whole surface.
pub struct Versions<K> {
    drawn: u64,
    seen: HashMap<K, Seen>,
    // Seeded for each run, so that nobody can choose two texts that look the same to it.
    hasher: RandomState,
}

impl<K> Default for Versions<K> {
    fn default() -> Self {
        Self {
            drawn: 0,
            seen: HashMap::new(),
            hasher: RandomState::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> Versions<K> {
    /// The version of `node`'s text as it is now: the one last given out if neither the text
    /// nor the backend's `stamp` has moved since, else a new one. `text` is `None` for a secret,
    /// whose version moves by the stamp alone.
    pub fn look(&mut self, node: K, stamp: u64, text: Option<&str>) -> u64 {
        let hash = self.hasher.hash_one(text);
        let drawn = &mut self.drawn;
        let seen = self.seen.entry(node).or_insert(Seen {
            stamp,
            hash,
            version: 0,
        });
        if seen.version == 0 || seen.stamp != stamp || seen.hash != hash {
            *drawn += 1;
            *seen = Seen {
                stamp,
                hash,
                version: *drawn,
            };
        }
        seen.version
    }

    /// Forgets the nodes that are not kept. One that returns gets a new version.
    pub fn retain(&mut self, mut keep: impl FnMut(K) -> bool) {
        self.seen.retain(|node, _| keep(*node));
    }
}

#[cfg(test)]
mod tests {
    use super::Versions;

    #[test]
    fn rule_6_a_version_moves_with_the_text_and_with_the_stamp() {
        let mut versions = Versions::default();
        let first = versions.look('a', 0, Some("x"));
        assert_eq!(versions.look('a', 0, Some("x")), first);
        let other = versions.look('b', 0, Some("x"));
        assert_ne!(other, first);
        let changed = versions.look('a', 0, Some("y"));
        assert!(changed > other);
        // Away and back between two looks: the backend heard of it.
        assert_ne!(versions.look('a', 2, Some("y")), changed);
    }

    #[test]
    fn rule_6_a_node_that_returns_gets_no_old_version() {
        let mut versions = Versions::default();
        let first = versions.look('a', 0, Some("x"));
        versions.retain(|_| false);
        assert!(versions.look('a', 0, Some("x")) > first);
    }

    #[test]
    fn rule_8_a_secrets_version_needs_no_text() {
        let mut versions = Versions::default();
        let first = versions.look('a', 0, None);
        assert_eq!(versions.look('a', 0, None), first);
        assert_ne!(versions.look('a', 1, None), first);
    }
}
