//! Torn and mutated BMP streams: nothing is read past its end, everything stored can be found, and nothing remains of
//! removed data. Seeded, so that a failure is reproducible.

use crate::bmp::{Deframer, NotBmp, PEER_DOWN, PEER_UP, ROUTE_MONITORING};
use crate::json::Json;
use crate::question::{parse, Question};
use crate::random::Random;
use crate::search::answer;
use crate::table::{Limits, Table};
use crate::update::*;
use crate::wire::*;
use std::time::Instant;

fn some_attribute(random: &mut Random) -> Vec<u8> {
    let number = |random: &mut Random| (random.below(9) as u32 + 65_000).to_be_bytes();
    match random.below(10) {
        0..=3 => {
            let count = 1 + random.below(4);
            let numbers: Vec<u8> = (0..count).flat_map(|_| number(random)).collect();
            attribute(AS_PATH, &[&[1 + random.below(4) as u8, count as u8], &numbers[..]].concat())
        }
        4 => attribute(COMMUNITIES, &number(random).repeat(random.below(3))),
        5 => attribute(NEXT_HOP, &number(random)),
        6 => attribute(MED, &number(random)),
        7 => {
            let length = [4, 16, 32, 3][random.below(4)];
            let hop = vec![0x20; length];
            let prefix = [&[32, 0x20, 1, 0xd][..], &random.bytes(1)].concat();
            attribute(MP_REACH, &[&[0, 2, 1, length as u8][..], &hop, &[0], &prefix].concat())
        }
        8 => attribute(MP_UNREACH, &[&[0, 2, 1, 32, 0x20, 1, 0xd][..], &random.bytes(1)].concat()),
        _ => {
            let (kind, length) = (random.below(40) as u8, random.below(20));
            attribute(kind, &random.bytes(length))
        }
    }
}

fn some_message(random: &mut Random) -> Vec<u8> {
    let last = 1 + random.below(5) as u8;
    let asn = 65_000 + u32::from(last);
    let peer = per_peer(last, asn, 9);
    match random.below(20) {
        0 => bmp(PEER_UP, &[peer, vec![0; 20], open(65_000, &[1, 2]), open(asn, &[1])].concat()),
        1 if random.below(4) == 0 => bmp(PEER_DOWN, &[peer, vec![2, 0, 0]].concat()),
        2 => bmp(random.below(8) as u8, &{
            let length = random.below(60);
            random.bytes(length)
        }),
        _ => {
            let prefix = |random: &mut Random| vec![16, 10, random.below(60) as u8];
            let attributes: Vec<u8> = (0..random.below(5)).flat_map(|_| some_attribute(random)).collect();
            let withdrawn = if random.below(3) == 0 { prefix(random) } else { vec![] };
            let prefixes = (0..random.below(3)).flat_map(|_| prefix(random)).collect();
            bmp(ROUTE_MONITORING, &[peer, update(&Bgp { withdrawn, attributes, prefixes })].concat())
        }
    }
}

/// The message with some bytes changed; its length stays correct, so that the framing is preserved.
fn mutated(random: &mut Random, mut message: Vec<u8>) -> Vec<u8> {
    if random.below(4) == 0 {
        for _ in 0..1 + random.below(4) {
            let at = random.below(message.len());
            message[at] = random.below(256) as u8;
        }
        if random.below(3) == 0 {
            message.truncate(6 + random.below(message.len()));
        }
    }
    let length = (message.len() as u32).to_be_bytes();
    message[0] = 3;
    message[1..5].copy_from_slice(&length);
    message
}

fn run(seed: u64, limits: Limits) {
    let mut random = Random(seed);
    let mut table = Table::new(limits);
    let mut deframer = Deframer::default();
    for _ in 0..4000 {
        let message = some_message(&mut random);
        let message = mutated(&mut random, message);
        let torn = random.below(message.len() + 1);
        for part in [&message[..torn], &message[torn..]] {
            deframer.push(part);
            while let Some((kind, body)) = deframer.next_message().expect("the framing holds") {
                table.take(kind, body);
            }
        }
    }
    let told: usize = table.peers.all().iter().map(|peer| peer.paths[0] + peer.paths[1]).sum();
    assert_eq!(table.paths(), told, "seed {}", seed);
    assert!(table.paths() > 0 && table.paths() <= limits.paths && table.malformed > 0, "seed {}", seed);
    for family in ["ipv4", "ipv6"] {
        for keys in ["", "as=65001", "path=65001_65002", "community=253:232", "covering=2001:d00::", "within=10.0.0.0/9 offset=3"] {
            if let Ok(Question::Search(search)) = parse(&format!("search {} {} limit=1000", family, keys)) {
                let json = answer(&table, &search, Instant::now(), Json::new()).end();
                let matching = json.split_once("\"matching\":").expect("a number").1.split_once(',').expect("more").0;
                let rows = json.matches("\"prefix\"").count() + search.offset;
                assert_eq!(matching.parse::<usize>().expect("a number").max(search.offset), rows, "seed {} {}", seed, keys);
            }
        }
    }
    let all: Vec<u8> = (1..=5).collect();
    for last in all {
        table.take(PEER_DOWN, &[per_peer(last, 65_001, 0), vec![1]].concat());
    }
    let strangers = table.peers.all().iter().filter(|peer| peer.address[..3] != [192, 0, 2] || peer.address[3] > 5);
    let of_strangers: usize = strangers.map(|peer| peer.paths[0] + peer.paths[1]).sum();
    assert_eq!(table.paths(), of_strangers, "seed {}", seed);
    assert!(table.paths() > 0 || table.sets.len() == 0, "seed {}", seed);
}

#[test]
fn whatever_bgpd_says_what_is_held_is_found_and_nothing_is_left_of_what_went() {
    for seed in 0..100 {
        run(seed, Limits { paths: 10_000, bytes: 1 << 30 });
    }
    for seed in 100..120 {
        run(seed, Limits { paths: 20, bytes: 1 << 30 });
    }
}

#[test]
fn bytes_of_any_kind_are_read_to_their_end_and_no_further() {
    let mut random = Random(7);
    for _ in 0..30_000 {
        let length = random.below(120);
        let body = random.bytes(length);
        let mut table = Table::new(Limits { paths: 10, bytes: 1 << 20 });
        for kind in [ROUTE_MONITORING, PEER_UP, PEER_DOWN] {
            table.take(kind, &body);
            table.take(kind, &[per_peer(1, 65_001, 9), body.clone()].concat());
        }
        let mut deframer = Deframer::default();
        deframer.push(&body);
        loop {
            match deframer.next_message() {
                Ok(Some((kind, body))) => drop(table.take(kind, body)),
                Ok(None) | Err(NotBmp) => break,
            }
        }
    }
}
