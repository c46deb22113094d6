//! Checks whether VPP still has its routes: while there is nothing else to do, every route is looked up again and
//! again, some at a time. A route that differs is given to VPP once more.

use crate::fpm::Prefix;
use crate::rib::{Handle, Rib};
use crate::table::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Routes looked up in one round trip.
const BATCH: usize = 64;
/// At most 1,000 routes a second: about a hundredth of VPP's main thread.
const REST: Duration = Duration::from_millis(64);
/// A short table is compared once in this time.
const PASS: Duration = Duration::from_secs(60);
/// A route that differed is checked again after this time, then after twice as long, and so on.
const AGAIN: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(60);
/// The most routes that are remembered to differ; further ones are still given again.
const MOST: usize = 1024;
/// VPP was given the route this many times, and it still differs.
const STUBBORN: u32 = 2;

struct Suspect {
    seen: u32,
    next: Instant,
}

#[derive(Clone, Copy)]
pub struct Pass {
    pub ended: Instant,
    pub took: Duration,
    pub routes: u64,
}

pub struct Proof {
    v6: bool,
    at: u32,
    next: Instant,
    began: Instant,
    /// Routes compared in this pass.
    pub checked: u64,
    pub last: Option<Pass>,
    /// The number of times that a route differed and was given to VPP again.
    pub told_again: u64,
    suspects: BTreeMap<(bool, u32), Suspect>,
}

impl Proof {
    pub fn new(now: Instant) -> Proof {
        Proof {
            v6: false,
            at: 0,
            next: now,
            began: now,
            checked: 0,
            last: None,
            told_again: 0,
            suspects: BTreeMap::new(),
        }
    }

    /// VPP is a new one: earlier knowledge does not apply.
    pub fn begin_anew(&mut self, now: Instant) {
        *self = Proof { told_again: self.told_again, ..Proof::new(now) };
    }

    /// The routes to look up in VPP now: those that differed, then the next ones. Empty while none is due.
    pub fn due(&mut self, rib: &Rib, now: Instant) -> Vec<Handle> {
        let mut due: Vec<Handle> = Vec::new();
        self.suspects.retain(|(v6, at), suspect| {
            let handle = Handle::new(*v6, *at);
            if now >= suspect.next && due.len() < BATCH && is_settled(rib, handle) {
                due.push(handle);
            }
            // Refused and waiting routes are counted as such.
            let flags = flags(rib, handle);
            flags & WANTED != 0 && flags & HELD == 0
        });
        if now < self.next {
            return due;
        }
        self.next = now + rest(rib);
        while due.len() < BATCH {
            let end = if self.v6 { rib.v6.positions().end } else { rib.v4.positions().end };
            if self.at >= end {
                self.at = 0;
                self.v6 = !self.v6;
                if !self.v6 {
                    self.end_pass(now);
                    break;
                }
                continue;
            }
            let handle = Handle::new(self.v6, self.at);
            self.at += 1;
            if is_settled(rib, handle) && !self.suspects.contains_key(&(handle.v6(), handle.at())) {
                due.push(handle);
                self.checked += 1;
            }
        }
        due
    }

    /// VPP's answer: whether it has the route as given. True when it has to be given again.
    pub fn judge(&mut self, handle: Handle, same: bool, now: Instant) -> bool {
        let key = (handle.v6(), handle.at());
        if same {
            self.suspects.remove(&key);
            return false;
        }
        self.told_again += 1;
        // Where one is wrong there may be more.
        self.next = now;
        if let Some(suspect) = self.suspects.get_mut(&key) {
            suspect.seen = suspect.seen.saturating_add(1);
            suspect.next = now + (AGAIN * 2u32.saturating_pow(suspect.seen.min(10))).min(LONGEST);
        } else if self.suspects.len() < MOST {
            self.suspects.insert(key, Suspect { seen: 1, next: now + AGAIN });
        }
        true
    }

    /// Routes that VPP does not have as given, although they were given again.
    pub fn differing<'a>(&'a self, rib: &'a Rib) -> impl Iterator<Item = Prefix> + 'a {
        let stubborn = self.suspects.iter().filter(|(_, suspect)| suspect.seen >= STUBBORN);
        stubborn.map(move |((v6, at), _)| Handle::new(*v6, *at)).filter(move |handle| is_settled(rib, *handle)).map(
            move |handle| rib.prefix(handle),
        )
    }

    /// How long no lookup is due.
    pub fn idle(&self, now: Instant) -> Duration {
        let suspects = self.suspects.values().map(|suspect| suspect.next);
        let next = suspects.chain([self.next]).min().unwrap_or(now);
        next.saturating_duration_since(now)
    }

