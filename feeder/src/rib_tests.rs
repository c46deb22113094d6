//! The RIB against a simple model, and the sequences that lost or duplicated routes in other feeders.

use crate::fpm::{Event, Prefix, Target};
use crate::nexthop::{Action, NextHop, Object};
use crate::rib::{Handle, Rib, Work};
use std::collections::HashMap;

fn prefix(at: u8) -> Prefix {
    let mut address = [0; 16];
    address[..4].copy_from_slice(&[10, 0, at, 0]);
    Prefix { table: 0, v6: false, address, length: 24 }
}

fn via(interface: u32) -> Action {
    Action::Forward { interface, gateway: [0; 16], gateway_length: 4, labels: vec![] }
}

fn route(at: u8, group: u32) -> Event {
    Event::Route(prefix(at), Target::Object(group), 186)
}

fn inline(at: u8, interface: u32) -> Event {
    Event::Route(prefix(at), Target::Inline(vec![NextHop { action: via(interface), weight: 1 }]), 186)
}

/// Sends everything queued; returns the requests to VPP, in order.
fn send(rib: &mut Rib) -> Vec<(Handle, Work)> {
    let mut sent = Vec::new();
    while let Some((handle, work)) = rib.next() {
        rib.sent(handle);
        sent.push((handle, work));
    }
    sent
}

fn accept(rib: &mut Rib, sent: &[(Handle, Work)]) {
    for (handle, work) in sent {
        rib.done(*handle, matches!(work, Work::Give(..)), true);
    }
}

fn settle(rib: &mut Rib) {
    loop {
        let sent = send(rib);
        if sent.is_empty() {
            return;
        }
        accept(rib, &sent);
    }
}

#[test]
fn a_change_of_zebra_8_4_is_one_replacement_and_never_a_withdrawal() {
    let mut rib = Rib::new();
    rib.take(route(1, 7));
    settle(&mut rib);
    rib.take(Event::Withdraw(prefix(1)));
    rib.take(route(1, 8));
    let sent = send(&mut rib);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1, Work::Give(prefix(1), 8));
}

#[test]
fn a_route_that_was_asked_for_is_given_again_and_another_is_not() {
    let mut rib = Rib::new();
    rib.take(route(1, 7));
    settle(&mut rib);
    assert!(rib.again(&prefix(1)) && !rib.again(&prefix(2)));
    assert!(rib.again(&prefix(1)));
    let sent = send(&mut rib);
    assert_eq!(sent.iter().map(|(_, work)| work).collect::<Vec<_>>(), vec![&Work::Give(prefix(1), 7)]);
    // While the message is in flight, the change is sent after the answer.
    assert!(rib.again(&prefix(1)));
    accept(&mut rib, &sent);
    assert_eq!(send(&mut rib).len(), 1);
    rib.take(Event::Withdraw(prefix(1)));
    assert!(!rib.again(&prefix(1)));
}

#[test]
fn what_vpp_has_no_room_for_is_held_back_until_there_is() {
    let mut rib = Rib::holding(3);
    for at in 1..=5 {
        rib.take(route(at, 7));
    }
    settle(&mut rib);
    let (v4, _) = rib.counts();
    assert_eq!((v4.wanted, v4.given, v4.held, v4.refused, v4.waiting), (5, 3, 2, 0, 0));
    assert_eq!(rib.pending(), 0);
    // No room, no work. A route that VPP has is changed anyway.
    rib.retry();
    assert_eq!(send(&mut rib), vec![]);
    rib.take(route(1, 8));
    let sent = send(&mut rib);
    assert_eq!(sent[0].1, Work::Give(prefix(1), 8));
    accept(&mut rib, &sent);
    // One is removed, one of those held back is added.
    rib.take(Event::Withdraw(prefix(2)));
    settle(&mut rib);
    rib.retry();
    settle(&mut rib);
    let (v4, _) = rib.counts();
    assert_eq!((v4.wanted, v4.given, v4.held), (4, 3, 1));
    // Withdrawing a route held back requires nothing of VPP.
    let held = (1..=5).map(prefix).find(|one| rib.is_held(one)).unwrap();
    rib.take(Event::Withdraw(held));
    assert_eq!(send(&mut rib), vec![]);
    rib.most = 10;
    rib.take(route(9, 7));
    settle(&mut rib);
    assert_eq!(rib.counts().0.given, 4);
    // A new VPP, too, gets only as many as it has room for.
    rib.most = 2;
    rib.vpp_is_new();
    settle(&mut rib);
    assert_eq!((rib.counts().0.given, rib.counts().0.held), (2, 2));
}

