//! The routes that zebra wants, VPP's state of them, and the queue of the differences.

use crate::fpm::{Event, Prefix, Target};
use crate::nexthop::{GroupId, Groups, NextHop};
use crate::regroup::Regrouped;
use crate::table::*;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A route: its position in its family's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle(u32);
const V6: u32 = 1 << 31;

impl Handle {
    pub fn new(v6: bool, at: u32) -> Handle {
        Handle(if v6 { at | V6 } else { at })
    }
    pub fn v6(self) -> bool {
        self.0 & V6 != 0
    }
    pub fn at(self) -> u32 {
        self.0 & !V6
    }
    /// Distributes routes over connections; a route keeps its number while anything of it is in flight.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// The next action for a route.
#[derive(Debug, PartialEq, Eq)]
pub enum Work {
    Give(Prefix, GroupId),
    Take(Prefix),
}

pub struct Rib {
    pub groups: Groups,
    pub v4: Table<[u8; 4]>,
    pub v6: Table<[u8; 16]>,
    tables: Vec<u32>,
    table_numbers: HashMap<u32, u16>,
    pub(crate) queue: VecDeque<Handle>,
    /// The numbers of entries ever added to the queue and taken from it: the difference is pending.
    pub queued: u64,
    pub taken: u64,
    pub(crate) in_flight: u64,
    /// Routes that VPP has.
    pub given: u64,
    /// The most routes that VPP has room for: more would crash it.
    pub most: u64,
    /// Messages sent so far: the number of the last one.
    pub sent: u64,
    pub(crate) changed_groups: Vec<u32>,
    pub(crate) regrouped: Vec<Regrouped>,
    /// Things that VPP would need and did not get, by their names.
    pub unsupported: BTreeMap<&'static str, u64>,
    pub events: u64,
}

macro_rules! entry {
    ($rib:expr, $handle:expr, $entry:ident => $use:expr) => {
        if $handle.v6() {
            let $entry = $rib.v6.entry_mut($handle.at());
            $use
        } else {
            let $entry = $rib.v4.entry_mut($handle.at());
            $use
        }
    };
}

impl Rib {
    #[cfg(test)]
    pub fn new() -> Rib {
        Rib::holding(u64::MAX)
    }

    /// For a VPP that has room for this many routes.
    pub fn holding(most: u64) -> Rib {
        Rib {
            groups: Groups::default(),
            v4: Table::new(),
            v6: Table::new(),
            tables: vec![0],
            table_numbers: HashMap::from([(0, 0)]),
            queue: VecDeque::new(),
            queued: 0,
            taken: 0,
            in_flight: 0,
            given: 0,
            most,
            sent: 0,
            changed_groups: Vec::new(),
            regrouped: Vec::new(),
            unsupported: BTreeMap::new(),
            events: 0,
        }
    }

    /// Routes that VPP does not hold yet as zebra wants them, except refused and waiting ones.
    pub fn pending(&self) -> u64 {
        self.queue.len() as u64 + self.in_flight
    }

    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Takes one event of zebra's stream. Changed next-hop objects take effect with `settle`.
    pub fn take(&mut self, event: Event) {
        self.events += 1;
        match event {
            Event::Route(prefix, target, protocol) => self.want(&prefix, target, protocol),
            Event::Withdraw(prefix) | Event::TakenOver(prefix) => self.withdraw(&prefix),
            Event::NextHop(id, object) => {
                if self.groups.set(id, object) {
                    self.changed_groups.push(id);
                }
            }
            Event::NextHopGone(id) => self.groups.remove(id),
            Event::NotOurs => {}
            Event::Unsupported(what) => self.lacks(what),
            Event::UnsupportedRoute(prefix, what) => {
                self.lacks(what);
                self.withdraw(&prefix);
            }
            Event::UnsupportedNextHop(id, what) => {
                self.lacks(what);
                self.groups.remove(id);
                self.changed_groups.push(id);
            }
        }
    }

    fn lacks(&mut self, what: &'static str) {
        *self.unsupported.entry(what).or_default() += 1;
    }

