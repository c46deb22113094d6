//! The routes that bgpd reported: paths by prefix and neighbor, with their attributes.

use crate::attributes::write_set;
use crate::bmp::{self, PerPeer};
use crate::open;
use crate::ordered::{Entry, Ordered};
use crate::peers::Peers;
use crate::prefix::{Key, Prefix, V6Key};
use crate::sets::Sets;
use crate::update;
use std::time::Instant;

pub struct Table {
    pub v4: Ordered<u64>,
    pub v6: Ordered<V6Key>,
    pub sets: Sets,
    pub peers: Peers,
    pub limits: Limits,
    /// Some path was dropped for lack of room, since the connection was made.
    pub truncated: bool,
    /// The whole family was reported once: IPv4, IPv6.
    pub told: [bool; 2],
    /// Messages that could not be read, entirely or in part.
    pub malformed: u64,
    /// When the router's own routes were last reported.
    pub own_told: Option<Instant>,
    set: Vec<u8>,
}

#[derive(Clone, Copy)]
pub struct Limits {
    pub paths: usize,
    pub bytes: usize,
}

impl Table {
    pub fn new(limits: Limits) -> Table {
        Table {
            v4: Ordered::new(),
            v6: Ordered::new(),
            sets: Sets::new(),
            peers: Peers::default(),
            limits,
            truncated: false,
            told: [false; 2],
            malformed: 0,
            own_told: None,
            set: Vec::new(),
        }
    }

    pub fn paths(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Its approximate memory.
    pub fn memory_bytes(&self) -> usize {
        self.v4.bytes() + self.v6.bytes() + self.sets.memory_bytes() + self.peers.memory_bytes()
    }

    /// Takes one message of BMP; false where bgpd says that it ends.
    pub fn take(&mut self, kind: u8, body: &[u8]) -> bool {
        self.peers.answered |= kind == bmp::ROUTE_MONITORING;
        match kind {
            bmp::ROUTE_MONITORING | bmp::PEER_UP | bmp::PEER_DOWN => {
                if self.take_of_peer(kind, body).is_none() {
                    self.malformed += 1;
                }
            }
            bmp::TERMINATION => return false,
            _ => {}
        }
        true
    }

    fn take_of_peer(&mut self, kind: u8, body: &[u8]) -> Option<()> {
        let (peer, rest) = bmp::read_peer(body)?;
        let peer = match peer {
            Some(peer) => peer,
            None => return Some(()),
        };
        if kind != bmp::ROUTE_MONITORING {
            self.peers.first_told.get_or_insert_with(Instant::now);
        }
        match kind {
            bmp::PEER_UP => {
                let (sent, received) = bmp::read_opens(rest)?;
                if let Some(number) = self.peers.number(&peer) {
                    // The router's own routes are not reported again.
                    if !peer.own {
                        self.forget(number);
                    }
                    self.peers.up(number, &peer, open::read(sent), open::read(received));
                }
            }
            bmp::PEER_DOWN => {
                for number in self.peers.gone(&peer) {
                    self.forget(number);
                    self.peers.get_mut(number).up = false;
                }
            }
            _ => self.route(&peer, rest)?,
        }
        Some(())
    }

    /// Removes all paths of the neighbor.
    fn forget(&mut self, number: u16) {
        let Table { v4, v6, sets, peers, .. } = self;
        let held = std::mem::take(&mut peers.get_mut(number).paths);
        if held[0] > 0 {
            v4.retain(|entry| stays(entry, number, sets));
        }
        if held[1] > 0 {
            v6.retain(|entry| stays(entry, number, sets));
        }
    }

    fn route(&mut self, peer: &PerPeer, message: &[u8]) -> Option<()> {
        if !peer.post_policy && !peer.own {
            return Some(());
        }
        let update = update::read(message)?;
        if let Some(v6) = update.end_of_rib {
            self.told[usize::from(v6)] = true;
            return Some(());
        }
        let number = match self.peers.number(peer) {
            Some(number) => number,
            None => {
                self.truncated = true;
                return Some(());
            }
        };
        // bgpd may send routes of a closed session that it is about to forget, and then not report their withdrawal.
        if !self.peers.get(number).up {
            return Some(());
        }
        if peer.own {
            self.own_told = Some(Instant::now());
        }
        for prefix in &update.gone {
            self.withdraw(number, prefix);
        }
        let mut written = None;
        let mut set = std::mem::take(&mut self.set);
        for prefix in &update.come {
            if written != Some(prefix.v6) {
                let origin = &self.peers.get(number).origin;
                let raw = update.attributes.as_ref();
                if !raw.map_or(false, |raw| write_set(raw, update.next_hop, prefix.v6, origin, &mut set)) {
                    set.clear();
                }
                written = Some(prefix.v6);
            }
            match set.is_empty() {
                true => self.withdraw(number, prefix),
                false => self.announce(number, prefix, &set, peer.seconds),
            }
        }
        let unreadable = !update.come.is_empty() && set.is_empty();
        self.set = set;
        Some(()).filter(|_| !unreadable)
    }

    fn announce(&mut self, number: u16, prefix: &Prefix, set: &[u8], received_s: u32) {
        let has_room = self.paths() < self.limits.paths && self.memory_bytes() < self.limits.bytes;
        let Table { v4, v6, sets, .. } = self;
        let before = match prefix.v6 {
            false => put(v4, sets, Key::of(prefix, number), set, received_s, has_room),
            true => put(v6, sets, Key::of(prefix, number), set, received_s, has_room),
        };
        let paths = &mut self.peers.get_mut(number).paths[usize::from(prefix.v6)];
        match before {
            Put::New => *paths += 1,
            Put::Changed => {}
            Put::NoRoom => self.truncated = true,
        }
        // Changed entries may have grown: what is stored has to be true, or must not be stored.
        if self.memory_bytes() > self.limits.bytes {
            self.withdraw(number, prefix);
            self.truncated = true;
        }
    }

    fn withdraw(&mut self, number: u16, prefix: &Prefix) {
        let gone = match prefix.v6 {
            false => self.v4.remove(Key::of(prefix, number)).map(|entry| entry.set),
            true => self.v6.remove(Key::of(prefix, number)).map(|entry| entry.set),
        };
        if let Some(set) = gone {
            self.sets.release(set);
            self.peers.get_mut(number).paths[usize::from(prefix.v6)] -= 1;
        }
    }
}

enum Put {
    New,
    Changed,
    NoRoom,
}

fn put<K: Key>(ordered: &mut Ordered<K>, sets: &mut Sets, key: K, set: &[u8], received_s: u32, has_room: bool) -> Put {
    if !has_room && ordered.get(key).is_none() {
        return Put::NoRoom;
    }
    match ordered.put(Entry { key, set: sets.take(set), received_s }) {
        Some(before) => {
            sets.release(before.set);
            Put::Changed
        }
        None => Put::New,
    }
}

/// Whether a path stays when those of a neighbor are removed; if not, its set is released.
fn stays<K: Key>(entry: &Entry<K>, number: u16, sets: &mut Sets) -> bool {
    let stays = entry.key.neighbor() != number;
    if !stays {
        sets.release(entry.set);
    }
    stays
}

/// The number of prefixes.
pub fn prefixes<K: Key>(ordered: &Ordered<K>) -> usize {
    let mut count = 0;
    let mut last = None;
    for entry in ordered.all() {
        let prefix = K::of(&entry.key.prefix(), 0);
        count += usize::from(last != Some(prefix));
        last = Some(prefix);
    }
    count
}
