//! The orders of the routes in several tables of one family, and the walk through one of them for a page.

use crate::listing::{Ordered, Wanted};
use crate::nexthop::GroupId;
use crate::table::*;
use std::rc::Rc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// An order is used for this long, whatever was added or removed in that time.
pub const AT_LEAST: Duration = Duration::from_secs(1);
/// Memory is freed when nobody asked for this long.
pub const UNUSED: Duration = Duration::from_secs(60);
/// Of all orders of a family together, beside the newest: those that were not used for longest go first.
const MOST_BYTES: usize = 64 << 20;
const MOST_ORDERS: usize = 64;
/// Routes that are looked at in one turn, one after the other: 0.2 ms.
const SLICE: u32 = 64 * 1024;
/// Routes that are looked at in one turn in the order of their prefixes, so anywhere in memory: under 1 ms.
const KEYS_AT_ONCE: usize = 16 * 1024;

/// The order of the routes in one table.
struct Order<K> {
    table: u32,
    keys: Vec<K>,
    changes: u64,
    /// When the first route was looked at.
    began: Instant,
    made: Instant,
}

impl<K> Order<K> {
    fn stands(&self, table: u32, changes: u64, now: Instant) -> bool {
        self.table == table && (self.changes == changes || now.saturating_duration_since(self.made) < AT_LEAST)
    }

    fn bytes(&self) -> usize {
        self.keys.len() * std::mem::size_of::<K>()
    }
}

struct Kept<K> {
    order: Rc<Order<K>>,
    used: Instant,
}

/// An order in the making.
struct Making<K> {
    table: u32,
    number: u16,
    next: u32,
    keys: Vec<K>,
    changes: u64,
    began: Instant,
    sorting: Option<JoinHandle<Vec<K>>>,
}

pub struct Orders<A: Ordered> {
    kept: Vec<Kept<A::Key>>,
    /// One at a time: whoever waits for another one moves this one on.
    making: Option<Making<A::Key>>,
    /// How many were ever made.
    #[cfg(test)]
    pub made: u64,
}

impl<A: Ordered> Default for Orders<A> {
    fn default() -> Orders<A> {
        Orders {
            kept: Vec::new(),
            making: None,
            #[cfg(test)]
            made: 0,
        }
    }
}

/// A page of an order, as far as it is worked out.
pub struct Walk<A: Ordered> {
    order: Rc<Order<A::Key>>,
    next: usize,
    end: usize,
    total: usize,
    found: Vec<A::Key>,
}

impl<A: Ordered> Orders<A> {
    /// One slice of the work; the number of matching routes, the age of the order, and the page's positions when it is
    /// done.
    pub fn page(
        &mut self,
        walk: &mut Option<Walk<A>>,
        table: &Table<A>,
        number: u16,
        wanted: &Wanted,
        now: Instant,
        chosen: impl Fn(u8, u8, GroupId) -> bool,
    ) -> Option<(usize, Duration, Vec<u32>)> {
        let walk = match walk {
            Some(walk) => walk,
            None => walk.insert(Walk::begin(self.of(table, number, wanted.table, now)?, wanted)),
        };
        let end = walk.end.min(walk.next + KEYS_AT_ONCE);
        for key in &walk.order.keys[walk.next..end] {
            let is = place(table, number, *key)
                .map_or(false, |entry| chosen(entry.flags, entry.protocol, entry.group));
            if is {
                if walk.total >= wanted.offset && walk.found.len() < wanted.limit {
                    walk.found.push(*key);
                }
                walk.total += 1;
            }
        }
        walk.next = end;
        if end < walk.end {
            return None;
        }
        let order = &walk.order;
        let stale = order.changes != table.changes;
        let age = if stale { now.saturating_duration_since(order.began) } else { Duration::default() };
        // Between two slices a route may have gone.
        let there = walk.found.iter().filter(|key| place(table, number, **key).is_some());
        Some((walk.total, age, there.map(|key| A::position(*key)).collect()))
    }

