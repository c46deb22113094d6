//! Pages of the routes in the order of their prefixes, and their number by protocol.
//!
//! The table is a hash, so an order has to be computed. The main loop carries routes and may not wait for that: it does
//! one slice of one question in a turn (`questions.rs`), and a thread sorts. An order serves all questions until routes
//! were added or removed; the orders of several tables are kept, in bounded memory, until nobody asks any more.

use crate::nexthop::GroupId;
use crate::orders::{Orders, Walk};
use crate::rib::{Handle, Rib};
use crate::table::*;
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// Routes that are counted in one turn: 0.2 ms.
const SLICE: u32 = 64 * 1024;

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

/// An address whose routes can be sorted.
pub trait Ordered: Address {
    type Key: Ord + Copy + Send + 'static;
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

/// What has been done of a question so far.
#[derive(Default)]
pub struct Progress {
    v4: Option<Walk<[u8; 4]>>,
    v6: Option<Walk<[u8; 16]>>,
    /// The next position to count at, and the family.
    count: (bool, u32),
    counts: [Counts; 2],
}

/// By protocol: routes that zebra wants, and those of them that VPP has.
pub type Counts = BTreeMap<u8, (u64, u64)>;

#[derive(Default)]
pub struct Listing {
    v4: Orders<[u8; 4]>,
    v6: Orders<[u8; 16]>,
}

impl Listing {
    /// One slice of the work; the page, when it is done.
    pub fn page(&mut self, rib: &Rib, wanted: &Wanted, done: &mut Progress, now: Instant) -> Option<Page> {
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
            (Some(number), false) => self.v4.page(&mut done.v4, &rib.v4, number, wanted, now, chosen)?,
            (Some(number), true) => self.v6.page(&mut done.v6, &rib.v6, number, wanted, now, chosen)?,
        };
        let routes = positions.into_iter().map(|at| Handle::new(wanted.v6, at)).collect();
        Some(Page { total, age, routes })
    }

    /// Frees the orders that nobody used for a while.
    pub fn forget_unused(&mut self, now: Instant) {
        self.v4.forget_unused(now);
        self.v6.forget_unused(now);
    }
}

/// One slice of counting the routes of a table by protocol; IPv4's and IPv6's when it is done.
pub fn by_protocol(rib: &Rib, table: u32, done: &mut Progress) -> Option<[Counts; 2]> {
    if let Some(number) = rib.number_of_table(table) {
        let [v4, v6] = &mut done.counts;
        if !done.count.0 {
            let ended = count(&rib.v4, number, &mut done.count.1, v4);
            if ended {
                done.count = (true, 0);
            }
            return None;
        }
        if !count(&rib.v6, number, &mut done.count.1, v6) {
            return None;
        }
    }
    Some(std::mem::take(&mut done.counts))
}

