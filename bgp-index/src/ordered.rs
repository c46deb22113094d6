//! Paths in the order of their keys: sorted chunks, of which the last grows while bgpd sends its table in order.
//!
//! A full chunk is split in two, and small ones are joined: an entry is found in two binary searches, and a walk over
//! all entries is as fast as memory can be read.

use std::mem::size_of;

const FULL: usize = 512;
const SMALL: usize = FULL / 4;
/// Two joined chunks leave room for later entries.
const JOINED: usize = FULL / 4 * 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<K> {
    pub key: K,
    /// The number of its set of attributes.
    pub set: u32,
    /// When it was received, in seconds since 1970; 0 where that is not known.
    pub received_s: u32,
}

/// No chunk is empty.
pub struct Ordered<K> {
    chunks: Vec<Vec<Entry<K>>>,
    len: usize,
}

impl<K: Copy + Ord> Ordered<K> {
    pub fn new() -> Ordered<K> {
        Ordered { chunks: Vec::new(), len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The memory of the chunks.
    pub fn bytes(&self) -> usize {
        self.chunks.len() * (FULL * size_of::<Entry<K>>() + size_of::<Vec<Entry<K>>>())
    }

    /// The first chunk that may hold the key, and the position in it where the key is or would be.
    fn place(&self, key: K) -> (usize, Result<usize, usize>) {
        let at = self.chunks.partition_point(|chunk| chunk[chunk.len() - 1].key < key);
        let within = self.chunks.get(at).map_or(Err(0), |chunk| chunk.binary_search_by_key(&key, |entry| entry.key));
        (at, within)
    }

    pub fn get(&self, key: K) -> Option<&Entry<K>> {
        match self.place(key) {
            (at, Ok(within)) => Some(&self.chunks[at][within]),
            _ => None,
        }
    }

    /// Inserts it in the order of the keys; returns the entry that it replaces.
    pub fn put(&mut self, entry: Entry<K>) -> Option<Entry<K>> {
        match self.place(entry.key) {
            (at, Ok(within)) => return Some(std::mem::replace(&mut self.chunks[at][within], entry)),
            (at, Err(_)) if at == self.chunks.len() => match self.chunks.last_mut() {
                Some(last) if last.len() < FULL => last.push(entry),
                _ => {
                    self.chunks.push(Vec::with_capacity(FULL));
                    self.chunks[at].push(entry);
                }
            },
            (at, Err(within)) if self.chunks[at].len() < FULL => self.chunks[at].insert(within, entry),
            (at, Err(within)) => {
                let mut upper = Vec::with_capacity(FULL);
                upper.extend_from_slice(&self.chunks[at][FULL / 2..]);
                self.chunks[at].truncate(FULL / 2);
                if within <= FULL / 2 {
                    self.chunks[at].insert(within, entry);
                } else {
                    upper.insert(within - FULL / 2, entry);
                }
                self.chunks.insert(at + 1, upper);
            }
        }
        self.len += 1;
        None
    }

    pub fn remove(&mut self, key: K) -> Option<Entry<K>> {
        let (at, within) = match self.place(key) {
            (at, Ok(within)) => (at, within),
            _ => return None,
        };
        let removed = self.chunks[at].remove(within);
        self.len -= 1;
        if self.chunks[at].is_empty() {
            self.chunks.remove(at);
        } else if self.chunks[at].len() < SMALL {
            for lower in [at, at.wrapping_sub(1)] {
                let both = [lower, lower.wrapping_add(1)].map(|at| self.chunks.get(at).map_or(FULL, Vec::len));
                if both[0] + both[1] <= JOINED {
                    let upper = self.chunks.remove(lower + 1);
                    self.chunks[lower].extend_from_slice(&upper);
                    break;
                }
            }
        }
        Some(removed)
    }

    /// Removes the entries for which `stays` is false.
    pub fn retain(&mut self, mut stays: impl FnMut(&Entry<K>) -> bool) {
        self.len = 0;
        for mut chunk in std::mem::take(&mut self.chunks) {
            chunk.retain(&mut stays);
            self.len += chunk.len();
            match self.chunks.last_mut() {
                _ if chunk.is_empty() => {}
                Some(last) if last.len() + chunk.len() <= JOINED => last.extend_from_slice(&chunk),
                _ => self.chunks.push(chunk),
            }
        }
    }

    /// The entries of all keys from `first` to `last`, in order, as slices.
    pub fn range(&self, first: K, last: K) -> impl Iterator<Item = &[Entry<K>]> {
        let (at, within) = self.place(first);
        let skipped = within.unwrap_or_else(|at| at);
        let chunks = self.chunks.get(at..).unwrap_or_default();
        chunks.iter().enumerate().map_while(move |(number, chunk)| {
            let start = if number == 0 { skipped } else { 0 };
            if chunk[start].key > last {
                return None;
            }
            let end = match chunk[chunk.len() - 1].key <= last {
                true => chunk.len(),
                false => chunk.partition_point(|entry| entry.key <= last),
            };
            Some(&chunk[start..end])
        })
    }

    pub fn all(&self) -> impl Iterator<Item = &Entry<K>> {
        self.chunks.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeMap;

    fn entry(key: u64, set: u32) -> Entry<u64> {
        Entry { key, set, received_s: 0 }
    }

    #[test]
    fn an_entry_is_no_larger_than_the_documentation_says() {
        assert_eq!((size_of::<Entry<u64>>(), size_of::<Entry<crate::prefix::V6Key>>()), (16, 28));
    }

    #[test]
    fn what_comes_in_order_fills_its_chunks() {
        let mut ordered = Ordered::new();
        for key in 0..100 * FULL as u64 {
            assert_eq!(ordered.put(entry(key, 1)), None);
        }
        assert_eq!(ordered.chunks.len(), 100);
        ordered.retain(|entry| entry.key % 100 == 0);
        assert_eq!((ordered.len(), ordered.chunks.len()), (FULL, 2));
    }

    #[test]
    fn it_holds_what_a_plain_map_holds_through_a_long_random_walk() {
        for (seed, keys) in [(1, 300), (2, 5_000), (3, 40_000)] {
            let mut random = Random(seed);
            let mut ordered = Ordered::new();
            let mut model: BTreeMap<u64, u32> = BTreeMap::new();
            for step in 0..100_000 {
                let key = random.below(keys) as u64;
                // Mostly growing, then mostly shrinking, in turns.
                if random.below(10) < if step / 20_000 % 2 == 0 { 7 } else { 3 } {
                    let before = ordered.put(entry(key, step)).map(|entry| entry.set);
                    assert_eq!(before, model.insert(key, step));
                } else {
                    assert_eq!(ordered.remove(key).map(|entry| entry.set), model.remove(&key));
                }
                if step % 1000 == 0 {
                    let (from, to) = (random.below(keys) as u64, random.below(keys) as u64);
                    let found: Vec<u64> = ordered.range(from, to).flatten().map(|entry| entry.key).collect();
                    let expected: Vec<u64> = model.keys().copied().filter(|key| (from..=to).contains(key)).collect();
                    assert_eq!(found, expected);
                    assert_eq!(ordered.get(from).map(|entry| entry.set), model.get(&from).copied());
                }
                if step % 33_000 == 32_999 {
                    ordered.retain(|entry| entry.key % 3 != 0);
                    model.retain(|key, _| key % 3 != 0);
                }
                assert_eq!(ordered.len(), model.len());
            }
            assert!(ordered.all().map(|entry| (entry.key, entry.set)).eq(model));
            assert!(ordered.chunks.iter().all(|chunk| !chunk.is_empty() && chunk.len() <= FULL));
        }
    }
}
