//! Determines when a zebra that came back has sent everything, as it does not say so.
//!
//! Once the kernel has no route of a routing protocol that zebra has not sent, all other routes not sent again are
//! gone. The check runs when the stream is quiet, and now and then when it never is. Routes reach the kernel before
//! zebra sends them, so with a constantly changing table a check always finds some: only those count that a second
//! check finds as well.

use crate::feeder::Zebra;
use crate::kernel::{KernelCheck, Untold};
use crate::rib::Rib;
use std::time::{Duration, Instant};

/// zebra 8.4 and 10.3 pause a walk for a second when their buffer is full.
const QUIET: Duration = Duration::from_millis(1500);
const AGAIN: Duration = Duration::from_secs(2);
/// The interval of checks of the kernel while zebra is never quiet.
const UNQUIET_AGAIN: Duration = Duration::from_secs(10);
/// Checks take at most a tenth of the time.
const REST: u32 = 10;

pub struct Resync {
    /// The number of routes that the last check found.
    pub untold: Option<u64>,
    before: Option<Untold>,
    check: Option<KernelCheck>,
    /// The connection of zebra that it is about.
    connection: u64,
    began: Instant,
    quiet_next: Instant,
    next: Instant,
}

impl Resync {
    pub fn new(now: Instant) -> Resync {
        Resync { untold: None, before: None, check: None, connection: 0, began: now, quiet_next: now, next: now }
    }

    /// What to wait for.
    pub fn fd(&self) -> Option<i32> {
        self.check.as_ref().map(|check| check.fd())
    }

    /// Whether zebra has sent everything over its present connection.
    pub fn is_over(&mut self, zebra: &Zebra, rib: &Rib, now: Instant) -> bool {
        if zebra.since.is_none() || self.connection != zebra.connections {
            // Results for another connection do not apply: everything has to be sent again.
            *self = Resync { untold: self.untold, next: now + UNQUIET_AGAIN, ..Resync::new(now) };
            self.connection = zebra.connections;
            return false;
        }
        if self.check.is_none() {
            let quiet = now >= self.quiet_next && now.saturating_duration_since(zebra.last_bytes) >= QUIET;
            if !quiet && now < self.next {
                return false;
            }
            self.began = now;
            self.plan(now);
            self.check = KernelCheck::start().ok();
        }
        let read = match &mut self.check {
            Some(check) => check.read(rib),
            None => return false,
        };
        match read {
            Ok(None) => false,
            Ok(Some(found)) => {
                self.check = None;
                self.plan(now);
                self.is_all(found, rib)
            }
            Err(_) => {
                self.check = None;
                false
            }
        }
    }

    fn plan(&mut self, now: Instant) {
        let rest = now.saturating_duration_since(self.began) * REST;
        self.quiet_next = now + AGAIN.max(rest);
        self.next = now + UNQUIET_AGAIN.max(rest);
    }

    /// Whether the routes that a check found were only on their way.
    fn is_all(&mut self, mut found: Untold, rib: &Rib) -> bool {
        found.forget_told(rib);
        self.untold = Some(found.count);
        let before = self.before.take().filter(|before| !before.is_cut());
        let lasting = match &before {
            None => found.count > 0,
            Some(before) => found.is_cut() || found.named.iter().any(|prefix| before.named.contains(prefix)),
        };
        self.before = Some(found);
        !lasting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{Event, Prefix, Target};

    fn prefix(at: u32) -> Prefix {
        let mut address = [0; 16];
        address[..4].copy_from_slice(&at.to_be_bytes());
        Prefix { table: 0, v6: false, address, length: 32 }
    }

    fn found(all: impl IntoIterator<Item = u32>) -> Untold {
        let mut untold = Untold::default();
        all.into_iter().for_each(|at| untold.add(prefix(at)));
        untold
    }

    #[test]
    fn a_kernel_without_untold_routes_is_enough() {
        let mut resync = Resync::new(Instant::now());
        assert!(resync.is_all(found([]), &Rib::new()));
    }

    #[test]
    fn routes_on_their_way_to_zebras_stream_do_not_keep_it_from_ending() {
        let (mut resync, mut rib) = (Resync::new(Instant::now()), Rib::new());
        assert!(!resync.is_all(found([1, 2, 3]), &rib), "they may never be told");
        assert!(!resync.is_all(found([3, 4]), &rib), "the third is still not told");
        rib.take(Event::Route(prefix(4), Target::Object(7), 186));
        assert!(resync.is_all(found([4, 5]), &rib), "one was told, the other has just come");
        assert_eq!(resync.untold, Some(1));
    }

    #[test]
    fn a_route_that_stays_untold_keeps_it_from_ending() {
        let mut resync = Resync::new(Instant::now());
        assert!((0..5).all(|look| !resync.is_all(found([1, look + 2]), &Rib::new())));
    }

    #[test]
    fn more_than_can_be_named_are_never_on_their_way() {
        let mut resync = Resync::new(Instant::now());
        assert!(!resync.is_all(found(0..10_000), &Rib::new()));
        assert_eq!(resync.untold, Some(10_000));
        assert!(!resync.is_all(found(20_000..20_001), &Rib::new()), "the look before named not all");
        assert!(!resync.is_all(found(30_000..40_000), &Rib::new()));
    }
}
