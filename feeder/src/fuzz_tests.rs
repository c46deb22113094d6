//! Torn, mutated and replaced streams of zebra, into the RIB and on to a VPP that refuses, dies and loses mirrors. In
//! the end VPP has what zebra wants, and nothing remains of withdrawn routes. Seeded, so that a failure is
//! reproducible.

use crate::fpm::{read_frame, Deframer, Prefix};
use crate::netlink::*;
use crate::nexthop::{Action, NextHop};
use crate::path_cache::PathCache;
use crate::rib::{Handle, Rib, Work};
use crate::table::*;
use crate::vpp_messages::{leads_there, paths, route, Pair, Paths, Way};
use crate::wire_tests::{attribute, frame, message, route_message};
use std::collections::{HashMap, HashSet};

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
    fn number(&mut self, end: usize) -> [u8; 4] {
        (self.below(end) as u32).to_ne_bytes()
    }
}

/// One message of zebra, with numbers so small that they repeat often.
fn some_message(random: &mut Random) -> Vec<u8> {
    let v6 = random.below(3) == 0;
    let (family, size) = if v6 { (AF_INET6, 16) } else { (AF_INET, 4) };
    let mut gateway = vec![7; size];
    gateway[size - 1] = random.below(4) as u8;
    let gateway = attribute(RTA_GATEWAY, &gateway);
    match random.below(12) {
        0..=1 => {
            let mut told = vec![attribute(NHA_ID, &random.number(20)), attribute(NHA_OIF, &random.number(12))];
            match random.below(5) {
                0 => told.push(attribute(NHA_BLACKHOLE, &[])),
                1 => told.push(attribute(NHA_ENCAP_TYPE, &(random.below(3) as u16).to_ne_bytes())),
                _ => told.push(attribute(NHA_GATEWAY, &gateway[4..])),
            }
            message(RTM_NEWNEXTHOP, &[family, 0, 186, 0, 0, 0, 0, 0], &told)
        }
        2 => {
            let member = |random: &mut Random| [&random.number(20)[..], &random.bytes(1), &[0; 3]].concat();
            let members: Vec<u8> = (0..random.below(5)).flat_map(|_| member(random)).collect();
            let told = [attribute(NHA_ID, &random.number(20)), attribute(NHA_GROUP, &members)];
            message(RTM_NEWNEXTHOP, &[family, 0, 186, 0, 0, 0, 0, 0], &told)
        }
        3 => message(RTM_DELNEXTHOP, &[0; 8], &[attribute(NHA_ID, &random.number(20))]),
        kind => {
            let mut address = vec![10; size];
            address[1] = random.below(12) as u8;
            let mut told = vec![attribute(RTA_DST, &address)];
            if random.below(4) == 0 {
                told.push(attribute(RTA_TABLE, &random.number(3)));
            }
            let length = 16 + random.below(3) as u8 * 8;
            let protocol = if random.below(20) == 0 { RTPROT_KERNEL } else { 186 };
            if kind < 6 {
                return route_message(RTM_DELROUTE, family, length, protocol, 0, &told);
            }
            match random.below(8) {
                0..=4 => told.push(attribute(RTA_NH_ID, &random.number(20))),
                5 => told.extend([gateway, attribute(RTA_OIF, &random.number(12))]),
                6 => {
                    let hops: Vec<u8> = (0..random.below(4))
                        .flat_map(|_| {
                            let head = [(8 + gateway.len()) as u16, random.below(65536) as u16];
                            let head: Vec<u8> = head.iter().flat_map(|half| half.to_ne_bytes()).collect();
                            [head, random.number(12).to_vec(), gateway.clone()].concat()
                        })
                        .collect();
                    told.push(attribute(RTA_MULTIPATH, &hops));
                }
                _ => {}
            }
            let rtype = [RTN_UNICAST, RTN_UNICAST, RTN_UNICAST, RTN_BLACKHOLE, RTN_UNREACHABLE][random.below(5)];
            route_message(RTM_NEWROUTE, family, length, protocol, rtype, &told)
        }
    }
}

