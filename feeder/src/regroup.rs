//! Next-hop groups that changed, and those that are the same under another number.

use crate::nexthop::GroupId;
use crate::rib::Rib;
use crate::table::*;
use std::collections::HashMap;

/// The change of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Regrouped {
    /// Its next hops changed, and its routes are queued.
    Changed(GroupId),
    /// Routes of the first now belong to the second, which leads where the first did.
    Same { before: GroupId, now: GroupId },
}

impl Rib {
    /// Queues the routes whose next-hop objects changed; returns the changes of groups, in order. A walk over all
    /// routes, so it is called once for many events.
    pub fn settle(&mut self) -> Vec<Regrouped> {
        self.settle_changed();
        std::mem::take(&mut self.regrouped)
    }

    fn settle_changed(&mut self) {
        if self.changed_groups.is_empty() {
            return;
        }
        let changed = std::mem::take(&mut self.changed_groups);
        let affected = self.groups.affected(&changed);
        // zebra sends an object before its first route.
        if affected.iter().any(|group| self.groups.is_used(*group)) {
            self.requeue(|flags, group, _| flags & WANTED != 0 && affected.contains(&group));
        }
        self.regrouped.extend(affected.into_iter().map(Regrouped::Changed));
    }

    /// zebra disconnected, and a new one gives its numbers to other objects: routes sent before keep their next hops,
    /// whatever arrives under the same number. A group that cannot be resolved has nothing to keep.
    pub fn keep_next_hops(&mut self) {
        self.settle_changed();
        let mut kept: HashMap<GroupId, GroupId> = HashMap::new();
        for handle in self.handles() {
            let (flags, before) = (self.flags(handle), self.group(handle));
            if flags & WANTED == 0 {
                continue;
            }
            let now = match kept.get(&before) {
                Some(now) => self.groups.hold(*now),
                None => match self.groups.resolve_object(before) {
                    Some(hops) => self.groups.intern(hops),
                    None => continue,
                },
            };
            kept.insert(before, now);
            self.set_group(handle, now);
            self.groups.release(before);
        }
        self.regrouped.extend(kept.into_iter().map(|(before, now)| Regrouped::Same { before, now }));
        self.regrouped.extend(self.groups.forget_objects().into_iter().map(Regrouped::Changed));
    }

