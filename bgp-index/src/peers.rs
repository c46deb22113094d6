//! The neighbors that bgpd reports, by the number that the keys of paths contain.

use crate::attributes::Origin;
use crate::bmp::PerPeer;
use crate::open::Open;
use crate::prefix::address_text;
use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Fewer than the available numbers: bgpd has some hundreds at most.
const MOST: usize = 20_000;
/// bgpd resolves the next hops of a session's paths while it receives them.
const YOUNG: Duration = Duration::from_secs(5);

pub struct Peer {
    v6: bool,
    pub address: [u8; 16],
    pub origin: Origin,
    pub up: bool,
    /// Paths held, of IPv4 and IPv6.
    pub paths: [usize; 2],
    /// The families that both ends speak.
    pub families: [bool; 2],
    /// It was up when bgpd answered, and bgpd sends the end of its routes for it. For one that comes up later it does
    /// not, unless it is still busy with its table.
    pub from_start: bool,
}

impl Peer {
    pub fn name(&self) -> String {
        match self.origin.own {
            true => "self".to_string(),
            false => address_text(self.v6, &self.address),
        }
    }

    pub fn is(&self, v6: bool, address: &[u8; 16]) -> bool {
        !self.origin.own && (self.v6, &self.address) == (v6, address)
    }
}

/// Two links may have the same link-local addresses: the identifier distinguishes them.
type Name = (bool, [u8; 16], Option<[u8; 4]>);

#[derive(Default)]
pub struct Peers {
    peers: Vec<Peer>,
    known: HashMap<Name, u16>,
    own_as: Option<u32>,
    /// When the first session was reported, up or down.
    pub first_told: Option<Instant>,
    /// bgpd has reported which sessions are up; a session reported from now on came up since.
    pub answered: bool,
    /// When a session last came up, or one was reported that had just come up: bgpd may not have all its paths yet.
    pub came_up: Option<Instant>,
}

impl Peers {
    pub fn all(&self) -> &[Peer] {
        &self.peers
    }

    pub fn get(&self, number: u16) -> &Peer {
        &self.peers[usize::from(number)]
    }

    pub fn get_mut(&mut self, number: u16) -> &mut Peer {
        &mut self.peers[usize::from(number)]
    }

    /// The AS of a neighbor, or the router's own, for which bgpd 8.4 reports 0.
    pub fn asn(&self, peer: &Peer) -> u32 {
        match self.own_as {
            Some(own) if peer.origin.own && peer.origin.asn == 0 => own,
            _ => peer.origin.asn,
        }
    }

    /// The approximate memory of their table.
    pub fn memory_bytes(&self) -> usize {
        self.peers.len() * 200
    }

    /// The number of the neighbor that a header names, assigned if it is new; None where there are too many.
    pub fn number(&mut self, told: &PerPeer) -> Option<u16> {
        let name = name(told);
        if let Some(number) = self.known.get(&name) {
            return Some(*number);
        }
        if self.peers.len() >= MOST {
            return None;
        }
        let number = self.peers.len() as u16;
        let origin = Origin { own: told.own, asn: told.asn, id: told.id, own_as: None, two_byte_as: told.two_byte_as };
        // bgpd 8.4 sends no message when the router itself comes up.
        let up = told.own;
        let (v6, address, _) = name;
        self.peers.push(Peer { v6, address, origin, up, paths: [0; 2], families: [false; 2], from_start: false });
        self.known.insert(name, number);
        Some(number)
    }

    /// The neighbor whose session went down: bgpd may have forgotten its identifier by then, so that only the address
    /// is known.
    pub fn gone(&mut self, told: &PerPeer) -> Vec<u16> {
        if self.known.contains_key(&name(told)) {
            return self.number(told).into_iter().collect();
        }
        let all = 0..self.peers.len() as u16;
        let same: Vec<u16> = all.filter(|number| self.get(*number).is(told.v6, &told.address)).collect();
        match same.is_empty() {
            true => self.number(told).into_iter().collect(),
            false => same,
        }
    }

    /// A session came up, with the OPENs of both ends where bgpd knows them.
    pub fn up(&mut self, number: u16, told: &PerPeer, sent: Option<Open>, received: Option<Open>) {
        if let (Some(open), false) = (sent, told.own) {
            self.own_as = Some(open.asn);
        }
        let (own_as, from_start) = (self.own_as, !self.answered);
        if !told.own && (!from_start || is_young(told.seconds)) {
            self.came_up = Some(Instant::now());
        }
        let peer = self.get_mut(number);
        peer.up = true;
        peer.from_start = from_start;
        let wide = |open: Option<Open>| open.map_or(true, |open| open.four_byte_as);
        peer.origin = Origin {
            own: told.own,
            asn: told.asn,
            id: told.id,
            own_as: sent.map(|open| open.asn).or(own_as),
            two_byte_as: told.two_byte_as || !wide(sent) || !wide(received),
        };
        peer.families = match (sent, received) {
            (Some(sent), Some(received)) if !told.own => [0, 1].map(|at| sent.families[at] && received.families[at]),
            _ => [false; 2],
        };
    }

    /// Whether a session that was up from the start, and still is, speaks the family.
    pub fn speak(&self, v6: bool) -> bool {
        self.peers.iter().any(|peer| peer.up && peer.from_start && peer.families[usize::from(v6)])
    }

    /// The rank of each neighbor by the addresses of their names, the router itself first.
    pub fn ranks(&self) -> Vec<u16> {
        let mut order: Vec<u16> = (0..self.peers.len() as u16).collect();
        order.sort_by_key(|number| {
            let peer = self.get(*number);
            (!peer.origin.own, peer.v6, peer.address, peer.origin.id)
        });
        let mut ranks = vec![0; order.len()];
        for (rank, number) in order.into_iter().enumerate() {
            ranks[usize::from(number)] = rank as u16;
        }
        ranks
    }
}

/// Whether a session that came up at this time, by the machine's clock, has only just done so.
fn is_young(seconds: u32) -> bool {
    let since = SystemTime::now().duration_since(UNIX_EPOCH + Duration::from_secs(seconds.into()));
    // A time in the future means that the clock was set back since.
    since.map_or(true, |since| since < YOUNG)
}

fn name(told: &PerPeer) -> Name {
    let link_local = told.v6 && told.address[0] == 0xfe && told.address[1] & 0xc0 == 0x80;
    match told.own {
        true => (false, [0; 16], None),
        false => (told.v6, told.address, Some(told.id).filter(|_| link_local)),
    }
}
