//! Messages of BMP into the table, and searches in it.

use crate::bmp::{PEER_DOWN, PEER_UP, ROUTE_MONITORING, TERMINATION};
use crate::json::Json;
use crate::question::{parse, Question, Search};
use crate::search::{answer, find};
use crate::table::{prefixes, Limits, Table};
use crate::update::*;
use crate::wire::*;
use std::time::Instant;

fn table() -> Table {
    limited(1000, 1 << 30)
}

fn limited(paths: usize, bytes: usize) -> Table {
    let mut table = Table::new(Limits { paths, bytes });
    for (last, asn) in [(1, 65001), (2, 65002)] {
        up(&mut table, last, asn);
    }
    table
}

fn up(table: &mut Table, last: u8, asn: u32) {
    let body = [per_peer(last, asn, 0), vec![0; 20], open(65000, &[1, 2]), open(asn, &[1, 2])].concat();
    assert!(table.take(PEER_UP, &body));
}

fn path(numbers: &[u32]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    attribute(AS_PATH, &[&[2, numbers.len() as u8], &bytes[..]].concat())
}

/// From neighbor 192.0.2.`last`: 10.`second`.0.0/16 with these attributes.
fn announce(table: &mut Table, last: u8, second: u8, attributes: Vec<u8>) {
    let message = update(&Bgp { attributes, prefixes: vec![16, 10, second], ..Bgp::default() });
    table.take(ROUTE_MONITORING, &[per_peer(last, 65000 + u32::from(last), 5), message].concat());
}

fn withdraw(table: &mut Table, last: u8, second: u8) {
    let message = update(&Bgp { withdrawn: vec![16, 10, second], ..Bgp::default() });
    table.take(ROUTE_MONITORING, &[per_peer(last, 65000 + u32::from(last), 5), message].concat());
}

fn asked(line: &str) -> Search {
    match parse(&format!("search ipv4 {}", line)) {
        Ok(Question::Search(search)) => search,
        other => panic!("{:?}", other),
    }
}

/// The number of matches, and for the page the second byte of each prefix with the neighbor's last byte.
fn found(table: &Table, line: &str) -> (usize, Vec<(u8, u8)>) {
    let found = find(table, &table.v4, &asked(line));
    let rows = found.page.iter().map(|entry| {
        let address = table.peers.get((entry.key & 0xffff) as u16).address;
        ((entry.key >> 48) as u8, address[3])
    });
    (found.matching, rows.collect())
}

#[test]
fn paths_come_change_and_go_and_their_sets_with_them() {
    let mut table = table();
    for second in 0..3 {
        announce(&mut table, 1, second, path(&[65000, 65001, 7]));
    }
    announce(&mut table, 2, 1, path(&[65000, 65002, 8]));
    assert_eq!((table.paths(), prefixes(&table.v4), table.sets.len()), (4, 3, 2));
    assert_eq!(found(&table, "as=8"), (1, vec![(1, 2)]));
    announce(&mut table, 1, 1, path(&[65000, 65001, 8]));
    assert_eq!(found(&table, "as=8"), (2, vec![(1, 1), (1, 2)]));
    assert_eq!(found(&table, "as=65000"), (0, vec![]), "the router's own AS is bgpd's addition");
    withdraw(&mut table, 1, 1);
    withdraw(&mut table, 1, 9);
    assert_eq!((table.paths(), table.sets.len()), (3, 2));
    assert!(table.take(PEER_DOWN, &[per_peer(1, 65001, 0), vec![2, 0, 0]].concat()));
    assert_eq!((table.paths(), table.sets.len(), table.malformed), (1, 1, 0));
    assert_eq!(table.peers.all().iter().map(|peer| (peer.up, peer.paths)).collect::<Vec<_>>(), [(false, [0, 0]), (true, [1, 0])]);
    announce(&mut table, 1, 2, path(&[65000, 65001]));
    assert_eq!(table.paths(), 1, "what bgpd still sends of a session that is down is no path");
    up(&mut table, 1, 65001);
    announce(&mut table, 1, 2, path(&[65000, 65001]));
    assert_eq!(table.paths(), 2);
    up(&mut table, 1, 65001);
    assert_eq!(table.paths(), 1, "a new session has sent nothing yet");
}

