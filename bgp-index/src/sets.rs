//! Sets of attributes, each stored once however many paths use it.

use std::collections::hash_map::RandomState;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::mem::size_of;

const NONE: u32 = u32::MAX;

struct Slot {
    /// Empty where the slot is free.
    bytes: Box<[u8]>,
    /// The number of paths that use it.
    used: u32,
    /// The next one with the same hash, or the next free one.
    next: u32,
}

/// The cost of a set besides its bytes: its slot, its place in the hash, and the allocator's overhead.
const BESIDE: usize = size_of::<Slot>() + 2 * size_of::<(u64, u32)>() + 16;

pub struct Sets {
    slots: Vec<Slot>,
    /// The first of each hash.
    heads: HashMap<u64, u32>,
    free: u32,
    len: usize,
    bytes: usize,
    /// Private to this table: a neighbor must not be able to choose sets that share a place.
    hashing: RandomState,
}

impl Sets {
    pub fn new() -> Sets {
        Sets { slots: Vec::new(), heads: HashMap::new(), free: NONE, len: 0, bytes: 0, hashing: RandomState::new() }
    }

    /// The number of distinct sets.
    pub fn len(&self) -> usize {
        self.len
    }

    /// One more than the highest number of a set.
    pub fn end(&self) -> usize {
        self.slots.len()
    }

    /// Their approximate memory.
    pub fn memory_bytes(&self) -> usize {
        self.bytes + self.slots.len() * BESIDE
    }

    pub fn bytes(&self, set: u32) -> &[u8] {
        &self.slots[set as usize].bytes
    }

    /// The number of the set with these bytes, with one more use.
    pub fn take(&mut self, bytes: &[u8]) -> u32 {
        let hash = self.hash(bytes);
        let head = self.heads.get(&hash).copied().unwrap_or(NONE);
        let mut at = head;
        while at != NONE {
            let slot = &mut self.slots[at as usize];
            if *slot.bytes == *bytes {
                slot.used += 1;
                return at;
            }
            at = slot.next;
        }
        let slot = Slot { bytes: bytes.into(), used: 1, next: head };
        let at = if self.free == NONE {
            // A vector that doubles holds three times its content for a moment: growing by a quarter is enough.
            if self.slots.len() == self.slots.capacity() {
                self.slots.reserve_exact(self.slots.len() / 4 + 64);
            }
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        } else {
            let at = self.free;
            self.free = self.slots[at as usize].next;
            self.slots[at as usize] = slot;
            at
        };
        self.heads.insert(hash, at);
        self.len += 1;
        self.bytes += bytes.len();
        at
    }

    /// One use less; a set without uses is removed.
    pub fn release(&mut self, set: u32) {
        let slot = &mut self.slots[set as usize];
        slot.used -= 1;
        if slot.used > 0 {
            return;
        }
        let (bytes, next) = (std::mem::take(&mut slot.bytes), slot.next);
        slot.next = self.free;
        self.free = set;
        self.len -= 1;
        self.bytes -= bytes.len();
        let hash = self.hash(&bytes);
        let head = self.heads.get(&hash).copied().unwrap_or(NONE);
        if head != set {
            let mut at = head;
            while self.slots[at as usize].next != set {
                at = self.slots[at as usize].next;
            }
            self.slots[at as usize].next = next;
        } else if next == NONE {
            self.heads.remove(&hash);
        } else {
            self.heads.insert(hash, next);
        }
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hasher = self.hashing.build_hasher();
        hasher.write(bytes);
        // Sets that share a hash are rare; tests make them common.
        hasher.finish() & if cfg!(test) { 0xff } else { u64::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_set_is_held_once_as_long_as_somebody_uses_it() {
        let mut sets = Sets::new();
        let mut random = Random(1);
        let mut model: HashMap<Vec<u8>, (u32, u32)> = HashMap::new();
        for _ in 0..100_000 {
            let bytes = (random.below(2000) as u16).to_be_bytes().to_vec();
            if random.below(2) == 0 {
                let set = sets.take(&bytes);
                let known = model.entry(bytes.clone()).or_insert((set, 0));
                assert_eq!(known.0, set);
                known.1 += 1;
            } else if let Some((set, used)) = model.get_mut(&bytes) {
                sets.release(*set);
                *used -= 1;
                if *used == 0 {
                    model.remove(&bytes);
                }
            }
        }
        assert!(model.len() > 500 && sets.len() == model.len());
        assert_eq!(sets.bytes, 2 * model.len());
        for (bytes, (set, used)) in model {
            assert_eq!(sets.bytes(set), bytes);
            (0..used).for_each(|_| sets.release(set));
        }
        assert_eq!((sets.len(), sets.bytes, sets.heads.len()), (0, 0, 0));
    }
}
