//! Pages of the routes in the order of their prefixes, from an index that is made when a client asks.
//!
//! The table is a hash, so an order has to be computed. Sorting 1,000,000 IPv4 routes occupies the main loop for some
//! 60 ms, so an index serves all questions until routes were added or removed and it is old enough; and it is freed
//! when nobody asks any more.

use crate::nexthop::GroupId;
use crate::rib::{Handle, Rib};
use crate::table::*;
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// An index is used at least this many times as long as it took to make, whatever was added or removed in that time.
const REST: u32 = 20;
const AT_LEAST: Duration = Duration::from_secs(1);
/// Memory is freed when nobody asked for this long.
const UNUSED: Duration = Duration::from_secs(60);

/// The question.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    pub v6: bool,
    /// A table as zebra numbers it; 0 is the main one.
    pub table: u32,
    /// This prefix and longer ones inside it: address and length.
    pub within: Option<([u8; 16], u8)>,
    pub protocol: Option<u8>,
    /// Some path has this gateway: address and its length in bytes.
    pub gateway: Option<([u8; 16], u8)>,
    /// Not in VPP as zebra wants it.
    pub missing: bool,
    pub offset: usize,
    pub limit: usize,
}

/// A page, and the total number of matching routes.
pub struct Page {
    pub total: usize,
    pub age: Duration,
    pub routes: Vec<Handle>,
}

/// The order of one family's routes in one table.
struct Order<K> {
    table: u32,
    keys: Vec<K>,
    changes: u64,
    made: Instant,
    took: Duration,
    used: Instant,
}

#[derive(Default)]
pub struct Listing {
    v4: Option<Order<u64>>,
    v6: Option<Order<(u128, u8, u32)>>,
}

/// An address whose routes can be sorted.
pub trait Ordered: Address {
    type Key: Ord + Copy;
    /// More than any prefix length.
    const ABOVE: u8;
    /// Before all longer prefixes of the same address, and after all lower addresses.
    fn key(self, length: u8, at: u32) -> Self::Key;
    fn position(key: Self::Key) -> u32;
    /// The prefix's last address.
    fn last(self, length: u8) -> Self;
    fn cut(address: &[u8; 16]) -> Self;
}

/// Positions of IPv4 routes fit into the bits of a word that address and length leave free.
const V4_POSITION_BITS: u32 = 26;

impl Ordered for [u8; 4] {
    type Key = u64;
    const ABOVE: u8 = 63;
    fn key(self, length: u8, at: u32) -> u64 {
        u64::from(u32::from_be_bytes(self)) << 32 | u64::from(length) << V4_POSITION_BITS | u64::from(at)
    }
    fn position(key: u64) -> u32 {
        key as u32 & ((1 << V4_POSITION_BITS) - 1)
    }
    fn last(self, length: u8) -> [u8; 4] {
        let host = if length >= 32 { 0 } else { u32::MAX >> length };
        (u32::from_be_bytes(self) | host).to_be_bytes()
    }
    fn cut(address: &[u8; 16]) -> [u8; 4] {
        [address[0], address[1], address[2], address[3]]
    }
}

impl Ordered for [u8; 16] {
    type Key = (u128, u8, u32);
    const ABOVE: u8 = u8::MAX;
    fn key(self, length: u8, at: u32) -> (u128, u8, u32) {
        (u128::from_be_bytes(self), length, at)
    }
    fn position(key: (u128, u8, u32)) -> u32 {
        key.2
    }
    fn last(self, length: u8) -> [u8; 16] {
        let host = if length >= 128 { 0 } else { u128::MAX >> length };
        (u128::from_be_bytes(self) | host).to_be_bytes()
    }
    fn cut(address: &[u8; 16]) -> [u8; 16] {
        *address
    }
}

