//! VPP's side: several connections for routes, one for everything else, and the marks in VPP.

use crate::fpm::Prefix;
use crate::mirrors::{prepare_table, Mirrors};
use crate::path_cache::PathCache;
use crate::pins::Pins;
use crate::regroup::Regrouped;
use crate::rib::{Handle, Rib, Work};
use crate::table::WANTED;
use crate::vpp_connection::{Answer, Connection};
use crate::vpp_messages::{leads_there, lookup, route, FibTable, Kind, Paths};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io;
use std::path::Path;

/// Routes on their way to VPP over one connection: as many as its socket has room for answers.
const WINDOW: usize = 256;
/// The table that always exists.
const MAIN: u32 = 0;
const WRITE_AT_BYTES: usize = 48 * 1024;

struct Asked {
    context: u32,
    /// `Rib::sent` when it was sent.
    number: u64,
    handle: Handle,
    gave: bool,
}

struct Lane {
    connection: Connection,
    asked: VecDeque<Asked>,
}

/// One life of a connected VPP.
pub struct Vpp {
    pub control: Connection,
    lanes: Vec<Lane>,
    tables: Vec<FibTable>,
    /// Tables of VRFs that were given routes since the tables were read: one may be created, get routes and be
    /// removed between two readings.
    given_to: HashSet<FibTable>,
    cache: PathCache,
    pub pins: Pins,
    /// Routes that VPP held before this connection are marked: those that are not given again are removed with
    /// `sweep`.
    pub marked: bool,
}

/// The routes given to VPP and its answers, over all its lives.
#[derive(Default)]
pub struct Answers {
    pub given: u64,
    pub taken: u64,
    pub refused: u64,
    pub refusals: BTreeMap<i32, u64>,
}

impl Vpp {
    /// Connects, marks all routes of an earlier feeder in VPP, and prepares its tables and mirrors.
    pub fn open(path: &Path, lanes: usize, mirrors: &mut Mirrors) -> io::Result<Vpp> {
        let mut control = Connection::open(path, "millrace-feeder")?;
        let mut opened = Vec::new();
        for number in 0..lanes {
            let connection = Connection::open(path, &format!("millrace-feeder-{}", number))?;
            connection.set_nonblocking()?;
            opened.push(Lane { connection, asked: VecDeque::new() });
        }
        let tables = tables(&mut control)?;
        for table in &tables {
            control.ask(Kind::TableReplaceBegin, Kind::TableReplaceBeginReply, |out| table.encode(out))?;
            prepare_table(&mut control, *table)?;
        }
        mirrors.forget_pairs();
        mirrors.refresh(&mut control)?;
        Ok(Vpp {
            control,
            lanes: opened,
            tables,
            given_to: HashSet::new(),
            cache: PathCache::default(),
            pins: Pins::default(),
            marked: true,
        })
    }

    pub fn fds(&self) -> Vec<i32> {
        self.lanes.iter().map(|lane| lane.connection.fd()).chain([self.control.fd()]).collect()
    }

    /// Whether every connection accepts more routes.
    pub fn has_room(&self) -> bool {
        self.lanes.iter().all(|lane| lane.asked.len() < WINDOW)
    }

    /// Next-hop groups changed: their paths are computed again.
    pub fn regroup(&mut self, regrouped: &[Regrouped]) {
        self.cache.regroup(regrouped);
    }

    /// Reads tables and mirrors again; routes whose paths change with the mirrors are queued, and those of tables
    /// that were created or removed.
    pub fn refresh(&mut self, mirrors: &mut Mirrors, rib: &mut Rib) -> io::Result<()> {
        let now = tables(&mut self.control)?;
        for table in now.iter().filter(|table| !self.tables.contains(table)) {
            prepare_table(&mut self.control, *table)?;
            rib.table_is_another(table.id, table.v6);
        }
        self.given_to.extend(self.tables.iter().copied());
        for table in self.given_to.drain().filter(|table| !now.contains(table)) {
            rib.table_is_another(table.id, table.v6);
        }
        self.tables = now;
        if mirrors.refresh(&mut self.control)? {
            self.repath(mirrors, rib);
        }
        Ok(())
    }

    /// Mirrors were created, removed or may no longer be used: routes whose paths change with them are queued.
    pub fn repath(&mut self, mirrors: &Mirrors, rib: &mut Rib) {
        let changed = self.cache.renew(rib, |ifindex| mirrors.way(ifindex));
        if !changed.is_empty() {
            rib.requeue(|flags, group, v6| flags & WANTED != 0 && changed.contains(&(group, v6)));
        }
    }

    /// The number of the oldest message that VPP has not answered.
    pub fn oldest_unanswered(&self) -> Option<u64> {
        self.lanes.iter().filter_map(|lane| lane.asked.front()).map(|asked| asked.number).min()
    }

