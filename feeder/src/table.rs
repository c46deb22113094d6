//! One family's routes: entries in a vector, found by prefix through a hash of their positions.
//!
//! An IPv4 entry takes 16 bytes and an IPv6 one 28, and 5 to 11 more in the hash.

use crate::nexthop::GroupId;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// zebra wants it in the FIB.
pub const WANTED: u8 = 1;
/// It is in the queue.
pub const QUEUED: u8 = 2;
/// VPP has it, in this form or an older one.
pub const GIVEN: u8 = 4;
/// zebra has not sent it since it came back.
pub const STALE: u8 = 8;
/// VPP refused it in this form.
pub const REFUSED: u8 = 16;
/// None of its next hops leads anywhere yet.
pub const WAITING: u8 = 32;
/// VPP has not answered yet; changes in the meantime are sent afterwards.
pub const IN_FLIGHT: u8 = 64;
/// It changed while it was in flight.
pub const CHANGED: u8 = 128;
/// VPP has no room for it: both bits at once, as a byte has no more.
pub const HELD: u8 = REFUSED | WAITING;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
pub struct Entry<A> {
    pub address: A,
    /// The next free entry, if this one is free.
    pub group: GroupId,
    pub table: u16,
    pub length: u8,
    pub flags: u8,
    /// The protocol of the route in zebra (RTPROT_*).
    pub protocol: u8,
}

pub trait Address: Copy + Eq {
    fn words(self) -> (u64, u64);
}

impl Address for [u8; 4] {
    fn words(self) -> (u64, u64) {
        (u64::from(u32::from_ne_bytes(self)), 0)
    }
}

impl Address for [u8; 16] {
    fn words(self) -> (u64, u64) {
        let number = u128::from_ne_bytes(self);
        (number as u64, (number >> 64) as u64)
    }
}

/// Routes of one family. `table` numbers are the RIB's own, not VPP's.
pub struct Table<A> {
    entries: Vec<Entry<A>>,
    slots: Vec<u32>,
    used: usize,
    free: u32,
    /// Private to this table: a speaker that announces prefixes must not be able to choose ones that share a slot.
    seeds: [u64; 3],
    /// Grows with every entry that is added or removed.
    pub changes: u64,
}

impl<A: Address> Table<A> {
    pub fn new() -> Table<A> {
        Table { entries: Vec::new(), slots: vec![NONE; 16], used: 0, free: NONE, seeds: seeds(), changes: 0 }
    }