#[test]
fn a_route_told_again_unchanged_is_not_given_again() {
    let mut rib = Rib::new();
    rib.take(route(1, 7));
    settle(&mut rib);
    rib.take(route(1, 7));
    assert_eq!(send(&mut rib), vec![]);
}

#[test]
fn a_route_that_came_and_went_before_it_was_sent_is_not_sent() {
    let mut rib = Rib::new();
    rib.take(route(1, 7));
    rib.take(Event::Withdraw(prefix(1)));
    assert_eq!(send(&mut rib), vec![]);
    assert_eq!(rib.len(), 0);
    assert_eq!(rib.pending(), 0);
}

#[test]
fn what_changes_in_flight_is_sent_after_the_answer() {
    let mut rib = Rib::new();
    rib.take(route(1, 7));
    let first = send(&mut rib);
    rib.take(Event::Withdraw(prefix(1)));
    assert_eq!(send(&mut rib), vec![]);
    rib.take(route(1, 9));
    assert_eq!(send(&mut rib), vec![]);
    rib.take(Event::Withdraw(prefix(1)));
    assert_eq!(send(&mut rib), vec![]);
    assert_eq!(rib.pending(), 1);
    accept(&mut rib, &first);
    let second = send(&mut rib);
    assert_eq!(second.len(), 1);
    assert_eq!(second[0].1, Work::Take(prefix(1)));
    accept(&mut rib, &second);
    assert_eq!((rib.len(), rib.pending()), (0, 0));
}

#[test]
fn a_changed_next_hop_object_moves_its_routes_and_those_of_groups_with_it() {
    let mut rib = Rib::new();
    rib.take(Event::NextHop(1, Object::Single(via(1))));
    rib.take(Event::NextHop(2, Object::Single(via(2))));
    rib.take(Event::NextHop(10, Object::Group(vec![(1, 3), (2, 1)])));
    rib.take(route(1, 1));
    rib.take(route(2, 2));
    rib.take(route(3, 10));
    rib.settle();
    settle(&mut rib);
    let hops = rib.hops(10).expect("all members are known");
    assert_eq!(hops.iter().map(|hop| hop.weight).collect::<Vec<_>>(), vec![3, 1]);
    rib.take(Event::NextHop(1, Object::Single(via(5))));
    assert_eq!(send(&mut rib), vec![]);
    rib.settle();
    let mut moved: Vec<Prefix> = send(&mut rib).into_iter().map(|(_, work)| match work {
        Work::Give(prefix, _) | Work::Take(prefix) => prefix,
    }).collect();
    moved.sort_by_key(|prefix| prefix.address);
    assert_eq!(moved, vec![prefix(1), prefix(3)]);
}

#[test]
fn a_route_whose_next_hops_are_unknown_waits_and_leaves_vpp() {
    let mut rib = Rib::new();
    rib.take(route(1, 7));
    let (handle, _) = rib.next().expect("queued");
    assert_eq!(rib.waits(handle), None);
    assert_eq!(rib.counts().0.waiting, 1);
    assert_eq!(rib.pending(), 0);
    rib.retry();
    settle(&mut rib);
    assert_eq!((rib.counts().0.waiting, rib.counts().0.given), (0, 1));
    rib.requeue(|_, group, _| group == 7);
    let (handle, _) = rib.next().expect("queued");
    assert_eq!(rib.waits(handle), Some(prefix(1)));
    rib.sent(handle);
    rib.done(handle, false, true);
    let counts = rib.counts().0;
    assert_eq!((counts.wanted, counts.given, counts.waiting), (1, 0, 1));
}

#[test]
fn a_refused_route_is_counted_and_tried_again() {
    let mut rib = Rib::new();
    rib.take(route(1, 7));
    let (handle, _) = rib.next().expect("queued");
    rib.sent(handle);
    rib.done(handle, true, false);
    assert_eq!((rib.counts().0.refused, rib.pending()), (1, 0));
    rib.retry();
    settle(&mut rib);
    assert_eq!((rib.counts().0.refused, rib.counts().0.given), (0, 1));
}