#[test]
fn the_routers_own_routes_stay_whatever_is_told_of_it_and_have_its_as() {
    let mut table = table();
    // As bgpd 10.3 names it, and as 8.4 does.
    let mut own = per_peer(0, 65000, 5);
    own[0] = 3;
    own[10..26].fill(0);
    let mut older = own.clone();
    older[0] = 0;
    older[26..30].fill(0);
    for (peer, second) in [(&older, 1), (&own, 2)] {
        let narrow = attribute(AS_PATH, &[2, 1, 0xfd, 0xe9]);
        let message = update(&Bgp { attributes: narrow, prefixes: vec![16, 10, second], ..Bgp::default() });
        table.take(ROUTE_MONITORING, &[&peer[..], &message].concat());
    }
    let body = [&own[..], &[0; 20], &open(65000, &[1, 2]), &open(65000, &[1, 2])].concat();
    assert!(table.take(PEER_UP, &body));
    let (matching, rows) = found(&table, "neighbor=self as=65001");
    assert_eq!((matching, rows), (2, vec![(1, 0), (2, 0)]));
    let json = answer(&table, &asked("neighbor=self"), Instant::now(), Json::new()).end();
    assert_eq!(json.matches("\"neighbor\":\"self\",\"neighbor_as\":65000,\"as_path\":\"65001\"").count(), 2, "{}", json);
}

#[test]
fn a_page_is_in_the_order_of_prefix_and_neighbor_wherever_it_begins() {
    let mut table = Table::new(Limits { paths: 10_000, bytes: 1 << 30 });
    // They come up in an order that differs from that of their addresses.
    for last in [7, 3, 5, 1, 9] {
        up(&mut table, last, 65000 + u32::from(last));
    }
    let mut expected = Vec::new();
    for second in 0..200 {
        for last in [1, 3, 5, 7, 9] {
            if (usize::from(second) * 7 + usize::from(last)) % 3 != 0 {
                announce(&mut table, last, second, path(&[65000, u32::from(last)]));
                expected.push((second, last));
            }
        }
    }
    for offset in [0, 1, 2, 5, 17, 300, 301, 302, 303, expected.len() - 1, expected.len(), 5000] {
        let rest = expected.get(offset..).unwrap_or_default();
        let (matching, rows) = found(&table, &format!("offset={} limit=7", offset));
        assert_eq!((matching, &rows[..]), (expected.len(), &rest[..rest.len().min(7)]), "{}", offset);
    }
    let of_five: Vec<_> = expected.iter().copied().filter(|(_, last)| *last == 5).collect();
    assert_eq!(found(&table, "neighbor=192.0.2.5 limit=1000"), (of_five.len(), of_five.clone()));
    assert_eq!(found(&table, "as=5 first_as=5 origin_as=5 path_length=1 limit=1000").1, of_five);
    assert_eq!(found(&table, "neighbor=192.0.2.6"), (0, vec![]));
    assert_eq!(found(&table, "neighbor=self"), (0, vec![]));
}

#[test]
fn prefixes_are_found_by_what_they_contain_and_what_contains_them() {
    let mut table = table();
    for prefix in [&[0][..], &[8, 10], &[16, 10, 1], &[24, 10, 1, 2], &[32, 10, 1, 2, 3], &[16, 10, 2], &[8, 11]] {
        let message = update(&Bgp { attributes: path(&[65000]), prefixes: prefix.to_vec(), ..Bgp::default() });
        table.take(ROUTE_MONITORING, &[per_peer(1, 65001, 5), message].concat());
    }
    let prefixes = |line: &str| -> Vec<String> {
        let page = find(&table, &table.v4, &asked(line)).page;
        page.iter().map(|entry| crate::prefix::Key::prefix(entry.key).to_string()).collect()
    };
    assert_eq!(prefixes("within=10.1.0.0/16"), ["10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32"]);
    assert_eq!(prefixes("within=0.0.0.0/0").len(), 7);
    assert_eq!(prefixes("exact=10.1.0.0/16"), ["10.1.0.0/16"]);
    assert_eq!(prefixes("exact=10.3.0.0/16").len(), 0);
    let covering = ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32"];
    assert_eq!(prefixes("covering=10.1.2.3"), covering);
    assert_eq!(prefixes("covering=10.1.2.0/25"), covering[..4]);
    assert_eq!(prefixes("covering=10.1.2.3 within=10.0.0.0/15"), covering[2..]);
    assert_eq!(prefixes("exact=10.1.0.0/16 covering=10.1.2.3 within=10.0.0.0/8"), ["10.1.0.0/16"]);
    assert_eq!(prefixes("exact=10.2.0.0/16 covering=10.1.2.3").len(), 0);
}

#[test]
fn attributes_that_cannot_be_read_take_the_path_away_that_was_there() {
    let mut table = table();
    announce(&mut table, 1, 1, path(&[65000, 65001]));
    announce(&mut table, 1, 1, attribute(MED, &[1]));
    assert_eq!((table.paths(), table.malformed), (0, 1));
    announce(&mut table, 1, 1, vec![0x40, AS_PATH, 200, 1]);
    assert_eq!((table.paths(), table.malformed), (0, 2));
    table.take(ROUTE_MONITORING, &[per_peer(1, 65001, 5), vec![0xff; 18]].concat());
    table.take(PEER_UP, &[0; 30]);
    assert_eq!(table.malformed, 4);
}

