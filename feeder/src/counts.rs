//! The number of routes of a family in each state.

use crate::rib::Rib;
use crate::table::*;

#[derive(Default, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub wanted: u64,
    pub given: u64,
    pub stale: u64,
    pub refused: u64,
    pub waiting: u64,
    pub held: u64,
}

impl Rib {
    /// IPv4's and IPv6's; a walk over all routes.
    pub fn counts(&self) -> (Counts, Counts) {
        (counts(&self.v4), counts(&self.v6))
    }
}

fn counts<A: Address>(table: &Table<A>) -> Counts {
    let mut counts = Counts::default();
    for at in table.positions() {
        let flags = table.entry(at).flags;
        counts.wanted += u64::from(flags & WANTED != 0);
        counts.given += u64::from(flags & GIVEN != 0);
        counts.stale += u64::from(flags & WANTED != 0 && flags & STALE != 0);
        counts.refused += u64::from(flags & HELD == REFUSED);
        counts.waiting += u64::from(flags & HELD == WAITING);
        counts.held += u64::from(flags & HELD == HELD);
    }
    counts
}
