//! A new zebra, VPP or table: the state of routes that were sent and given before.

use crate::fpm::Prefix;
use crate::rib::Rib;
use crate::table::*;

impl Rib {
    /// VPP is a new one, or unreachable: its routes are unknown. Routes that it had come first: where there is not
    /// room for all, it gets the same routes again, and routes that an unreachable VPP still has are not joined by
    /// others.
    pub fn vpp_is_new(&mut self) {
        self.queue.clear();
        self.taken = self.queued;
        self.in_flight = 0;
        self.given = 0;
        let mut others = Vec::new();
        for handle in self.handles() {
            let before = self.reflag(handle, 0, !(WANTED | STALE));
            if before & WANTED == 0 {
                self.forget(handle);
            } else if before & GIVEN != 0 {
                self.enqueue(handle);
            } else {
                others.push(handle);
            }
        }
        for handle in others {
            self.enqueue(handle);
        }
    }

    /// A table of VPP was created or removed, and with it all its routes.
    pub fn table_is_another(&mut self, table: u32, v6: bool) {
        let number = match self.number_of_table(table) {
            Some(number) => number,
            None => return,
        };
        for handle in self.handles() {
            let of = if handle.v6() { self.v6.entry(handle.at()).table } else { self.v4.entry(handle.at()).table };
            if handle.v6() == v6 && of == number {
                self.given -= u64::from(self.reflag(handle, 0, GIVEN) & GIVEN != 0);
                self.enqueue(handle);
            }
        }
    }

    /// zebra disconnected: its routes stay, and are marked until it sends them again.
    pub fn mark_stale(&mut self) {
        self.keep_next_hops();
        for handle in self.handles() {
            if self.flags(handle) & WANTED != 0 {
                self.reflag(handle, STALE, 0);
            }
        }
    }

    /// zebra has sent everything: routes that are still marked are removed. Returns how many.
    pub fn sweep(&mut self) -> u64 {
        let mut swept = 0;
        for handle in self.handles() {
            let flags = self.flags(handle);
            if flags & WANTED != 0 && flags & STALE != 0 {
                self.unwant(handle);
                swept += 1;
            }
        }
        swept
    }

    /// Whether zebra wants the route and has said so since it came back.
    pub fn is_fresh(&self, prefix: &Prefix) -> bool {
        self.find(prefix).map_or(false, |handle| self.flags(handle) & (WANTED | STALE) == WANTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{Event, Target};
    use crate::nexthop::{Action, NextHop};
    use crate::rib::Work;

    fn prefix(at: u32, table: u32) -> Prefix {
        let mut address = [0; 16];
        address[..4].copy_from_slice(&(at << 8).to_be_bytes());
        Prefix { table, v6: false, address, length: 24 }
    }

    fn want(rib: &mut Rib, at: u32, table: u32) {
        let target = Target::Inline(vec![NextHop { action: Action::Blackhole, weight: 1 }]);
        rib.take(Event::Route(prefix(at, table), target, 186));
    }

    /// Gives VPP routes, all of which it accepts, until nothing is queued.
    fn given(rib: &mut Rib) -> Vec<Prefix> {
        let mut all = Vec::new();
        while let Some((handle, work)) = rib.next() {
            rib.sent(handle);
            rib.done(handle, matches!(work, Work::Give(..)), true);
            all.extend(match work {
                Work::Give(prefix, _) => Some(prefix),
                Work::Take(_) => None,
            });
        }
        all
    }

    #[test]
    fn a_vpp_that_is_reached_again_gets_the_routes_that_it_had_and_no_others() {
        let mut rib = Rib::holding(3);
        for at in 0..5 {
            want(&mut rib, at, 0);
        }
        given(&mut rib);
        // Two routes are removed, and those that waited for room take their place: VPP's routes are no longer the
        // first ones given.
        rib.take(Event::Withdraw(prefix(0, 0)));
        rib.take(Event::Withdraw(prefix(1, 0)));
        given(&mut rib);
        rib.retry();
        given(&mut rib);
        want(&mut rib, 0, 0);
        want(&mut rib, 1, 0);
        given(&mut rib);
        let has = |rib: &Rib| {
            let all = (0..5).filter(|at| rib.find(&prefix(*at, 0)).map_or(false, |handle| rib.flags(handle) & GIVEN != 0));
            all.collect::<Vec<_>>()
        };
        assert_eq!(has(&rib), vec![2, 3, 4]);
        rib.vpp_is_new();
        assert_eq!(rib.given, 0);
        given(&mut rib);
        assert_eq!(has(&rib), vec![2, 3, 4]);
    }

    #[test]
    fn a_table_that_came_or_went_is_given_again_and_counts_no_more() {
        let mut rib = Rib::new();
        for at in 0..3 {
            want(&mut rib, at, 0);
            want(&mut rib, at, 10);
        }
        given(&mut rib);
        assert_eq!(rib.given, 6);
        rib.take(Event::Withdraw(prefix(0, 10)));
        rib.table_is_another(10, true);
        rib.table_is_another(11, false);
        assert_eq!(rib.given, 6);
        rib.table_is_another(10, false);
        assert_eq!(rib.given, 3);
        assert_eq!(given(&mut rib), vec![prefix(1, 10), prefix(2, 10)], "nothing is taken from a table that went");
        assert_eq!((rib.given, rib.len()), (5, 5));
    }

    #[test]
    fn there_are_not_more_tables_than_can_be_told_apart() {
        let mut rib = Rib::new();
        for table in 0..70_000 {
            want(&mut rib, 1, 1000 + table);
        }
        assert_eq!(rib.unsupported.values().sum::<u64>(), 70_000 - 65_535);
        assert_eq!(rib.len(), 65_535);
        for table in [1000, 1000 + 65_534] {
            let handle = rib.find(&prefix(1, table)).expect("it is there");
            assert_eq!(rib.prefix(handle), prefix(1, table));
        }
        assert_eq!(rib.find(&prefix(1, 1000 + 65_535)), None);
    }
}
