//! Bytes in and bytes out: frames as zebra 8.4 and 10.3 write them, messages as VPP's .api files lay them out.

use crate::fpm::{read_frame, Deframer, Event, NotFpm, Prefix, Target};
use crate::netlink::*;
use crate::nexthop::{Action, NextHop, Object};
use crate::mirrors::vrf_table;
use crate::vpp_messages::{leads_there, multicast_route, paths, route, Pair, Way, NO_INTERFACE};

pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(aligned(bytes.len()), 0);
    bytes
}

pub fn message(kind: u16, body: &[u8], attributes: &[Vec<u8>]) -> Vec<u8> {
    let attributes: Vec<u8> = attributes.concat();
    let mut bytes = ((16 + body.len() + attributes.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.resize(16, 0);
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(&attributes);
    bytes
}

pub fn route_message(kind: u16, family: u8, length: u8, protocol: u8, rtype: u8, attributes: &[Vec<u8>]) -> Vec<u8> {
    message(kind, &[family, length, 0, 0, 254, protocol, 0, rtype, 0, 0, 0, 0], attributes)
}

pub fn frame(payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1, 1];
    bytes.extend_from_slice(&((payload.len() + 4) as u16).to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

fn events(payload: &[u8]) -> Vec<Event> {
    let mut all = Vec::new();
    assert!(read_frame(payload, |event| all.push(event)));
    all
}

fn v4(address: [u8; 4], length: u8) -> Prefix {
    let mut all = [0; 16];
    all[..4].copy_from_slice(&address);
    Prefix { table: 0, v6: false, address: all, length }
}

#[test]
fn a_stream_is_cut_into_frames_wherever_it_was_torn() {
    let stream = [frame(b"first"), frame(b""), frame(&[7; 3000])].concat();
    for step in [1, 2, 3, 7, 1000, stream.len()] {
        let mut deframer = Deframer::default();
        let mut found: Vec<Vec<u8>> = Vec::new();
        for piece in stream.chunks(step) {
            deframer.push(piece);
            while let Ok(Some(frame)) = deframer.next_frame() {
                found.push(frame.to_vec());
            }
        }
        assert_eq!(found, vec![b"first".to_vec(), vec![], vec![7; 3000]], "in pieces of {}", step);
    }
}

#[test]
fn a_stream_that_is_not_fpm_is_refused() {
    for wrong in [*b"GET / HTTP", [2, 1, 0, 8, 0, 0, 0, 0, 0, 0], [1, 2, 0, 8, 0, 0, 0, 0, 0, 0], [1, 1, 0, 3, 0, 0, 0, 0, 0, 0]] {
        let mut deframer = Deframer::default();
        deframer.push(&wrong);
        assert_eq!(deframer.next_frame(), Err(NotFpm));
    }
}

#[test]
fn an_update_of_zebra_8_4_is_a_withdrawal_and_a_route_of_one_frame() {
    let destination = attribute(RTA_DST, &[10, 1, 2, 0]);
    let id = attribute(RTA_NH_ID, &9u32.to_ne_bytes());
    let payload = [
        route_message(RTM_DELROUTE, AF_INET, 24, 186, 0, &[destination.clone()]),
        route_message(RTM_NEWROUTE, AF_INET, 24, 186, RTN_UNICAST, &[destination, id]),
    ]
    .concat();
    let prefix = v4([10, 1, 2, 0], 24);
    assert_eq!(events(&payload), vec![Event::Withdraw(prefix), Event::Route(prefix, Target::Object(9), 186)]);
}

#[test]
fn blackhole_unreachable_and_prohibit_come_by_the_type_of_the_route() {
    for (rtype, action) in [
        (RTN_BLACKHOLE, Action::Blackhole),
        (RTN_UNREACHABLE, Action::Unreachable),
        (RTN_PROHIBIT, Action::Prohibit),
    ] {
        let payload = route_message(RTM_NEWROUTE, AF_INET, 0, 196, rtype, &[]);
        let target = Target::Inline(vec![NextHop { action, weight: 1 }]);
        assert_eq!(events(&payload), vec![Event::Route(v4([0; 4], 0), target, 196)]);
    }
}

#[test]
fn next_hops_of_a_route_itself_have_weights_and_may_be_ipv6_for_ipv4() {
    let gateway = attribute(RTA_GATEWAY, &[192, 0, 2, 1]);
    let mut via = 10u16.to_ne_bytes().to_vec();
    via.extend_from_slice(&[0xfe; 16]);
    let via = attribute(RTA_VIA, &via);
    let hop = |interface: u32, weight: u8, attribute: &[u8]| {
        let mut bytes = ((8 + attribute.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend_from_slice(&[0, weight - 1]);
        bytes.extend_from_slice(&interface.to_ne_bytes());
        bytes.extend_from_slice(attribute);
        bytes
    };
    let multipath = attribute(RTA_MULTIPATH, &[hop(3, 5, &gateway), hop(4, 1, &via)].concat());
    let table = attribute(RTA_TABLE, &1001u32.to_ne_bytes());
    let payload =
        route_message(RTM_NEWROUTE, AF_INET, 32, 186, RTN_UNICAST, &[attribute(RTA_DST, &[9; 4]), multipath, table]);
    let forward = |interface, gateway: &[u8]| {
        let mut all = [0; 16];
        all[..gateway.len()].copy_from_slice(gateway);
        Action::Forward { interface, gateway: all, gateway_length: gateway.len() as u8, labels: vec![] }
    };
    let hops = vec![
        NextHop { action: forward(3, &[192, 0, 2, 1]), weight: 5 },
        NextHop { action: forward(4, &[0xfe; 16]), weight: 1 },
    ];
    let prefix = Prefix { table: 1001, ..v4([9; 4], 32) };
    assert_eq!(events(&payload), vec![Event::Route(prefix, Target::Inline(hops), 186)]);
}

#[test]
fn next_hop_objects_are_single_grouped_or_labelled() {
    let header = [AF_INET, 0, 186, 0, 0, 0, 0, 0];
    let id = |id: u32| attribute(NHA_ID, &id.to_ne_bytes());
    let label = attribute(MPLS_IPTUNNEL_DST, &((777u32 << 12) | 0x100).to_be_bytes());
    let single = message(
        RTM_NEWNEXTHOP,
        &header,
        &[
            id(5),
            attribute(NHA_GATEWAY, &[192, 0, 2, 9]),
            attribute(NHA_OIF, &3u32.to_ne_bytes()),
            attribute(NHA_ENCAP_TYPE, &LWTUNNEL_ENCAP_MPLS.to_ne_bytes()),
            attribute(NHA_ENCAP | 0x8000, &label),
        ],
    );
    let mut gateway = [0; 16];
    gateway[..4].copy_from_slice(&[192, 0, 2, 9]);
    let action = Action::Forward { interface: 3, gateway, gateway_length: 4, labels: vec![777] };
    assert_eq!(events(&single), vec![Event::NextHop(5, Object::Single(action))]);
    let mut members = Vec::new();
    for (id, weight) in [(5u32, 0u8), (6, 9)] {
        members.extend_from_slice(&id.to_ne_bytes());
        members.extend_from_slice(&[weight, 0, 0, 0]);
    }
    let group = message(RTM_NEWNEXTHOP, &header, &[id(7), attribute(NHA_GROUP, &members)]);
    assert_eq!(events(&group), vec![Event::NextHop(7, Object::Group(vec![(5, 1), (6, 10)]))]);
    let blackhole = message(RTM_NEWNEXTHOP, &header, &[id(8), attribute(NHA_BLACKHOLE, &[])]);
    assert_eq!(events(&blackhole), vec![Event::NextHop(8, Object::Single(Action::Blackhole))]);
    let gone = message(RTM_DELNEXTHOP, &header, &[id(8)]);
    assert_eq!(events(&gone), vec![Event::NextHopGone(8)]);
}

#[test]
fn what_vpp_has_by_itself_is_left_alone_and_what_it_would_miss_is_named() {
    let destination = attribute(RTA_DST, &[10, 0, 0, 0]);
    let connected = route_message(RTM_NEWROUTE, AF_INET, 24, RTPROT_KERNEL, RTN_UNICAST, &[destination.clone()]);
    assert_eq!(events(&connected), vec![Event::TakenOver(v4([10, 0, 0, 0], 24))]);
    let connected = route_message(RTM_DELROUTE, AF_INET, 24, RTPROT_KERNEL, RTN_UNICAST, &[destination.clone()]);
    assert_eq!(events(&connected), vec![Event::NotOurs]);
    let mut link = [0; 16];
    link[..2].copy_from_slice(&[0xfe, 0x80]);
    let link_local = route_message(RTM_NEWROUTE, AF_INET6, 64, 188, RTN_UNICAST, &[attribute(RTA_DST, &link)]);
    assert_eq!(events(&link_local), vec![Event::NotOurs]);
    let label = route_message(RTM_NEWROUTE, 28, 20, 193, RTN_UNICAST, &[]);
    assert!(matches!(events(&label)[0], Event::Unsupported(_)));
    let seg6 = [destination, attribute(RTA_ENCAP_TYPE, &5u16.to_ne_bytes())];
    let seg6 = route_message(RTM_NEWROUTE, AF_INET, 24, 186, RTN_UNICAST, &seg6);
    assert!(matches!(events(&seg6)[0], Event::UnsupportedRoute(prefix, _) if prefix == v4([10, 0, 0, 0], 24)));
}

#[test]
fn what_cannot_be_read_of_a_route_or_an_object_takes_the_place_of_what_was_told_before() {
    let destination = || attribute(RTA_DST, &[10, 0, 0, 0]);
    let route = |kind: u16, value: &[u8]| {
        events(&route_message(RTM_NEWROUTE, AF_INET, 24, 186, RTN_UNICAST, &[destination(), attribute(kind, value)]))
    };
    // A number of the feeder's own groups; a torn number; a next hop longer than the attribute; half an address.
    let wrong: [(u16, &[u8]); 5] =
        [(RTA_NH_ID, &[1, 0, 0, 0x80]), (RTA_NH_ID, &[1, 0]), (RTA_OIF, &[1]), (RTA_MULTIPATH, &[40, 0, 0, 0, 1, 0, 0, 0]), (RTA_GATEWAY, &[1; 7])];
    for (kind, value) in wrong {
        let found = route(kind, value);
        assert!(matches!(found[0], Event::UnsupportedRoute(prefix, _) if prefix == v4([10, 0, 0, 0], 24)), "{:?}", found);
    }
    let other = route_message(RTM_NEWROUTE, AF_INET, 24, 186, 3, &[destination()]);
    assert_eq!(events(&other), vec![Event::TakenOver(v4([10, 0, 0, 0], 24))]);
    let long = route_message(RTM_NEWROUTE, AF_INET, 24, 186, RTN_UNICAST, &[attribute(RTA_DST, &[1; 16])]);
    assert!(matches!(events(&long)[0], Event::Unsupported(_)), "an IPv4 route to an IPv6 address");
    let object = |id: u32| {
        let attributes = [attribute(NHA_ID, &id.to_ne_bytes()), attribute(NHA_GATEWAY, &[1; 5])];
        events(&message(RTM_NEWNEXTHOP, &[0; 8], &attributes))
    };
    assert!(matches!(object(5)[0], Event::UnsupportedNextHop(5, _)));
    assert!(matches!(object(1 << 31)[0], Event::Unsupported(_)));
}

#[test]
fn malformed_frames_are_noticed_and_never_read_past_their_end() {
    let good = route_message(RTM_NEWROUTE, AF_INET, 24, 186, RTN_UNICAST, &[attribute(RTA_DST, &[10, 0, 0, 0])]);
    let mut torn = 0;
    for end in 0..good.len() {
        if !read_frame(&good[..end], |_| ()) {
            torn += 1;
        }
    }
    assert_eq!(torn, good.len() - 1);
    let mut state: u64 = 3;
    for _ in 0..200_000 {
        let mut bytes = good.clone();
        for _ in 0..4 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = (state >> 20) as u8;
        }
        read_frame(&bytes, |_| ());
    }
    let long = route_message(RTM_NEWROUTE, AF_INET, 33, 186, RTN_UNICAST, &[attribute(RTA_DST, &[10, 0, 0, 0])]);
    assert!(matches!(events(&long)[0], Event::Unsupported(_)));
}

#[test]
fn a_route_of_one_path_is_laid_out_as_ip_route_add_del() {
    let mut gateway = [0; 16];
    gateway[..4].copy_from_slice(&[192, 0, 2, 9]);
    let action = Action::Forward { interface: 3, gateway, gateway_length: 4, labels: vec![16, 17] };
    let hops = [NextHop { action, weight: 7 }];
    let paths = paths(&hops, false, |index| Some(Way::Out(index + 100)));
    let mut out = Vec::new();
    route(&mut out, &v4([10, 1, 2, 0], 24), true, &paths);
    assert_eq!(out.len(), 2 + 4 + 4 + 18 + 1 + 167);
    assert_eq!(&out[..2], &[1, 0]);
    assert_eq!(&out[10..15], &[0, 10, 1, 2, 0]);
    assert_eq!(&out[27..29], &[24, 1]);
    let path = &out[29..];
    assert_eq!(&path[..4], &103u32.to_be_bytes());
    assert_eq!(path[12], 7);
    assert_eq!(&path[14..26], &[0; 12]);
    assert_eq!(&path[26..30], &[192, 0, 2, 9]);
    assert_eq!(path[54], 2);
    assert_eq!(&path[55..62], &[0, 0, 0, 0, 16, 64, 0]);
    assert_eq!(&path[62..69], &[0, 0, 0, 0, 17, 64, 0]);
}

#[test]
fn an_ipv4_route_over_an_ipv6_next_hop_has_a_path_of_ipv6_and_a_drop_has_no_interface() {
    let action = Action::Forward { interface: 3, gateway: [0xfe; 16], gateway_length: 16, labels: vec![] };
    let hops = [NextHop { action, weight: 1 }, NextHop { action: Action::Prohibit, weight: 1 }];
    let encoded = paths(&hops, false, |index| Some(Way::Out(index)));
    assert_eq!((encoded.count, encoded.bytes.len()), (2, 2 * 167));
    assert_eq!(&encoded.bytes[22..26], &1u32.to_be_bytes());
    assert_eq!(&encoded.bytes[167..171], &NO_INTERFACE.to_be_bytes());
    assert_eq!(&encoded.bytes[167 + 14..167 + 18], &6u32.to_be_bytes());
    assert_eq!(paths(&hops[..1], false, |_| None).count, 0);
}

#[test]
fn a_path_over_a_vrf_s_device_is_a_look_up_in_its_table() {
    let action = Action::Forward { interface: 3, gateway: [0; 16], gateway_length: 0, labels: vec![] };
    let hops = [NextHop { action, weight: 1 }];
    let encoded = paths(&hops, false, |_| Some(Way::Table(1007)));
    assert_eq!(&encoded.bytes[..4], &NO_INTERFACE.to_be_bytes());
    assert_eq!(&encoded.bytes[4..8], &1007u32.to_be_bytes());
    assert_eq!(&encoded.bytes[14..18], &[0; 4]);
    // VPP returns it in this form, and also reports the table of an interface's path, which has no meaning.
    let reply = |bytes: &[u8]| [&[0; 30][..], &[1], bytes].concat();
    assert!(leads_there(&reply(&encoded.bytes), &encoded));
    let other = paths(&hops, false, |_| Some(Way::Table(1008)));
    assert!(!leads_there(&reply(&encoded.bytes), &other));
    let out = paths(&hops, false, |_| Some(Way::Out(5)));
    let mut told = out.bytes.clone();
    told[4..8].copy_from_slice(&1007u32.to_be_bytes());
    assert!(leads_there(&reply(&told), &out));
}

#[test]
fn the_table_of_a_vrf_is_read_and_no_other_link_has_one() {
    let link = |kind: &[u8], data: &[u8]| {
        let info = [attribute(IFLA_INFO_KIND, kind), attribute(IFLA_INFO_DATA, data)].concat();
        [vec![0; 16], attribute(3, b"blue\0"), attribute(IFLA_LINKINFO, &info)].concat()
    };
    let table = attribute(IFLA_VRF_TABLE, &1007u32.to_ne_bytes());
    assert_eq!(vrf_table(&link(b"vrf\0", &table)), Some(1007));
    assert_eq!(vrf_table(&link(b"veth\0", &table)), None);
    assert_eq!(vrf_table(&link(b"vrf\0", &[])), None);
    assert_eq!(vrf_table(&[0; 16]), None);
    assert_eq!(vrf_table(&[0; 3]), None);
}

#[test]
fn a_multicast_route_is_laid_out_as_ip_mroute_add_del() {
    let mut out = Vec::new();
    multicast_route(&mut out, &v4([224, 0, 0, 0], 24), Some(5));
    assert_eq!(out.len(), 2 + 4 + 4 + 4 + 35 + 1 + 4 + 167);
    assert_eq!(&out[14..17], &[0, 0, 24]);
    assert_eq!(&out[50..54], &2u32.to_be_bytes());
    assert_eq!(&out[54..58], &5u32.to_be_bytes());
}

#[test]
fn a_pair_of_linux_cp_is_read() {
    let mut body = Vec::new();
    body.extend_from_slice(&2u32.to_be_bytes());
    body.extend_from_slice(&9u32.to_be_bytes());
    body.extend_from_slice(&41u32.to_be_bytes());
    body.extend_from_slice(b"lan0\0\0\0\0\0\0\0\0\0\0\0\0");
    body.push(0);
    body.extend_from_slice(b"dataplane");
    body.resize(61, 0);
    let pair = Pair { sw_if_index: 2, ifindex: 41, name: "lan0".into(), namespace: "dataplane".into() };
    assert_eq!(Pair::decode(&body), Some(pair));
    assert_eq!(Pair::decode(&body[..60]), None);
}