    fn end_pass(&mut self, now: Instant) {
        if self.checked > 0 {
            self.last = Some(Pass { ended: now, took: now.duration_since(self.began), routes: self.checked });
        }
        self.began = now;
        self.checked = 0;
    }
}

/// Between two rounds.
fn rest(rib: &Rib) -> Duration {
    let rounds = (rib.given as u32 / BATCH as u32).saturating_add(1);
    REST.max(PASS / rounds)
}

/// According to its answer VPP has it, and nothing of it is in flight.
fn is_settled(rib: &Rib, handle: Handle) -> bool {
    flags(rib, handle) & !STALE == WANTED | GIVEN
}

/// None where the table has become shorter.
fn flags(rib: &Rib, handle: Handle) -> u8 {
    let at = handle.at();
    if handle.v6() {
        if rib.v6.positions().contains(&at) { rib.v6.entry(at).flags } else { 0 }
    } else if rib.v4.positions().contains(&at) {
        rib.v4.entry(at).flags
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{Event, Target};
    use crate::nexthop::{Action, NextHop};
    use std::collections::HashSet;

    fn rib(count: u16) -> Rib {
        let mut rib = Rib::new();
        for at in 0..count {
            for v6 in [false, true] {
                let mut address = [0; 16];
                address[1..3].copy_from_slice(&at.to_be_bytes());
                let target = Target::Inline(vec![NextHop { action: Action::Blackhole, weight: 1 }]);
                rib.take(Event::Route(Prefix { table: 0, v6, address, length: 24 }, target, 186));
            }
        }
        settle(&mut rib);
        rib
    }

    fn settle(rib: &mut Rib) {
        while let Some((handle, _)) = rib.next() {
            rib.sent(handle);
            rib.done(handle, true, true);
        }
    }

    #[test]
    fn every_route_is_asked_for_once_in_a_pass_and_not_faster_than_told() {
        let (rib, start) = (rib(500), Instant::now());
        let (mut proof, mut seen, mut now) = (Proof::new(start), HashSet::new(), start);
        while proof.last.is_none() {
            let due = proof.due(&rib, now);
            assert!(due.len() <= BATCH);
            for handle in due {
                assert!(seen.insert((handle.v6(), handle.at())));
                assert!(!proof.judge(handle, true, now));
            }
            assert!(proof.due(&rib, now + REST / 2).is_empty());
            now += rest(&rib);
        }
        assert_eq!(seen.len(), 1000);
        let pass = proof.last.expect("it ended");
        assert_eq!(pass.routes, 1000);
        assert!(pass.took > PASS / 2 && pass.took < PASS * 2, "{:?}", pass.took);
    }

    #[test]
    fn what_differs_is_told_again_looked_at_soon_and_named_only_when_that_did_not_help() {
        let (mut rib, start) = (rib(3), Instant::now());
        let mut proof = Proof::new(start);
        let due = proof.due(&rib, start);
        let wrong = due[1];
        for handle in &due {
            assert_eq!(proof.judge(*handle, *handle != wrong, start), *handle == wrong);
        }
        rib.enqueue(wrong);
        assert!(proof.due(&rib, start + AGAIN).iter().all(|handle| *handle != wrong), "it is on its way");
        settle(&mut rib);
        let now = start + AGAIN;
        assert!(proof.idle(now) == Duration::default() && proof.due(&rib, now).contains(&wrong));
        assert_eq!(proof.differing(&rib).count(), 0, "VPP was told only once");
        proof.judge(wrong, false, now);
        assert_eq!(proof.differing(&rib).collect::<Vec<_>>(), vec![rib.prefix(wrong)]);
        assert!(!proof.due(&rib, now + AGAIN * 3).contains(&wrong) && proof.due(&rib, now + AGAIN * 4).contains(&wrong));
        assert_eq!(proof.told_again, 2);
        proof.judge(wrong, true, now);
        assert_eq!(proof.differing(&rib).count(), 0);
    }

    #[test]
    fn routes_on_their_way_and_free_places_are_left_out() {
        let mut rib = rib(2);
        let gone = Handle::new(false, 0);
        let prefix = rib.prefix(gone);
        rib.take(Event::Withdraw(prefix));
        let mut proof = Proof::new(Instant::now());
        assert_eq!(proof.due(&rib, Instant::now()).len(), 3);
        proof.begin_anew(Instant::now());
        let (handle, _) = rib.next().expect("the withdrawal");
        rib.sent(handle);
        rib.done(handle, false, true);
        assert_eq!(proof.due(&rib, Instant::now()).len(), 3);
    }
}