    /// The number of routes.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.used
    }

    pub fn entry(&self, at: u32) -> &Entry<A> {
        &self.entries[at as usize]
    }

    pub fn entry_mut(&mut self, at: u32) -> &mut Entry<A> {
        &mut self.entries[at as usize]
    }

    /// The positions of all entries; free ones have no flags.
    pub fn positions(&self) -> std::ops::Range<u32> {
        0..self.entries.len() as u32
    }

    pub fn find(&self, table: u16, address: A, length: u8) -> Option<u32> {
        let mut slot = self.home(table, address, length);
        loop {
            let at = self.slots[slot];
            if at == NONE {
                return None;
            }
            let entry = &self.entries[at as usize];
            if entry.address == address && entry.length == length && entry.table == table {
                return Some(at);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// The position of the prefix, created without flags if it did not exist; and whether it was created.
    pub fn find_or_add(&mut self, table: u16, address: A, length: u8) -> (u32, bool) {
        if let Some(at) = self.find(table, address, length) {
            return (at, false);
        }
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let entry = Entry { address, group: 0, table, length, flags: 0, protocol: 0 };
        let at = if self.free == NONE {
            // A vector that doubles holds three times its content for a moment: growing by a quarter is enough.
            if self.entries.len() == self.entries.capacity() {
                self.entries.reserve_exact(self.entries.len() / 4 + 1024);
            }
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        } else {
            let at = self.free;
            self.free = self.entries[at as usize].group;
            self.entries[at as usize] = entry;
            at
        };
        self.used += 1;
        self.changes += 1;
        self.place(at);
        (at, true)
    }

    /// Removes an entry; its position may be given to another.
    pub fn remove(&mut self, at: u32) {
        let Entry { table, address, length, .. } = self.entries[at as usize];
        let mask = self.slots.len() - 1;
        let mut hole = self.home(table, address, length);
        while self.slots[hole] != at {
            hole = (hole + 1) & mask;
        }
        // The following entries move up, as far as they may be there: no tombstones are left.
        let mut next = (hole + 1) & mask;
        while self.slots[next] != NONE {
            let entry = &self.entries[self.slots[next] as usize];
            let home = self.home(entry.table, entry.address, entry.length);
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(hole) & mask) {
                self.slots[hole] = self.slots[next];
                hole = next;
            }
            next = (next + 1) & mask;
        }
        self.slots[hole] = NONE;
        let entry = &mut self.entries[at as usize];
        entry.flags = 0;
        entry.group = self.free;
        self.free = at;
        self.used -= 1;
        self.changes += 1;
        if self.used == 0 {
            *self = Table { changes: self.changes, ..Table::new() };
        }
    }

    fn home(&self, table: u16, address: A, length: u8) -> usize {
        let (low, high) = address.words();
        let address = mixed(mixed(low ^ self.seeds[0]) ^ high ^ self.seeds[1]);
        mixed(address ^ u64::from(table) << 8 ^ u64::from(length) ^ self.seeds[2]) as usize & (self.slots.len() - 1)
    }

    fn place(&mut self, at: u32) {
        let Entry { table, address, length, .. } = self.entries[at as usize];
        let mut slot = self.home(table, address, length);
        while self.slots[slot] != NONE {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = at;
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![NONE; old.len() * 2];
        for at in old {
            if at != NONE {
                self.place(at);
            }
        }
    }
}

/// Each bit depends on each of the number's (the finalizer of MurmurHash3).
fn mixed(mut number: u64) -> u64 {
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        number = (number ^ number >> 33).wrapping_mul(factor);
    }
    number ^ number >> 33
}

fn seeds() -> [u64; 3] {
    let random = || RandomState::new().build_hasher().finish();
    [random(), random(), random()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// The longest distance from a route's slot to its actual position.
    fn longest_way<A: Address>(table: &Table<A>) -> usize {
        let mask = table.slots.len() - 1;
        let way = |slot: usize| {
            let entry = table.entry(table.slots[slot]);
            slot.wrapping_sub(table.home(entry.table, entry.address, entry.length)) & mask
        };
        (0..table.slots.len()).filter(|slot| table.slots[*slot] != NONE).map(way).max().unwrap_or(0)
    }

    #[test]
    fn one_prefix_in_many_tables_does_not_crowd_one_slot() {
        let mut table: Table<[u8; 4]> = Table::new();
        for number in 0..20_000 {
            table.find_or_add(number, [10, 0, 0, 0], 8);
        }
        assert!(longest_way(&table) < 400, "{}", longest_way(&table));
    }

    #[test]
    fn prefixes_that_differ_only_in_the_high_bits_of_their_words_do_not_crowd_one_slot() {
        let mut table: Table<[u8; 16]> = Table::new();
        for number in 0..20_000u16 {
            let mut address = [0x20; 16];
            address[6..8].copy_from_slice(&number.to_be_bytes());
            table.find_or_add(0, address, 64);
        }
        assert!(longest_way(&table) < 400, "{}", longest_way(&table));
    }

    #[test]
    fn it_holds_what_a_plain_map_holds_through_a_long_random_walk() {
        let mut table: Table<[u8; 4]> = Table::new();
        let mut model: HashMap<([u8; 4], u8, u16), u32> = HashMap::new();
        let mut state: u64 = 42;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32
        };
        for step in 0..300_000u32 {
            let key = ([10, 0, (random() % 40) as u8, (random() % 200) as u8], 24 + (random() % 3) as u8, 0);
            if random() % 5 < 3 {
                let (at, made) = table.find_or_add(key.2, key.0, key.1);
                assert_eq!(made, !model.contains_key(&key));
                table.entry_mut(at).group = step;
                table.entry_mut(at).flags = WANTED;
                model.insert(key, step);
            } else {
                let found = table.find(key.2, key.0, key.1);
                assert_eq!(found.is_some(), model.contains_key(&key));
                if let Some(at) = found {
                    table.remove(at);
                    model.remove(&key);
                }
            }
            assert_eq!(table.len(), model.len());
        }
        for (key, group) in &model {
            let at = table.find(key.2, key.0, key.1).expect("it is there");
            assert_eq!(table.entry(at).group, *group);
        }
        let living = table.positions().filter(|at| table.entry(*at).flags != 0).count();
        assert_eq!(living, model.len());
    }

    #[test]
    fn the_same_prefix_in_another_table_or_of_another_length_is_another_route() {
        let mut table: Table<[u8; 16]> = Table::new();
        let (first, _) = table.find_or_add(0, [1; 16], 64);
        let (second, _) = table.find_or_add(1, [1; 16], 64);
        let (third, _) = table.find_or_add(0, [1; 16], 65);
        assert!(first != second && second != third && first != third);
        table.remove(second);
        assert_eq!(table.find(1, [1; 16], 64), None);
        assert_eq!(table.find(0, [1; 16], 64), Some(first));
    }

    #[test]
    fn an_entry_is_no_larger_than_the_documentation_says() {
        assert_eq!(std::mem::size_of::<Entry<[u8; 4]>>(), 16);
        assert_eq!(std::mem::size_of::<Entry<[u8; 16]>>(), 28);
    }
}