/// A frame, usually whole.
fn some_frame(random: &mut Random) -> Vec<u8> {
    let mut payload: Vec<u8> = (0..1 + random.below(3)).flat_map(|_| some_message(random)).collect();
    match random.below(12) {
        0 => {
            for _ in 0..1 + random.below(4) {
                let at = random.below(payload.len());
                payload[at] = random.below(256) as u8;
            }
        }
        1 => payload.truncate(random.below(payload.len())),
        2 => payload.extend(random.bytes(7)),
        _ => {}
    }
    let mut whole = frame(&payload);
    if random.below(2000) == 0 {
        whole[random.below(4)] = random.below(256) as u8;
    }
    whole
}

/// A VPP that processes messages in order, and the feeder's state of it.
struct Model {
    rib: Rib,
    cache: PathCache,
    routes: HashMap<Prefix, Paths>,
    flying: Vec<(Handle, Prefix, Option<Paths>)>,
    vacated: HashSet<u32>,
}

fn way(vacated: &HashSet<u32>, ifindex: u32) -> Option<Way> {
    match ifindex {
        1 => Some(Way::Table(0)),
        2..=9 if !vacated.contains(&ifindex) => Some(Way::Out(ifindex + 100)),
        _ => None,
    }
}

impl Model {
    fn send(&mut self, most: usize) {
        self.cache.purge(&self.rib);
        for _ in 0..most {
            let (handle, prefix, paths) = match self.rib.next() {
                None => return,
                Some((handle, Work::Take(prefix))) => (handle, prefix, None),
                Some((handle, Work::Give(prefix, group))) => {
                    let vacated = &self.vacated;
                    match self.cache.of(&self.rib, (group, prefix.v6), |ifindex| way(vacated, ifindex)).clone() {
                        Some(some) if some.count > 0 => (handle, prefix, Some(some)),
                        _ => match self.rib.waits(handle) {
                            Some(prefix) => (handle, prefix, None),
                            None => continue,
                        },
                    }
                }
            };
            route(&mut Vec::new(), &prefix, paths.is_some(), paths.as_ref().unwrap_or(&Paths::default()));
            self.rib.sent(handle);
            self.flying.push((handle, prefix, paths));
        }
    }

    fn answer(&mut self, most: usize, refuses: impl Fn(usize) -> bool) {
        let count = most.min(self.flying.len());
        for (at, (handle, prefix, paths)) in self.flying.drain(..count).enumerate() {
            let (gave, accepted) = (paths.is_some(), !refuses(at));
            match paths {
                Some(paths) if accepted => self.routes.insert(prefix, paths),
                Some(_) => None,
                None => self.routes.remove(&prefix),
            };
            self.rib.done(handle, gave, accepted);
        }
    }

    fn mirrors_changed(&mut self) {
        let vacated = &self.vacated;
        let changed = self.cache.renew(&self.rib, |ifindex| way(vacated, ifindex));
        self.rib.requeue(|flags, group, v6| flags & WANTED != 0 && changed.contains(&(group, v6)));
    }

    fn settle(&mut self) {
        self.rib.retry();
        while self.rib.pending() > 0 {
            self.send(usize::MAX);
            self.answer(usize::MAX, |_| false);
        }
    }

    /// VPP has every route with known next hops as zebra wants it, and no other.
    fn check(&self, seed: u64) {
        let mut wanted = 0;
        for handle in self.rib.handles() {
            let (prefix, group) = (self.rib.prefix(handle), self.rib.group(handle));
            let hops = match self.rib.hops(group) {
                Some(hops) => hops,
                None => continue,
            };
            let expected = paths(&hops, prefix.v6, |ifindex| way(&self.vacated, ifindex));
            wanted += 1;
            match self.routes.get(&prefix) {
                Some(found) => assert_eq!(*found, expected, "seed {}, {:?}", seed, prefix),
                None => assert_eq!(expected.count, 0, "seed {}, {:?}", seed, prefix),
            }
        }
        assert!(wanted > 0, "seed {}", seed);
        let stray = self.routes.keys().find(|prefix| self.rib.wanted(prefix).is_none());
        assert_eq!(stray, None, "seed {}", seed);
        assert_eq!(self.rib.given, self.routes.len() as u64, "seed {}", seed);
    }
}