impl Listing {
    pub fn page(&mut self, rib: &Rib, wanted: &Wanted, now: Instant) -> Page {
        let gateways = wanted.gateway.map(|(address, length)| rib.groups.leading_to(&address, length));
        // Adjacent routes in the order usually have the same group.
        let last = Cell::new((0, gateways.as_ref().map_or(false, |groups| groups.contains(&0))));
        let leads = |groups: &HashSet<GroupId>, group: GroupId| {
            if last.get().0 != group {
                last.set((group, groups.contains(&group)));
            }
            last.get().1
        };
        let chosen = |flags: u8, protocol: u8, group: GroupId| {
            flags & WANTED != 0
                && wanted.protocol.map_or(true, |only| only == protocol)
                && !(wanted.missing && flags & GIVEN != 0 && flags & (QUEUED | HELD | IN_FLIGHT) == 0)
                && gateways.as_ref().map_or(true, |groups| leads(groups, group))
        };
        let (total, age, positions) = match (rib.number_of_table(wanted.table), wanted.v6) {
            (None, _) => (0, Duration::default(), Vec::new()),
            (Some(number), false) => page(&mut self.v4, &rib.v4, number, wanted, now, chosen),
            (Some(number), true) => page(&mut self.v6, &rib.v6, number, wanted, now, chosen),
        };
        let routes = positions.into_iter().map(|at| Handle::new(wanted.v6, at)).collect();
        Page { total, age, routes }
    }

    /// Frees an index that nobody used for a while.
    pub fn forget_unused(&mut self, now: Instant) {
        if self.v4.as_ref().map_or(false, |order| now.duration_since(order.used) > UNUSED) {
            self.v4 = None;
        }
        if self.v6.as_ref().map_or(false, |order| now.duration_since(order.used) > UNUSED) {
            self.v6 = None;
        }
    }
}

fn page<A: Ordered>(
    order: &mut Option<Order<A::Key>>,
    table: &Table<A>,
    number: u16,
    wanted: &Wanted,
    now: Instant,
    chosen: impl Fn(u8, u8, GroupId) -> bool,
) -> (usize, Duration, Vec<u32>) {
    let stands = order.as_ref().map_or(false, |order| {
        let young = now.duration_since(order.made) < AT_LEAST.max(order.took * REST);
        order.table == wanted.table && (order.changes == table.changes || young)
    });
    if !stands {
        *order = Some(make(table, number, wanted.table));
    }
    let order = match order {
        Some(order) => order,
        None => return (0, Duration::default(), Vec::new()),
    };
    order.used = now;
    let keys = match &wanted.within {
        None => &order.keys[..],
        Some((address, length)) => {
            let first = A::cut(address);
            let start = order.keys.partition_point(|key| *key < first.key(*length, 0));
            let end = order.keys.partition_point(|key| *key < first.last(*length).key(A::ABOVE, 0));
            &order.keys[start..end.max(start)]
        }
    };
    let mut total = 0;
    let mut positions = Vec::new();
    for key in keys {
        let at = A::position(*key);
        // A route added or removed since the index was made may be in the position of another.
        let is = table.positions().contains(&at) && {
            let entry = table.entry(at);
            entry.table == number
                && entry.address.key(entry.length, at) == *key
                && chosen(entry.flags, entry.protocol, entry.group)
        };
        if is {
            if total >= wanted.offset && positions.len() < wanted.limit {
                positions.push(at);
            }
            total += 1;
        }
    }
    let age = if order.changes == table.changes { Duration::default() } else { now.duration_since(order.made) };
    (total, age, positions)
}

fn make<A: Ordered>(table: &Table<A>, number: u16, name: u32) -> Order<A::Key> {
    let began = Instant::now();
    let mut keys = Vec::with_capacity(table.positions().len());
    for at in table.positions() {
        let entry = table.entry(at);
        if entry.flags & WANTED != 0 && entry.table == number {
            keys.push(entry.address.key(entry.length, at));
        }
    }
    keys.sort_unstable();
    let made = Instant::now();
    Order { table: name, keys, changes: table.changes, made, took: made.duration_since(began), used: made }
}