#[test]
fn what_is_told_before_policy_and_of_another_vrf_is_not_held() {
    let mut table = table();
    let message = update(&Bgp { attributes: path(&[65000]), prefixes: vec![8, 10], ..Bgp::default() });
    let mut before_policy = per_peer(1, 65001, 5);
    before_policy[1] = 0;
    let mut of_vrf = per_peer(1, 65001, 5);
    of_vrf[9] = 7;
    for peer in [before_policy, of_vrf] {
        table.take(ROUTE_MONITORING, &[peer, message.clone()].concat());
    }
    assert_eq!((table.paths(), table.malformed), (0, 0));
}

#[test]
fn ipv6_comes_in_its_own_attribute_and_the_end_of_each_family_is_known() {
    let mut table = table();
    let next_hops = [[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]];
    let reach = [&[0, 2, 1, 32][..], &next_hops.concat(), &[0, 32, 0x20, 1, 0xd, 0xb8]].concat();
    let tell = |table: &mut Table, bgp: Bgp| assert!(table.take(ROUTE_MONITORING, &[per_peer(1, 65001, 5), update(&bgp)].concat()));
    tell(&mut table, Bgp { attributes: [path(&[65000, 65001]), attribute(MP_REACH, &reach)].concat(), ..Bgp::default() });
    assert_eq!((table.v4.len(), table.v6.len(), table.told), (0, 1, [false, false]));
    let search = Search { v6: true, ..asked("next_hop=fe80::1") };
    let json = answer(&table, &search, Instant::now(), Json::new()).end();
    let row = json.split_once("\"rows\":").expect("rows").1.split_once(",\"received_s\"").expect("an age").0;
    assert_eq!(
        row,
        "[{\"prefix\":\"2001:db8::/32\",\"neighbor\":\"192.0.2.1\",\"neighbor_as\":65001,\"as_path\":\"65001\",\
         \"origin\":\"incomplete\",\"next_hop\":\"2001:db8::1\",\"link_local_next_hop\":\"fe80::1\",\"communities\":[],\
         \"large_communities\":[],\"extended_communities\":[]"
    );
    tell(&mut table, Bgp::default());
    assert_eq!(table.told, [true, false]);
    let unreach = [&[0, 2, 1][..], &[32, 0x20, 1, 0xd, 0xb8]].concat();
    tell(&mut table, Bgp { attributes: attribute(MP_UNREACH, &unreach), ..Bgp::default() });
    assert_eq!((table.v6.len(), table.sets.len(), table.told), (0, 0, [true, false]));
    tell(&mut table, Bgp { attributes: attribute(MP_UNREACH, &[0, 2, 1]), ..Bgp::default() });
    assert_eq!((table.told, table.malformed), ([true, true], 0));
    assert!(!table.take(TERMINATION, &[]));
}

#[test]
fn what_there_is_no_room_for_is_not_taken_and_what_is_held_stays_true() {
    let mut table = limited(3, 1 << 30);
    for second in 0..5 {
        announce(&mut table, 1, second, path(&[65000, 65001]));
    }
    assert_eq!((table.paths(), table.truncated), (3, true));
    announce(&mut table, 1, 1, path(&[65000, 65001, 9]));
    assert_eq!(found(&table, "as=9"), (1, vec![(1, 1)]), "what is held is kept current");
    let mut table = limited(1000, 40_000);
    let long = |number: u8| attribute(COMMUNITIES, &vec![number; 4000]);
    for second in 0..20 {
        announce(&mut table, 1, second, long(second));
    }
    assert!(table.truncated && table.paths() > 3 && table.memory_bytes() <= 40_000, "{}", table.memory_bytes());
    let before = table.paths();
    announce(&mut table, 1, 0, [long(99), attribute(LARGE_COMMUNITIES, &[9; 36_000])].concat());
    assert_eq!((table.paths(), found(&table, "exact=10.0.0.0/16").0), (before - 1, 0));
}

#[test]
fn rows_end_where_an_answer_would_be_too_long() {
    let mut table = limited(1000, 1 << 30);
    for second in 0..100 {
        announce(&mut table, 1, second, attribute(COMMUNITIES, &vec![255; 60_000]));
    }
    let json = answer(&table, &asked("limit=1000"), Instant::now(), Json::new()).end();
    assert!(json.contains("\"matching\":100") && json.contains("\"shortened\":true") && json.len() <= (4 << 20) + 100);
    assert!(json.matches("\"prefix\"").count() > 15);
}