    fn withdraw(&mut self, prefix: &Prefix) {
        if let Some(handle) = self.find(prefix) {
            self.unwant(handle);
        }
    }

    /// The next route to process. The caller answers with `sent`, `waits` or `done`.
    pub fn next(&mut self) -> Option<(Handle, Work)> {
        while let Some(handle) = self.queue.pop_front() {
            self.taken += 1;
            let (flags, group) = entry!(self, handle, entry => {
                entry.flags &= !(QUEUED | REFUSED | WAITING);
                if entry.flags & IN_FLIGHT != 0 {
                    entry.flags |= CHANGED;
                }
                (entry.flags, entry.group)
            });
            if flags & IN_FLIGHT != 0 {
                continue;
            }
            let prefix = self.prefix(handle);
            if flags & (WANTED | GIVEN) == WANTED && self.room() == 0 {
                entry!(self, handle, entry => entry.flags |= HELD);
                continue;
            }
            if flags & WANTED != 0 {
                return Some((handle, Work::Give(prefix, group)));
            }
            if flags & GIVEN != 0 {
                return Some((handle, Work::Take(prefix)));
            }
            self.forget(handle);
        }
        None
    }

    /// A message for the route is on its way.
    pub fn sent(&mut self, handle: Handle) {
        entry!(self, handle, entry => entry.flags |= IN_FLIGHT);
        self.in_flight += 1;
        self.sent += 1;
    }

    /// The route cannot be given now, because none of its next hops is known. The form that VPP has is withdrawn.
    pub fn waits(&mut self, handle: Handle) -> Option<Prefix> {
        let flags = entry!(self, handle, entry => {
            entry.flags |= WAITING;
            entry.flags
        });
        (flags & GIVEN != 0).then(|| self.prefix(handle))
    }