    /// Whether a route that VPP has by the first group is correct by the second. A walk over both.
    pub fn leads_alike(&mut self, before: GroupId, now: GroupId) -> bool {
        if before == now {
            return true;
        }
        // Objects change, and may have changed since the route was given.
        if !self.groups.is_constant(before) || self.groups.resolve(before) != self.groups.resolve(now) {
            return false;
        }
        let same = Regrouped::Same { before, now };
        if self.regrouped.last() != Some(&same) {
            self.regrouped.push(same);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{Event, Prefix, Target};
    use crate::nexthop::{Action, NextHop, Object};
    use crate::rib::Work;

    fn prefix(at: u8) -> Prefix {
        let mut address = [0; 16];
        address[..3].copy_from_slice(&[10, 0, at]);
        Prefix { table: 0, v6: false, address, length: 24 }
    }

    fn via(interface: u32) -> Action {
        Action::Forward { interface, gateway: [0; 16], gateway_length: 4, labels: vec![] }
    }

    fn told(rib: &mut Rib, objects: &[(u32, u32)], routes: &[(u8, u32)]) {
        for (id, interface) in objects {
            rib.take(Event::NextHop(*id, Object::Single(via(*interface))));
        }
        for (at, id) in routes {
            rib.take(Event::Route(prefix(*at), Target::Object(*id), 186));
        }
    }

    /// What VPP would be asked, accepted at once; with the interfaces that it leads to.
    fn sent(rib: &mut Rib) -> Vec<(Prefix, Vec<u32>)> {
        rib.settle();
        let mut all = Vec::new();
        while let Some((handle, work)) = rib.next() {
            rib.sent(handle);
            rib.done(handle, matches!(work, Work::Give(..)), true);
            all.push(match work {
                Work::Give(prefix, group) => (prefix, leads(rib, group)),
                Work::Take(prefix) => (prefix, vec![]),
            });
        }
        all
    }

    fn leads(rib: &Rib, group: GroupId) -> Vec<u32> {
        let interface = |hop: NextHop| match hop.action {
            Action::Forward { interface, .. } => interface,
            _ => 0,
        };
        rib.hops(group).expect("it is known").into_iter().map(interface).collect()
    }

    #[test]
    fn a_new_zebra_s_objects_do_not_move_routes_that_the_old_one_told_under_their_numbers() {
        let mut rib = Rib::new();
        told(&mut rib, &[(1, 11), (2, 12)], &[(1, 1), (2, 2), (3, 1)]);
        sent(&mut rib);
        rib.mark_stale();
        told(&mut rib, &[(1, 12), (2, 11)], &[]);
        assert_eq!(sent(&mut rib), vec![], "nothing was said of a route");
        told(&mut rib, &[], &[(1, 2), (2, 1)]);
        assert_eq!(sent(&mut rib), vec![], "they lead where they led, by other numbers");
        told(&mut rib, &[(2, 13)], &[]);
        assert_eq!(sent(&mut rib), vec![(prefix(1), vec![13])]);
        assert_eq!(rib.sweep(), 1);
        assert_eq!(sent(&mut rib), vec![(prefix(3), vec![])]);
        assert_eq!(rib.groups.len(), 2, "of the old zebra's next hops nothing is left");
    }

    #[test]
    fn what_changed_in_the_old_zebra_s_last_words_is_given() {
        let mut rib = Rib::new();
        told(&mut rib, &[(1, 11)], &[(1, 1)]);
        sent(&mut rib);
        told(&mut rib, &[(1, 12)], &[]);
        rib.mark_stale();
        assert_eq!(sent(&mut rib), vec![(prefix(1), vec![12])]);
    }

    #[test]
    fn the_same_next_hops_under_another_number_are_said_before_a_change_of_that_number() {
        let mut rib = Rib::new();
        told(&mut rib, &[(1, 11)], &[(1, 1)]);
        sent(&mut rib);
        rib.mark_stale();
        let kept = rib.wanted(&prefix(1)).expect("it is wanted");
        assert_eq!(rib.settle(), vec![Regrouped::Same { before: 1, now: kept }, Regrouped::Changed(1)]);
        told(&mut rib, &[(5, 11)], &[]);
        assert_eq!(rib.settle(), vec![Regrouped::Changed(5)]);
        told(&mut rib, &[], &[(1, 5)]);
        assert_eq!(rib.settle(), vec![Regrouped::Same { before: kept, now: 5 }]);
    }

    #[test]
    fn a_route_whose_object_cannot_be_used_any_more_waits() {
        let mut rib = Rib::new();
        told(&mut rib, &[(1, 11)], &[(1, 1)]);
        sent(&mut rib);
        rib.take(Event::UnsupportedNextHop(1, "a test"));
        assert_eq!(rib.settle(), vec![Regrouped::Changed(1)]);
        let (_, work) = rib.next().expect("it is looked at again");
        assert_eq!((work, rib.hops(1)), (Work::Give(prefix(1), 1), None));
        assert_eq!(rib.unsupported["a test"], 1);
    }

    #[test]
    fn a_route_that_becomes_connected_or_cannot_be_used_leaves_vpp() {
        let mut rib = Rib::new();
        told(&mut rib, &[(1, 11)], &[(1, 1), (2, 1)]);
        sent(&mut rib);
        rib.take(Event::TakenOver(prefix(1)));
        rib.take(Event::TakenOver(prefix(9)));
        rib.take(Event::UnsupportedRoute(prefix(2), "a test"));
        assert_eq!(sent(&mut rib), vec![(prefix(1), vec![]), (prefix(2), vec![])]);
        assert_eq!((rib.len(), rib.groups.used()), (0, 0));
    }

    #[test]
    fn a_group_of_groups_does_not_become_without_end() {
        let mut rib = Rib::new();
        told(&mut rib, &[(1, 11)], &[]);
        for id in 2..6 {
            rib.take(Event::NextHop(id, Object::Group(vec![(id - 1, 1); 4000])));
        }
        let hops = rib.hops(5).expect("it is known");
        assert!(hops.len() >= 255 && hops.len() < 1000, "{}", hops.len());
    }
}