    /// The order of a table; None while it is not ready.
    fn of(&mut self, table: &Table<A>, number: u16, name: u32, now: Instant) -> Option<Rc<Order<A::Key>>> {
        if let Some(kept) = self.kept.iter_mut().find(|kept| kept.order.stands(name, table.changes, now)) {
            kept.used = now;
            return Some(kept.order.clone());
        }
        let begin = || Making {
            table: name,
            number,
            next: 0,
            keys: Vec::new(),
            changes: table.changes,
            began: now,
            sorting: None,
        };
        let order = self.making.get_or_insert_with(begin).advance(table)?;
        self.making = None;
        let order = self.keep(order, now);
        Some(order).filter(|order| order.table == name)
    }

    fn keep(&mut self, order: Order<A::Key>, now: Instant) -> Rc<Order<A::Key>> {
        #[cfg(test)]
        {
            self.made += 1;
        }
        self.kept.retain(|kept| kept.order.table != order.table);
        self.kept.sort_by_key(|kept| std::cmp::Reverse(kept.used));
        self.kept.truncate(MOST_ORDERS - 1);
        let mut bytes = order.bytes();
        self.kept.retain(|kept| {
            bytes += kept.order.bytes();
            bytes <= MOST_BYTES
        });
        let order = Rc::new(order);
        self.kept.push(Kept { order: order.clone(), used: now });
        order
    }

    pub fn forget_unused(&mut self, now: Instant) {
        self.kept.retain(|kept| now.saturating_duration_since(kept.used) <= UNUSED);
        if self.making.as_ref().map_or(false, |making| now.saturating_duration_since(making.began) > UNUSED) {
            self.making = None;
        }
    }

    /// The memory of all orders.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.kept.iter().map(|kept| kept.order.bytes()).sum()
    }
}

impl<A: Ordered> Walk<A> {
    fn begin(order: Rc<Order<A::Key>>, wanted: &Wanted) -> Walk<A> {
        let (next, end) = match &wanted.within {
            None => (0, order.keys.len()),
            Some((address, length)) => {
                let first = A::cut(address);
                let next = order.keys.partition_point(|key| *key < first.key(*length, 0));
                let end = order.keys.partition_point(|key| *key < first.last(*length).key(A::ABOVE, 0));
                (next, end.max(next))
            }
        };
        Walk { order, next, end, total: 0, found: Vec::new() }
    }
}

impl<K: Ord + Copy + Send + 'static> Making<K> {
    /// One slice; the order when it is done.
    fn advance<A: Ordered<Key = K>>(&mut self, table: &Table<A>) -> Option<Order<K>> {
        if let Some(sorting) = self.sorting.take() {
            if !sorting.is_finished() {
                self.sorting = Some(sorting);
                return None;
            }
            return sorting.join().ok().map(|keys| self.order(keys));
        }
        let whole = table.positions().end;
        let end = whole.min(self.next.saturating_add(SLICE));
        for at in self.next..end {
            let entry = table.entry(at);
            if entry.flags & WANTED != 0 && entry.table == self.number {
                self.keys.push(entry.address.key(entry.length, at));
            }
        }
        self.next = end;
        if end < whole {
            return None;
        }
        let mut keys = std::mem::take(&mut self.keys);
        if keys.len() <= KEYS_AT_ONCE {
            keys.sort_unstable();
            return Some(self.order(keys));
        }
        let sort = move || {
            keys.sort_unstable();
            keys.shrink_to_fit();
            keys
        };
        match Builder::new().name("order".to_string()).spawn(sort) {
            Ok(sorting) => self.sorting = Some(sorting),
            // There is no thread to be had: from the beginning, when the next turn asks.
            Err(_) => self.next = 0,
        }
        None
    }

    fn order(&self, keys: Vec<K>) -> Order<K> {
        Order { table: self.table, keys, changes: self.changes, began: self.began, made: Instant::now() }
    }
}

/// The route of a key, if it is still in its place: one that was added since may be in the position of another.
fn place<A: Ordered>(table: &Table<A>, number: u16, key: A::Key) -> Option<&Entry<A>> {
    let at = A::position(key);
    if !table.positions().contains(&at) {
        return None;
    }
    let entry = table.entry(at);
    let is = entry.flags != 0 && entry.table == number && entry.address.key(entry.length, at) == key;
    Some(entry).filter(|_| is)
}