fn run(seed: u64) {
    let mut random = Random(seed);
    let mut model = Model {
        rib: Rib::new(),
        cache: PathCache::default(),
        routes: HashMap::new(),
        flying: Vec::new(),
        vacated: HashSet::new(),
    };
    let mut deframer = Deframer::default();
    for _ in 0..3000 {
        let bytes = some_frame(&mut random);
        let torn = random.below(bytes.len() + 1);
        for part in [&bytes[..torn], &bytes[torn..]] {
            deframer.push(part);
            loop {
                match deframer.next_frame() {
                    Ok(Some(frame)) => drop(read_frame(frame, |event| model.rib.take(event))),
                    Ok(None) => break,
                    Err(_) => {
                        deframer.clear();
                        model.rib.mark_stale();
                    }
                }
            }
        }
        let regrouped = model.rib.settle();
        model.cache.regroup(&regrouped);
        match random.below(60) {
            0..=9 => model.send(random.below(20)),
            10..=19 => {
                let refused = random.below(10);
                model.answer(random.below(20), |at| at == refused);
            }
            20 => model.rib.retry(),
            21 => model.settle(),
            22 => {
                let ifindex = 2 + random.below(8) as u32;
                if !model.vacated.remove(&ifindex) {
                    model.vacated.insert(ifindex);
                }
                model.mirrors_changed();
            }
            23 if random.below(4) == 0 => {
                model.routes.clear();
                model.flying.clear();
                model.cache = PathCache::default();
                model.rib.vpp_is_new();
            }
            24 if random.below(4) == 0 => {
                deframer.clear();
                model.rib.mark_stale();
                let regrouped = model.rib.settle();
                model.cache.regroup(&regrouped);
            }
            25 if random.below(4) == 0 => drop(model.rib.sweep()),
            26 if random.below(4) == 0 => {
                // The content of a table is lost with it; an earlier answer says nothing about it.
                model.settle();
                let table = [0, 2][random.below(2)];
                model.routes.retain(|prefix, _| prefix.table != table || prefix.v6);
                model.rib.table_is_another(table, false);
            }
            _ => {}
        }
    }
    model.settle();
    model.check(seed);
    model.rib.mark_stale();
    model.cache.regroup(&model.rib.settle());
    model.settle();
    model.check(seed);
    model.rib.sweep();
    model.settle();
    let rib = &model.rib;
    assert_eq!((model.routes.len(), rib.len(), rib.groups.len(), rib.groups.used()), (0, 0, 0, 0), "seed {}", seed);
}

#[test]
fn whatever_zebra_says_vpp_ends_with_what_it_wants_and_nothing_is_left_of_what_went() {
    for seed in 0..150 {
        run(seed);
    }
}

#[test]
fn answers_of_vpp_are_never_read_past_their_end() {
    let mut random = Random(5);
    let hops = vec![NextHop { action: Action::Blackhole, weight: 1 }; 3];
    let expected = paths(&hops, false, |_| None);
    let whole = [&vec![0; 30][..], &[3], &expected.bytes[..]].concat();
    assert!(leads_there(&whole, &expected));
    for _ in 0..20_000 {
        let mut reply = whole.clone();
        for _ in 0..random.below(4) {
            let at = random.below(reply.len());
            reply[at] = random.below(256) as u8;
        }
        reply.truncate(random.below(reply.len() + 1));
        leads_there(&reply, &expected);
        Pair::decode(&reply);
    }
}