    /// Sends queued routes as far as the windows allow.
    pub fn send(&mut self, rib: &mut Rib, mirrors: &Mirrors) -> io::Result<()> {
        self.cache.purge(rib);
        while self.has_room() {
            let (handle, work) = match rib.next() {
                Some(next) => next,
                None => break,
            };
            match work {
                Work::Give(prefix, _) if self.pins.hold(&prefix) => rib.kept(handle, true),
                Work::Take(prefix) if self.pins.hold(&prefix) => rib.kept(handle, false),
                Work::Take(prefix) => put(&mut self.lanes, rib, handle, &prefix, None)?,
                Work::Give(prefix, group) => {
                    match self.cache.of(rib, (group, prefix.v6), |ifindex| mirrors.way(ifindex)) {
                        Some(some) if some.count > 0 => {
                            if prefix.table != MAIN {
                                self.given_to.insert(FibTable { id: prefix.table, v6: prefix.v6 });
                            }
                            put(&mut self.lanes, rib, handle, &prefix, Some(some))?
                        }
                        _ => {
                            if let Some(prefix) = rib.waits(handle) {
                                put(&mut self.lanes, rib, handle, &prefix, None)?;
                            }
                        }
                    }
                }
            }
        }
        for lane in &mut self.lanes {
            lane.connection.flush()?;
        }
        Ok(())
    }

    /// Takes the answers that have arrived.
    pub fn receive(&mut self, rib: &mut Rib, answers: &mut Answers) -> io::Result<()> {
        for lane in &mut self.lanes {
            let asked = &mut lane.asked;
            let mut out_of_order = false;
            lane.connection.receive(|answer| match asked.pop_front() {
                Some(next) if matches(&answer, next.context) => take(rib, answers, &next, answer.retval()),
                _ => out_of_order = true,
            })?;
            if out_of_order {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "VPP answered out of order"));
            }
        }
        Ok(())
    }

    /// For each route, whether VPP has it as it was given.
    pub fn compare(&mut self, rib: &Rib, mirrors: &Mirrors, routes: &[Handle]) -> io::Result<Vec<bool>> {
        let prefixes: Vec<Prefix> = routes.iter().map(|handle| rib.prefix(*handle)).collect();
        let found = self.control.ask_each(Kind::RouteLookup, Kind::RouteLookupReply, &prefixes, lookup)?;
        let mut same = Vec::with_capacity(routes.len());
        for ((handle, prefix), answer) in routes.iter().zip(&prefixes).zip(found) {
            let group = rib.group(*handle);
            let wanted = self.cache.of(rib, (group, prefix.v6), |ifindex| mirrors.way(ifindex));
            let is_there = || answer.retval() == 0 && wanted.as_ref().map_or(false, |paths| leads_there(&answer.body, paths));
            // A pinned route differs on purpose.
            same.push(self.pins.hold(prefix) || is_there());
        }
        Ok(same)
    }

    /// Everything wanted was given: marks left in VPP are from earlier, and are removed.
    pub fn sweep(&mut self, mirrors: &Mirrors) -> io::Result<()> {
        for table in &self.tables {
            prepare_table(&mut self.control, *table)?;
        }
        mirrors.repeat(&mut self.control)?;
        for table in &self.tables {
            self.control.ask(Kind::TableReplaceEnd, Kind::TableReplaceEndReply, |out| table.encode(out))?;
        }
        self.marked = false;
        Ok(())
    }
}

fn put(
    lanes: &mut [Lane],
    rib: &mut Rib,
    handle: Handle,
    prefix: &Prefix,
    paths: Option<&Paths>,
) -> io::Result<()> {
    let count = lanes.len();
    let lane = &mut lanes[handle.number() % count];
    let none = Paths::default();
    let context = lane.connection.put(Kind::RouteAddDel, |out| {
        route(out, prefix, paths.is_some(), paths.unwrap_or(&none));
    });
    rib.sent(handle);
    lane.asked.push_back(Asked { context, number: rib.sent, handle, gave: paths.is_some() });
    if lane.connection.unwritten() >= WRITE_AT_BYTES {
        lane.connection.flush()?;
    }
    Ok(())
}

fn matches(answer: &Answer, context: u32) -> bool {
    answer.kind == Some(Kind::RouteAddDelReply) && answer.context == context
}

fn take(rib: &mut Rib, answers: &mut Answers, asked: &Asked, retval: i32) {
    rib.done(asked.handle, asked.gave, retval == 0);
    if retval == 0 {
        *(if asked.gave { &mut answers.given } else { &mut answers.taken }) += 1;
    } else {
        answers.refused += 1;
        *answers.refusals.entry(retval).or_default() += 1;
    }
}

fn tables(control: &mut Connection) -> io::Result<Vec<FibTable>> {
    let answers = control.ask(Kind::TableDump, Kind::ControlPingReply, |_| ())?;
    let rows = answers.iter().filter(|answer| answer.kind == Some(Kind::TableDetails));
    Ok(rows.filter_map(|answer| FibTable::decode(&answer.body)).collect())
}
