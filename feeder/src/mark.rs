//! A point in the queue, and whether VPP has everything queued before it. Continuous changes do not delay it.

use crate::rib::Rib;

/// Everything queued before a mark has been sent; the part that VPP has still to answer counts as `sent`.
#[derive(Clone, Copy)]
pub struct Mark {
    vpp_life: u64,
    queued: u64,
    sent: Option<u64>,
    rounds: u8,
}

/// An entry queued while an older form of it was in flight is queued again when VPP answers: it has been sent after a
/// second round.
const ROUNDS: u8 = 2;

impl Mark {
    /// After all that is queued now, in this life of VPP's connection.
    pub fn here(rib: &Rib, vpp_life: u64) -> Mark {
        Mark { vpp_life, queued: rib.queued, sent: None, rounds: 0 }
    }

    /// Whether VPP has answered everything before it. `oldest_unanswered` is a number of `Rib::sent`.
    pub fn passed(&mut self, rib: &Rib, vpp_life: u64, oldest_unanswered: Option<u64>) -> bool {
        if self.vpp_life != vpp_life {
            *self = Mark::here(rib, vpp_life); // another VPP has nothing of it
        }
        while self.rounds < ROUNDS {
            if rib.taken < self.queued {
                return false;
            }
            let sent = *self.sent.get_or_insert(rib.sent);
            if oldest_unanswered.map_or(false, |number| number <= sent) {
                return false;
            }
            self.queued = rib.queued;
            self.sent = None;
            self.rounds += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{Event, Prefix, Target};
    use crate::nexthop::{Action, NextHop};
    use crate::rib::Handle;

    fn want(rib: &mut Rib, third: u8, action: Action) {
        let mut address = [0; 16];
        address[..3].copy_from_slice(&[10, 0, third]);
        let prefix = Prefix { table: 0, v6: false, address, length: 24 };
        rib.take(Event::Route(prefix, Target::Inline(vec![NextHop { action, weight: 1 }]), 186));
    }

    fn send(rib: &mut Rib) -> (Handle, u64) {
        let (handle, _) = rib.next().expect("something is queued");
        rib.sent(handle);
        (handle, rib.sent)
    }

    #[test]
    fn changes_that_keep_coming_do_not_hold_it_up() {
        let mut rib = Rib::new();
        want(&mut rib, 0, Action::Blackhole);
        let mut mark = Mark::here(&rib, 1);
        let (mut on_its_way, number) = send(&mut rib);
        assert!(!mark.passed(&rib, 1, Some(number)));
        for third in 1..=2 {
            want(&mut rib, third, Action::Blackhole);
            let (newer, number) = send(&mut rib);
            rib.done(on_its_way, true, true);
            assert_eq!(mark.passed(&rib, 1, Some(number)), third == 2, "{} is still on its way", third);
            on_its_way = newer;
        }
    }

    #[test]
    fn a_change_of_what_is_on_its_way_is_waited_for() {
        let mut rib = Rib::new();
        want(&mut rib, 1, Action::Blackhole);
        let (handle, number) = send(&mut rib);
        want(&mut rib, 1, Action::Prohibit);
        let mut mark = Mark::here(&rib, 1);
        assert!(rib.next().is_none());
        assert!(!mark.passed(&rib, 1, Some(number)));
        rib.done(handle, true, true);
        assert!(!mark.passed(&rib, 1, None));
        let (handle, number) = send(&mut rib);
        assert!(!mark.passed(&rib, 1, Some(number)));
        rib.done(handle, true, true);
        assert!(mark.passed(&rib, 1, None));
    }

    #[test]
    fn another_vpp_has_to_be_given_everything_again() {
        let mut rib = Rib::new();
        want(&mut rib, 1, Action::Blackhole);
        let mut mark = Mark::here(&rib, 1);
        let (_, number) = send(&mut rib);
        assert!(!mark.passed(&rib, 1, Some(number)));
        rib.vpp_is_new();
        assert!(!mark.passed(&rib, 2, None));
        let (handle, _) = send(&mut rib);
        rib.done(handle, true, true);
        assert!(mark.passed(&rib, 2, None));
    }
}
