//! The paths of each next-hop group by VPP's interfaces, as given with the group's routes.
//!
//! When a mirror is created or removed, the groups are checked instead of the routes that VPP has. Therefore no group
//! that a route uses may be missing here unless its routes are queued: VPP crashes over a route that outlives its
//! interface.

use crate::nexthop::GroupId;
use crate::regroup::Regrouped;
use crate::rib::Rib;
use crate::vpp_messages::{paths, Paths, Way};
use std::collections::{HashMap, HashSet};

/// Unused groups are forgotten when there are this many of them.
const UNUSED: usize = 4096;

/// A group, and whether it is for IPv6 routes.
pub type Key = (GroupId, bool);

#[derive(Default)]
pub struct PathCache {
    /// None: zebra has not sent the group, or one of its members.
    known: HashMap<Key, Option<Paths>>,
}

impl PathCache {
    /// The paths of a group; `way` maps Linux's index.
    pub fn of(&mut self, rib: &Rib, key: Key, way: impl Fn(u32) -> Option<Way>) -> &Option<Paths> {
        self.known.entry(key).or_insert_with(|| encode(rib, key, way))
    }

    /// The changes of groups, in order. Routes of changed groups are queued.
    pub fn regroup(&mut self, all: &[Regrouped]) {
        for one in all {
            for v6 in [false, true] {
                match *one {
                    Regrouped::Changed(group) => {
                        self.known.remove(&(group, v6));
                    }
                    Regrouped::Same { before, now } => {
                        if let Some(paths) = self.known.get(&(before, v6)).cloned() {
                            self.known.entry((now, v6)).or_insert(paths);
                        }
                    }
                }
            }
        }
    }

    /// Frees memory.
    pub fn purge(&mut self, rib: &Rib) {
        if self.known.len() > 2 * rib.groups.used() + UNUSED {
            self.known.retain(|(group, _), _| rib.groups.is_used(*group));
        }
    }

    /// Mirrors changed: returns the groups whose paths are different now.
    pub fn renew(&mut self, rib: &Rib, way: impl Fn(u32) -> Option<Way>) -> HashSet<Key> {
        let mut changed = HashSet::new();
        for (key, before) in &mut self.known {
            let after = encode(rib, *key, &way);
            if after != *before {
                changed.insert(*key);
                *before = after;
            }
        }
        changed
    }
}

fn encode(rib: &Rib, (group, v6): Key, way: impl Fn(u32) -> Option<Way>) -> Option<Paths> {
    rib.hops(group).map(|hops| paths(&hops, v6, way))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{Event, Prefix, Target};
    use crate::nexthop::{Action, NextHop, Object};

    fn via(interface: u32) -> Action {
        Action::Forward { interface, gateway: [0; 16], gateway_length: 4, labels: vec![] }
    }

    fn prefix(at: u32) -> Prefix {
        let mut address = [0; 16];
        address[..4].copy_from_slice(&at.to_be_bytes());
        Prefix { table: 0, v6: false, address, length: 32 }
    }

    fn out(ifindex: u32) -> Option<Way> {
        Some(Way::Out(ifindex))
    }

    #[test]
    fn a_group_in_use_is_known_however_many_others_came_and_went() {
        let (mut rib, mut cache) = (Rib::new(), PathCache::default());
        rib.take(Event::NextHop(7, Object::Single(via(1))));
        rib.take(Event::Route(prefix(0), Target::Object(7), 186));
        cache.of(&rib, (7, false), out);
        for interface in 0..4 * UNUSED as u32 {
            let target = Target::Inline(vec![NextHop { action: via(interface), weight: 1 }]);
            rib.take(Event::Route(prefix(1), target, 186));
            let group = rib.wanted(&prefix(1)).expect("zebra wants it");
            cache.of(&rib, (group, false), out);
            cache.purge(&rib);
        }
        assert!(cache.known.len() <= UNUSED + 5, "{}", cache.known.len());
        // The mirror is removed: the routes over it have to be updated.
        assert!(cache.renew(&rib, |ifindex| Some(Way::Out(ifindex)).filter(|_| ifindex != 1)).contains(&(7, false)));
        assert!(cache.renew(&rib, |ifindex| Some(Way::Out(ifindex)).filter(|_| ifindex != 1)).is_empty());
    }

    #[test]
    fn an_object_that_zebra_took_back_is_known_while_a_route_uses_it() {
        let (mut rib, mut cache) = (Rib::new(), PathCache::default());
        rib.take(Event::NextHop(7, Object::Single(via(1))));
        rib.take(Event::Route(prefix(0), Target::Object(7), 186));
        cache.of(&rib, (7, false), out);
        rib.take(Event::NextHopGone(7));
        for number in 0..2 * UNUSED as u32 {
            cache.of(&rib, (number + 100, false), out);
        }
        cache.purge(&rib);
        assert!(cache.known.contains_key(&(7, false)));
        rib.take(Event::Withdraw(prefix(0)));
        for number in 0..2 * UNUSED as u32 {
            cache.of(&rib, (number + 100, false), out);
        }
        cache.purge(&rib);
        assert!(!cache.known.contains_key(&(7, false)));
    }
}
