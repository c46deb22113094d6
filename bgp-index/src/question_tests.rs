//! Valid questions, and the errors of invalid ones.

use crate::matching::Extended;
use crate::prefix::Prefix;
use crate::question::{parse, Neighbor, Question, Search, WRONG};
use std::time::Duration;

fn search(line: &str) -> Search {
    match parse(line) {
        Ok(Question::Search(search)) => search,
        other => panic!("{}: {:?}", line, other),
    }
}

fn prefix(text: &str) -> Option<Prefix> {
    Some(Prefix::parse(text, true).expect("a prefix"))
}

#[test]
fn a_question_is_one_line_and_nothing_else() {
    assert_eq!(parse("status"), Ok(Question::Status));
    assert_eq!(parse(" release "), Ok(Question::Release));
    for wrong in ["", "status 1", "search", "release now", "routes ipv4"] {
        assert_eq!(parse(wrong), Err(WRONG.to_string()), "{}", wrong);
    }
}

#[test]
fn every_key_of_a_search_is_read() {
    let plain = search("search ipv4");
    assert_eq!((plain.v6, plain.offset, plain.limit, plain.wait), (false, 0, 100, Duration::from_millis(300)));
    assert!(plain.wanted.is_all());
    let all = search(
        "search ipv4 within=10.1.2.3/8 covering=10.1.2.3 exact=10.0.0.0/8 neighbor=192.0.2.1 as=1 origin_as=2 first_as=4294967295 \
         path=65001_65002 path_length=2-5 community=65001:100 large_community=65001:1:2 extended_community=0002FDE800000001 \
         next_hop=192.0.2.9 offset=10 limit=1000 wait=0",
    );
    assert_eq!((all.within, all.covering, all.exact), (prefix("10.0.0.0/8"), prefix("10.1.2.3/32"), prefix("10.0.0.0/8")));
    assert_eq!(all.neighbor, Some(Neighbor::Address(false, prefix("192.0.2.1").expect("one").address)));
    let wanted = &all.wanted;
    assert_eq!((wanted.asn, wanted.origin_as, wanted.first_as), (Some(1), Some(2), Some(u32::MAX)));
    assert_eq!((wanted.path.clone(), wanted.path_length.clone()), (vec![65001, 65002], Some(2..=5)));
    assert_eq!(wanted.community, Some([0xfd, 0xe9, 0, 100]));
    assert_eq!(wanted.large_community, Some([0, 0, 0xfd, 0xe9, 0, 0, 0, 1, 0, 0, 0, 2]));
    assert_eq!(wanted.extended_community, Some(Extended::Value([0, 2, 0xfd, 0xe8, 0, 0, 0, 1])));
    assert_eq!(wanted.next_hop, Some(vec![192, 0, 2, 9]));
    assert_eq!((all.offset, all.limit, all.wait), (10, 1000, Duration::ZERO));
    assert_eq!(search("search ipv6 neighbor=self").neighbor, Some(Neighbor::Own));
    assert_eq!(search("search ipv4 path_length=3").wanted.path_length, Some(3..=3));
    let target = search("search ipv4 extended_community=RT:192.0.2.1:7").wanted.extended_community;
    assert_eq!(target, Some(Extended::Text("rt:192.0.2.1:7".to_string())));
}

#[test]
fn well_known_communities_have_names() {
    for (name, low) in [("no-export", 65281), ("no-advertise", 65282), ("local-AS", 65283), ("blackhole", 666), ("graceful-shutdown", 0)] {
        let named = search(&format!("search ipv4 community={}", name)).wanted.community;
        assert_eq!(named, search(&format!("search ipv4 community=65535:{}", low)).wanted.community);
    }
}

#[test]
fn what_is_wrong_is_named_with_what_is_allowed() {
    for (line, said) in [
        ("search ipv5", "search: ipv5: not ipv4 or ipv6"),
        ("search ipv4 as", "search: as: not KEY=VALUE"),
        ("search ipv4 as=abc", "search: as=abc: not an AS number 0 to 4294967295"),
        ("search ipv4 origin_as=4294967296", "search: origin_as=4294967296: not an AS number 0 to 4294967295"),
        ("search ipv4 first_as=+1", "search: first_as=+1: not an AS number 0 to 4294967295"),
        ("search ipv4 path=1__2", "search: path=1__2: not an AS number 0 to 4294967295"),
        ("search ipv4 path_length=5-2", "search: path_length=5-2: not N or N-M, of 0 to 65535"),
        ("search ipv4 as=1 as=2", "search: as: given twice"),
        ("search ipv4 within=::/0", "search: within=::/0: not an IPv4 prefix"),
        ("search ipv6 exact=2001:db8::", "search: exact=2001:db8::: not an IPv6 prefix"),
        ("search ipv6 covering=10.0.0.1", "search: covering=10.0.0.1: not an IPv6 prefix or address"),
        ("search ipv4 neighbor=me", "search: neighbor=me: not an address, nor self"),
        ("search ipv4 next_hop=x", "search: next_hop=x: not an address"),
        ("search ipv4 large_community=1:2", "search: large_community=1:2: not A:B:C of 0 to 4294967295"),
        (
            "search ipv4 extended_community=rt:1",
            "search: extended_community=rt:1: not 16 hexadecimal digits, nor rt:A:B or soo:A:B",
        ),
        ("search ipv4 limit=1001", "search: limit=1001: not a number 1 to 1000"),
        ("search ipv4 limit=0", "search: limit=0: not a number 1 to 1000"),
        ("search ipv4 offset=-1", "search: offset=-1: not a number 0 to 4294967295"),
        ("search ipv4 wait=5001", "search: wait=5001: not a number of milliseconds 0 to 5000"),
    ] {
        assert_eq!(parse(line), Err(said.to_string()));
    }
    for wrong in ["community=65536:1", "community=1", "community=1:2:3", "community=no-such", "best=yes"] {
        assert!(parse(&format!("search ipv4 {}", wrong)).is_err(), "{}", wrong);
    }
    let many = vec!["1"; 65].join("_");
    assert_eq!(parse(&format!("search ipv4 path={}", many)), Err(format!("search: path={}: more than 64 AS numbers", many)));
}