/// Counts a slice from `next` on; true at the end of the family's routes.
fn count<A: Address>(table: &Table<A>, number: u16, next: &mut u32, counts: &mut Counts) -> bool {
    let end = table.positions().end.min(next.saturating_add(SLICE));
    for at in *next..end {
        let entry = table.entry(at);
        if entry.flags & WANTED != 0 && entry.table == number {
            let count = counts.entry(entry.protocol).or_default();
            count.0 += 1;
            count.1 += u64::from(entry.flags & GIVEN != 0);
        }
    }
    *next = end;
    end == table.positions().end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{Event, Prefix, Target};
    use crate::nexthop::{Action, NextHop};
    use crate::orders;

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

    fn whole(listing: &mut Listing, rib: &Rib, wanted: &Wanted, now: Instant) -> Page {
        let mut done = Progress::default();
        loop {
            if let Some(page) = listing.page(rib, wanted, &mut done, now) {
                return page;
            }
        }
    }

    fn listed(listing: &mut Listing, rib: &Rib, wanted: &Wanted, now: Instant) -> (usize, Vec<([u8; 4], u8)>) {
        let page = whole(listing, rib, wanted, now);
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
        let mut done = Progress::default();
        assert!(by_protocol(&rib, 0, &mut done).is_none(), "one family in a turn");
        let v4 = BTreeMap::from([(186, (5, 5)), (188, (1, 1)), (196, (1, 0))]);
        assert_eq!(by_protocol(&rib, 0, &mut done), Some([v4, BTreeMap::new()]));
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
        let page = whole(&mut listing, &rib, &wanted, Instant::now());
        let lengths: Vec<u8> = page.routes.iter().map(|handle| rib.v6.entry(handle.at()).length).collect();
        assert_eq!((page.total, lengths), (3, vec![64, 128, 128]));
    }

    #[test]
    fn an_old_index_shows_nothing_that_went_and_is_made_again_when_it_is_old() {
        let (mut rib, mut listing, now) = (rib(), Listing::default(), Instant::now());
        assert_eq!(whole(&mut listing, &rib, &all(), now).total, 7);
        let gone = rib.find(&prefix([10, 1, 0, 0], 24, 0)).expect("it is there");
        rib.take(Event::Withdraw(prefix([10, 1, 0, 0], 24, 0)));
        while let Some((handle, _)) = rib.next() {
            rib.sent(handle);
            rib.done(handle, true, true);
        }
        rib.take(Event::Route(prefix([9, 0, 0, 0], 8, 0), via(1), 186));
        let first = rib.find(&prefix([9, 0, 0, 0], 8, 0)).expect("it is there");
        assert_eq!(first.at(), gone.at(), "it took the place of the one that went");
        let page = whole(&mut listing, &rib, &all(), now);
        assert_eq!(page.total, 6, "the new one is not known yet");
        assert!(!page.routes.iter().any(|handle| handle.at() == first.at()));
        let later = Instant::now() + orders::AT_LEAST * 2;
        let page = whole(&mut listing, &rib, &all(), later);
        assert_eq!((page.total, page.age), (7, Duration::default()));
        assert_eq!(page.routes[0].at(), first.at());
        listing.forget_unused(later + orders::UNUSED * 2);
        assert_eq!(listing.v4.bytes(), 0);
    }

    #[test]
    fn who_alternates_two_long_tables_has_each_ordered_once_and_every_turn_is_short() {
        let mut rib = Rib::new();
        let each: u32 = 40_000;
        for table in [0, 7] {
            for number in 0..each {
                rib.take(Event::Route(prefix((number << 8).to_be_bytes(), 24, table), via(1), 186));
            }
        }
        let (mut listing, now) = (Listing::default(), Instant::now());
        let mut turns = Vec::new();
        for round in 0..6 {
            let wanted = Wanted { table: [0, 7][round % 2], offset: 39_990, limit: 100, ..Wanted::default() };
            let mut done = Progress::default();
            let mut count = 0;
            let page = loop {
                count += 1;
                match listing.page(&rib, &wanted, &mut done, now) {
                    Some(page) => break page,
                    None => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            assert_eq!((page.total, page.routes.len()), (each as usize, 10));
            turns.push(count);
        }
        // An order needs two slices of the whole table and a thread; a page of it, 40,000 keys in slices of 16,384.
        assert!(turns[..2].iter().all(|count| *count >= 5), "{:?}", turns);
        assert!(turns[2..].iter().all(|count| *count == 3), "{:?}", turns);
        assert_eq!((listing.v4.made, listing.v4.bytes()), (2, 2 * 8 * each as usize));
    }

    #[test]
    fn routes_that_go_while_a_page_is_worked_out_are_not_in_it() {
        let mut rib = Rib::new();
        for number in 0..20_000u32 {
            rib.take(Event::Route(prefix((number << 8).to_be_bytes(), 24, 0), via(1), 186));
        }
        let (mut listing, now, mut done) = (Listing::default(), Instant::now(), Progress::default());
        whole(&mut listing, &rib, &all(), now);
        assert!(listing.page(&rib, &all(), &mut done, now).is_none(), "the first slice of two");
        for number in 0..50u32 {
            rib.take(Event::Withdraw(prefix((number << 8).to_be_bytes(), 24, 0)));
        }
        while let Some((handle, _)) = rib.next() {
            rib.sent(handle);
            rib.done(handle, true, true);
        }
        let page = listing.page(&rib, &all(), &mut done, now).expect("the second slice");
        assert_eq!((page.total, page.routes.len()), (20_000, 50));
        assert!(page.routes.iter().all(|handle| rib.hops(rib.group(*handle)).is_some()));
    }
}