#[test]
fn after_zebra_came_back_only_what_it_does_not_tell_again_goes() {
    let mut rib = Rib::new();
    for at in 1..=3 {
        rib.take(route(at, 7));
    }
    settle(&mut rib);
    rib.mark_stale();
    rib.take(route(1, 7));
    rib.take(route(2, 8));
    assert!(rib.is_fresh(&prefix(1)) && !rib.is_fresh(&prefix(3)));
    assert_eq!(send(&mut rib).len(), 1);
    assert_eq!(rib.sweep(), 1);
    let sent = send(&mut rib);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1, Work::Take(prefix(3)));
}

#[test]
fn a_new_vpp_gets_everything_wanted_and_nothing_else() {
    let mut rib = Rib::new();
    rib.take(route(1, 7));
    rib.take(route(2, 7));
    settle(&mut rib);
    rib.take(Event::Withdraw(prefix(2)));
    let _lost = send(&mut rib);
    rib.vpp_is_new();
    assert_eq!(rib.in_flight(), 0);
    let sent = send(&mut rib);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1, Work::Give(prefix(1), 7));
    assert_eq!(rib.len(), 1);
}

#[test]
fn next_hops_of_routes_themselves_are_shared_and_forgotten_with_the_last_route() {
    let mut rib = Rib::new();
    for at in 1..=3 {
        rib.take(inline(at, 4));
    }
    assert_eq!(rib.groups.len(), 1);
    rib.take(inline(3, 5));
    assert_eq!(rib.groups.len(), 2);
    settle(&mut rib);
    for at in 1..=3 {
        rib.take(Event::Withdraw(prefix(at)));
    }
    settle(&mut rib);
    assert_eq!((rib.groups.len(), rib.len()), (0, 0));
}

#[test]
fn through_a_long_random_walk_vpp_ends_with_what_zebra_wants() {
    let mut state: u64 = 7;
    let mut random = move |below: u32| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as u32) % below
    };
    let mut rib = Rib::new();
    let mut zebra: HashMap<u8, u32> = HashMap::new();
    let mut vpp: HashMap<[u8; 16], u32> = HashMap::new();
    let mut flying: Vec<(Handle, Work, bool)> = Vec::new();
    for _ in 0..200_000 {
        match random(10) {
            0..=3 => {
                let (at, group) = (random(60) as u8, random(3) + 1);
                zebra.insert(at, group);
                rib.take(route(at, group));
            }
            4..=5 => {
                let at = random(60) as u8;
                zebra.remove(&at);
                rib.take(Event::Withdraw(prefix(at)));
            }
            6..=7 => {
                if let Some((handle, work)) = rib.next() {
                    rib.sent(handle);
                    let accepted = random(20) > 0 || matches!(work, Work::Take(_));
                    if accepted {
                        match &work {
                            Work::Give(prefix, group) => vpp.insert(prefix.address, *group),
                            Work::Take(prefix) => vpp.remove(&prefix.address),
                        };
                    }
                    flying.push((handle, work, accepted));
                }
            }
            8 => {
                if !flying.is_empty() {
                    let (handle, work, accepted) = flying.remove(0);
                    rib.done(handle, matches!(work, Work::Give(..)), accepted);
                }
            }
            _ => match random(400) {
                0 => {
                    vpp.clear();
                    flying.clear();
                    rib.vpp_is_new();
                }
                1 => rib.retry(),
                _ => {}
            },
        }
    }
    for (handle, work, accepted) in flying.drain(..) {
        rib.done(handle, matches!(work, Work::Give(..)), accepted);
    }
    rib.retry();
    loop {
        let sent = send(&mut rib);
        if sent.is_empty() {
            break;
        }
        for (_, work) in &sent {
            match work {
                Work::Give(prefix, group) => vpp.insert(prefix.address, *group),
                Work::Take(prefix) => vpp.remove(&prefix.address),
            };
        }
        accept(&mut rib, &sent);
    }
    let wanted: HashMap<[u8; 16], u32> = zebra.iter().map(|(at, group)| (prefix(*at).address, *group)).collect();
    assert_eq!(vpp, wanted);
    assert_eq!(rib.pending(), 0);
    assert_eq!(rib.len(), wanted.len());
    assert_eq!(rib.counts().0.given, wanted.len() as u64);
}