    /// VPP answered. `gave` says what the request was: to hold the route, or not to.
    pub fn done(&mut self, handle: Handle, gave: bool, accepted: bool) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let (had, flags) = entry!(self, handle, entry => {
            let had = entry.flags & GIVEN != 0;
            let changed = entry.flags & CHANGED != 0;
            entry.flags &= !(IN_FLIGHT | CHANGED);
            match (gave, accepted) {
                (true, true) => entry.flags |= GIVEN,
                (true, false) => entry.flags |= REFUSED,
                // VPP refused to remove a route that it does not have, so the route is gone as well.
                (false, _) => entry.flags &= !GIVEN,
            }
            (had, if changed { entry.flags & !REFUSED | CHANGED } else { entry.flags })
        });
        let has = flags & GIVEN != 0;
        self.given = self.given + u64::from(has && !had) - u64::from(had && !has);
        if flags & CHANGED != 0 {
            self.enqueue(handle);
        } else if flags & (WANTED | GIVEN | QUEUED) == 0 {
            self.forget(handle);
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// The RIB's own number of a table; None where it has no route in it.
    pub fn number_of_table(&self, table: u32) -> Option<u16> {
        self.table_numbers.get(&table).copied()
    }

    /// The next hops of a group.
    pub fn hops(&self, group: GroupId) -> Option<Vec<NextHop>> {
        self.groups.resolve(group)
    }

    fn want(&mut self, prefix: &Prefix, target: Target, protocol: u8) {
        let handle = match self.find_or_add(prefix) {
            Some(handle) => handle,
            None => return self.lacks("a route of one table too many"),
        };
        let group = match target {
            Target::Object(id) => self.groups.hold(id),
            Target::Inline(hops) => self.groups.intern(hops),
        };
        let (flags, before) = entry!(self, handle, entry => {
            let before = (entry.flags, entry.group);
            entry.group = group;
            entry.protocol = protocol;
            entry.flags = entry.flags & !STALE | WANTED;
            before
        });
        let settled = flags & (WANTED | GIVEN) == WANTED | GIVEN && flags & (REFUSED | WAITING | IN_FLIGHT) == 0;
        if !(settled && self.leads_alike(before, group)) {
            self.enqueue(handle);
        }
        if flags & WANTED != 0 {
            self.groups.release(before);
        }
    }

    pub(crate) fn unwant(&mut self, handle: Handle) {
        let (flags, group) = entry!(self, handle, entry => {
            let before = (entry.flags, entry.group);
            entry.flags &= !(WANTED | STALE);
            before
        });
        if flags & WANTED != 0 {
            self.groups.release(group);
            self.enqueue(handle);
        }
    }

    pub fn enqueue(&mut self, handle: Handle) {
        let flags = entry!(self, handle, entry => {
            let before = entry.flags;
            entry.flags |= QUEUED;
            before
        });
        if flags & QUEUED == 0 {
            self.queue.push_back(handle);
            self.queued += 1;
        }
    }

    /// Queues the routes selected by flags, group and whether they are IPv6.
    pub fn requeue(&mut self, mut chosen: impl FnMut(u8, GroupId, bool) -> bool) {
        for handle in self.handles() {
            let (flags, group) = entry!(self, handle, entry => (entry.flags, entry.group));
            if chosen(flags, group, handle.v6()) {
                self.enqueue(handle);
            }
        }
    }

    pub(crate) fn forget(&mut self, handle: Handle) {
        if handle.v6() {
            self.v6.remove(handle.at());
        } else {
            self.v4.remove(handle.at());
        }
    }

    /// Every route.
    pub(crate) fn handles(&self) -> Vec<Handle> {
        let v4 = self.v4.positions().filter(|at| self.v4.entry(*at).flags != 0).map(|at| Handle::new(false, at));
        let v6 = self.v6.positions().filter(|at| self.v6.entry(*at).flags != 0).map(|at| Handle::new(true, at));
        v4.chain(v6).collect()
    }

    pub fn find(&self, prefix: &Prefix) -> Option<Handle> {
        let table = *self.table_numbers.get(&prefix.table)?;
        let at = if prefix.v6 {
            self.v6.find(table, prefix.address, prefix.length)
        } else {
            self.v4.find(table, first_four(&prefix.address), prefix.length)
        }?;
        Some(Handle::new(prefix.v6, at))
    }

    /// None where the table numbers are used up.
    fn find_or_add(&mut self, prefix: &Prefix) -> Option<Handle> {
        let table = match self.table_numbers.get(&prefix.table) {
            Some(number) => *number,
            None => {
                let number = u16::try_from(self.tables.len()).ok()?;
                self.tables.push(prefix.table);
                self.table_numbers.insert(prefix.table, number);
                number
            }
        };
        let (at, _) = if prefix.v6 {
            self.v6.find_or_add(table, prefix.address, prefix.length)
        } else {
            self.v4.find_or_add(table, first_four(&prefix.address), prefix.length)
        };
        Some(Handle::new(prefix.v6, at))
    }

    pub(crate) fn set_group(&mut self, handle: Handle, group: GroupId) {
        entry!(self, handle, entry => entry.group = group);
    }

    /// Sets and clears flags of a route; returns the previous ones.
    pub(crate) fn reflag(&mut self, handle: Handle, set: u8, clear: u8) -> u8 {
        entry!(self, handle, entry => {
            let before = entry.flags;
            entry.flags = before & !clear | set;
            before
        })
    }

    /// The next-hop group of a route.
    pub fn group(&self, handle: Handle) -> GroupId {
        if handle.v6() {
            self.v6.entry(handle.at()).group
        } else {
            self.v4.entry(handle.at()).group
        }
    }

    pub fn prefix(&self, handle: Handle) -> Prefix {
        let mut address = [0; 16];
        let (table, length) = if handle.v6() {
            let entry = self.v6.entry(handle.at());
            address = entry.address;
            (entry.table, entry.length)
        } else {
            let entry = self.v4.entry(handle.at());
            address[..4].copy_from_slice(&entry.address);
            (entry.table, entry.length)
        };
        Prefix { table: self.tables[table as usize], v6: handle.v6(), address, length }
    }
}

fn first_four(address: &[u8; 16]) -> [u8; 4] {
    [address[0], address[1], address[2], address[3]]
}