/// How many routes of each protocol zebra wants, and how many of them VPP has. A walk over the family's routes.
pub fn by_protocol<A: Address>(table: &Table<A>, number: u16) -> BTreeMap<u8, (u64, u64)> {
    let mut counts = BTreeMap::new();
    for at in table.positions() {
        let entry = table.entry(at);
        if entry.flags & WANTED != 0 && entry.table == number {
            let count: &mut (u64, u64) = counts.entry(entry.protocol).or_default();
            count.0 += 1;
            count.1 += u64::from(entry.flags & GIVEN != 0);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{Event, Prefix, Target};
    use crate::nexthop::{Action, NextHop};

    fn prefix(address: [u8; 4], length: u8, table: u32) -> Prefix {
        let mut all = [0; 16];
        all[..4].copy_from_slice(&address);
        Prefix { table, v6: false, address: all, length }
    }

    fn via(last: u8) -> Target {
        let mut gateway = [0; 16];
        gateway[..4].copy_from_slice(&[192, 0, 2, last]);
        let action = Action::Forward { interface: 1, gateway, gateway_length: 4, labels: vec![] };
        Target::Inline(vec![NextHop { action, weight: 1 }])
    }

    fn rib() -> Rib {
        let mut rib = Rib::new();
        let routes = [
            ([10, 2, 0, 0], 16, 1, 186),
            ([10, 0, 0, 0], 8, 2, 186),
            ([10, 1, 128, 0], 17, 1, 188),
            ([10, 1, 0, 0], 16, 2, 186),
            ([11, 0, 0, 0], 8, 1, 196),
            ([10, 1, 0, 0], 24, 1, 186),
            ([10, 255, 255, 255], 32, 1, 186),
        ];
        for (address, length, last, protocol) in routes {
            rib.take(Event::Route(prefix(address, length, 0), via(last), protocol));
        }
        rib.take(Event::Route(prefix([10, 9, 0, 0], 16, 7), via(1), 186));
        rib
    }

    fn listed(listing: &mut Listing, rib: &Rib, wanted: &Wanted, now: Instant) -> (usize, Vec<([u8; 4], u8)>) {
        let page = listing.page(rib, wanted, now);
        let found = page.routes.iter().map(|handle| {
            let entry = rib.v4.entry(handle.at());
            (entry.address, entry.length)
        });
        (page.total, found.collect())
    }

    fn all() -> Wanted {
        Wanted { limit: 100, ..Wanted::default() }
    }

    #[test]
    fn routes_come_in_the_order_of_their_prefixes_page_by_page() {
        let (rib, mut listing, now) = (rib(), Listing::default(), Instant::now());
        let (total, found) = listed(&mut listing, &rib, &all(), now);
        let expected = vec![
            ([10, 0, 0, 0], 8),
            ([10, 1, 0, 0], 16),
            ([10, 1, 0, 0], 24),
            ([10, 1, 128, 0], 17),
            ([10, 2, 0, 0], 16),
            ([10, 255, 255, 255], 32),
            ([11, 0, 0, 0], 8),
        ];
        assert_eq!((total, found), (7, expected.clone()));
        let second = Wanted { offset: 3, limit: 2, ..Wanted::default() };
        assert_eq!(listed(&mut listing, &rib, &second, now), (7, expected[3..5].to_vec()));
        let behind = Wanted { offset: 7, limit: 2, ..Wanted::default() };
        assert_eq!(listed(&mut listing, &rib, &behind, now), (7, vec![]));
        let other = Wanted { table: 7, ..all() };
        assert_eq!(listed(&mut listing, &rib, &other, now), (1, vec![([10, 9, 0, 0], 16)]));
        assert_eq!(listed(&mut listing, &rib, &Wanted { table: 8, ..all() }, now), (0, vec![]));
    }

    #[test]
    fn they_are_chosen_by_prefix_protocol_gateway_and_what_vpp_has() {
        let (mut rib, mut listing, now) = (rib(), Listing::default(), Instant::now());
        let mut find = |wanted: Wanted, rib: &Rib| listed(&mut listing, rib, &wanted, now).1;
        let inside = |address: [u8; 4], length| Wanted { within: Some((prefix(address, length, 0).address, length)), ..all() };
        let one = vec![([10, 1, 0, 0], 16), ([10, 1, 0, 0], 24), ([10, 1, 128, 0], 17)];
        assert_eq!(find(inside([10, 1, 0, 0], 16), &rib), one);
        assert_eq!(find(inside([10, 1, 0, 0], 17), &rib), one[1..2].to_vec());
        assert_eq!(find(inside([0; 4], 0), &rib).len(), 7);
        assert_eq!(find(inside([10, 255, 255, 255], 32), &rib), vec![([10, 255, 255, 255], 32)]);
        assert_eq!(find(inside([12, 0, 0, 0], 8), &rib), vec![]);
        assert_eq!(find(Wanted { protocol: Some(188), ..all() }, &rib), vec![([10, 1, 128, 0], 17)]);
        let gateway = Some((prefix([192, 0, 2, 2], 32, 0).address, 4));
        assert_eq!(find(Wanted { gateway, ..all() }, &rib), vec![([10, 0, 0, 0], 8), ([10, 1, 0, 0], 16)]);
        assert_eq!(find(Wanted { missing: true, ..all() }, &rib).len(), 7);
        while let Some((handle, _)) = rib.next() {
            rib.sent(handle);
            rib.done(handle, true, rib.v4.entry(handle.at()).address != [11, 0, 0, 0]);
        }
        assert_eq!(find(Wanted { missing: true, ..all() }, &rib), vec![([11, 0, 0, 0], 8)]);
        assert_eq!(by_protocol(&rib.v4, 0), BTreeMap::from([(186, (5, 5)), (188, (1, 1)), (196, (1, 0))]));
    }

    #[test]
    fn the_last_address_of_an_ipv6_prefix_is_inside_it() {
        let (mut rib, mut listing) = (Rib::new(), Listing::default());
        let mut last = [0xff; 16];
        last[..8].copy_from_slice(&[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0]);
        let mut first = last;
        first[8..].fill(0);
        for (address, length) in [(last, 128), (first, 64), (first, 128), (first, 63)] {
            rib.take(Event::Route(Prefix { table: 0, v6: true, address, length }, via(1), 186));
        }
        let wanted = Wanted { v6: true, within: Some((first, 64)), ..all() };
        let page = listing.page(&rib, &wanted, Instant::now());
        let lengths: Vec<u8> = page.routes.iter().map(|handle| rib.v6.entry(handle.at()).length).collect();
        assert_eq!((page.total, lengths), (3, vec![64, 128, 128]));
    }

    #[test]
    fn an_old_index_shows_nothing_that_went_and_is_made_again_when_it_is_old() {
        let (mut rib, mut listing, now) = (rib(), Listing::default(), Instant::now());
        assert_eq!(listing.page(&rib, &all(), now).total, 7);
        let gone = rib.find(&prefix([10, 1, 0, 0], 24, 0)).expect("it is there");
        rib.take(Event::Withdraw(prefix([10, 1, 0, 0], 24, 0)));
        while let Some((handle, _)) = rib.next() {
            rib.sent(handle);
            rib.done(handle, true, true);
        }
        rib.take(Event::Route(prefix([9, 0, 0, 0], 8, 0), via(1), 186));
        let first = rib.find(&prefix([9, 0, 0, 0], 8, 0)).expect("it is there");
        assert_eq!(first.at(), gone.at(), "it took the place of the one that went");
        let page = listing.page(&rib, &all(), now);
        assert_eq!(page.total, 6, "the new one is not known yet");
        assert!(!page.routes.iter().any(|handle| handle.at() == first.at()));
        let later = Instant::now() + AT_LEAST * 2;
        let page = listing.page(&rib, &all(), later);
        assert_eq!((page.total, page.age), (7, Duration::default()));
        assert_eq!(page.routes[0].at(), first.at());
        listing.forget_unused(later + UNUSED * 2);
        assert!(listing.v4.is_none());
    }
}
