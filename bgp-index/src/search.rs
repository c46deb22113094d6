//! A search: checks the attributes of each distinct set once, then walks in order through the paths of the prefixes
//! that may match.
//!
//! It runs to its end in one turn of the main loop. bgpd does not wait for it: messages that it cannot send stay in
//! its table.

use crate::attributes::Attributes;
use crate::json::Json;
use crate::ordered::{Entry, Ordered};
use crate::prefix::{keys_of, keys_within, Key};
use crate::question::{Neighbor, Search};
use crate::rows::Row;
use crate::table::Table;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A neighbor chooses the length of its attributes: rows end where an answer would exceed this.
const LONGEST_BYTES: usize = 4 << 20;

/// The number of matching paths, and those of the page.
pub struct Found<K> {
    pub matching: usize,
    pub page: Vec<Entry<K>>,
}

/// Adds `matching`, `rows` and, where they are cut, `shortened` to an answer.
pub fn answer(table: &Table, search: &Search, now: Instant, json: Json) -> Json {
    match search.v6 {
        false => rows(table, &find(table, &table.v4, search), now, json),
        true => rows(table, &find(table, &table.v6, search), now, json),
    }
}

fn rows<K: Key>(table: &Table, found: &Found<K>, now: Instant, json: Json) -> Json {
    let clock_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut rows = String::from("[");
    let mut shortened = false;
    for entry in &found.page {
        let peer = table.peers.get(entry.key.neighbor());
        let told = table.own_told.filter(|_| peer.origin.own);
        let row = Row {
            prefix: entry.key.prefix(),
            peer,
            asn: table.peers.asn(peer),
            set: Attributes(table.sets.bytes(entry.set)),
            received_s: Some(entry.received_s).filter(|at| *at > 0).map(|at| clock_s.saturating_sub(at.into())),
            as_of_s: told.map(|told| now.saturating_duration_since(told).as_secs()),
        };
        let row = row.json();
        if rows.len() > 1 && rows.len() + row.len() > LONGEST_BYTES {
            shortened = true;
            break;
        }
        if rows.len() > 1 {
            rows.push(',');
        }
        rows.push_str(&row);
    }
    rows.push(']');
    let json = json.number("matching", found.matching as u64).raw("rows", &rows);
    match shortened {
        true => json.raw("shortened", "true"),
        false => json,
    }
}

pub fn find<K: Key>(table: &Table, ordered: &Ordered<K>, search: &Search) -> Found<K> {
    let ranks = table.peers.ranks();
    let from: Option<Vec<bool>> = search.neighbor.map(|wanted| {
        let is = |peer: &crate::peers::Peer| match wanted {
            Neighbor::Own => peer.origin.own,
            Neighbor::Address(v6, address) => peer.is(v6, &address),
        };
        table.peers.all().iter().map(is).collect()
    });
    let mut verdicts = Verdicts::new(table, search);
    let mut page = Page { offset: search.offset, limit: search.limit, matching: 0, rows: Vec::new(), group: Vec::new() };
    let all_match = from.is_none() && search.wanted.is_all() && ranges_say_all(search);
    for (first, last) in ranges::<K>(search) {
        for entries in ordered.range(first, last) {
            if all_match && page.pass(entries.len(), &ranks) {
                continue;
            }
            for entry in entries {
                let matches = from.as_ref().map_or(true, |from| from[usize::from(entry.key.neighbor())])
                    && verdicts.of(entry.set)
                    && is_inside(entry.key, search);
                if matches {
                    page.take(entry, &ranks);
                }
            }
        }
    }
    page.flush(&ranks);
    Found { matching: page.matching, page: page.rows }
}

/// The keys that may match: those of the narrowest condition. `is_inside` checks the other conditions.
fn ranges<K: Key>(search: &Search) -> Vec<(K, K)> {
    if let Some(exact) = &search.exact {
        return vec![keys_of(exact)];
    }
    if let Some(covering) = &search.covering {
        return (0..=covering.length).map(|length| keys_of(&covering.shortened(length))).collect();
    }
    match &search.within {
        Some(within) => vec![keys_within(within)],
        None => {
            let all = crate::prefix::Prefix { v6: search.v6, address: [0; 16], length: 0 };
            vec![keys_within(&all)]
        }
    }
}

/// Whether `ranges` covers all conditions on prefixes: it uses one, and `is_inside` checks the others.
fn ranges_say_all(search: &Search) -> bool {
    [&search.exact, &search.covering, &search.within].into_iter().flatten().count() <= 1
}

fn is_inside<K: Key>(key: K, search: &Search) -> bool {
    if ranges_say_all(search) {
        return true;
    }
    let prefix = key.prefix();
    search.covering.map_or(true, |covered| prefix.contains(&covered)) && search.within.map_or(true, |outer| outer.contains(&prefix))
}

/// Whether a set's attributes match, checked at the first path with it.
struct Verdicts<'a> {
    table: &'a Table,
    search: &'a Search,
    /// 0 where it is not checked yet. Empty where every set matches.
    known: Vec<u8>,
}

const MATCHES: u8 = 1;
const DIFFERS: u8 = 2;

impl<'a> Verdicts<'a> {
    fn new(table: &'a Table, search: &'a Search) -> Verdicts<'a> {
        let known = if search.wanted.is_all() { Vec::new() } else { vec![0; table.sets.end()] };
        Verdicts { table, search, known }
    }

    fn of(&mut self, set: u32) -> bool {
        match self.known.get_mut(set as usize) {
            None => true,
            Some(verdict) => {
                if *verdict == 0 {
                    let matches = self.search.wanted.matches(&Attributes(self.table.sets.bytes(set)));
                    *verdict = if matches { MATCHES } else { DIFFERS };
                }
                *verdict == MATCHES
            }
        }
    }
}

/// The page of matches: paths of one prefix are sorted by neighbor before they are counted.
struct Page<K> {
    offset: usize,
    limit: usize,
    matching: usize,
    rows: Vec<Entry<K>>,
    /// The paths of the current prefix.
    group: Vec<Entry<K>>,
}

impl<K: Key> Page<K> {
    /// Counts this many matches if none of them can be on the page; false where some may be.
    fn pass(&mut self, count: usize, ranks: &[u16]) -> bool {
        // A prefix has at most one path for each neighbor: one that begins here ends before the page.
        let before = self.matching + self.group.len() + count + ranks.len() <= self.offset;
        let passes = self.rows.len() >= self.limit || before;
        if passes {
            if !self.group.is_empty() {
                self.flush(ranks);
            }
            self.matching += count;
        }
        passes
    }

    fn take(&mut self, entry: &Entry<K>, ranks: &[u16]) {
        if self.pass(1, ranks) {
            return;
        }
        let other = self.group.first().map_or(false, |first| first.key.prefix() != entry.key.prefix());
        if other {
            self.flush(ranks);
        }
        self.group.push(*entry);
    }

    fn flush(&mut self, ranks: &[u16]) {
        self.group.sort_by_key(|entry| ranks[usize::from(entry.key.neighbor())]);
        for entry in self.group.drain(..) {
            if self.matching >= self.offset && self.rows.len() < self.limit {
                self.rows.push(entry);
            }
            self.matching += 1;
        }
    }
}
