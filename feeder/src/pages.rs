//! Answers about many routes: a page of them, and the number of routes of each protocol.

use crate::fpm::Prefix;
use crate::json::{list, Json};
use crate::listing::{Counts, Page};
use crate::mirrors::Mirrors;
use crate::nexthop::{Action, NextHop};
use crate::rib::{Handle, Rib};
use crate::table::*;
use std::net::{Ipv4Addr, Ipv6Addr};

pub fn routes(rib: &Rib, mirrors: &Mirrors, page: &Page) -> String {
    let routes: Vec<String> = page.routes.iter().map(|handle| route(rib, mirrors, *handle)).collect();
    Json::new()
        .number("total", page.total as u64)
        .number("age_ms", page.age.as_millis() as u64)
        .raw("routes", &list(&routes))
        .end()
}

pub fn protocols(counts: &[Counts; 2]) -> String {
    let family = |counts: &Counts| {
        let each = counts.iter();
        let json = each.fold(Json::new(), |json, (protocol, (wanted, in_vpp))| {
            let count = Json::new().number("wanted", *wanted).number("in_vpp", *in_vpp).end();
            json.raw(&protocol.to_string(), &count)
        });
        json.end()
    };
    Json::new().raw("ipv4", &family(&counts[0])).raw("ipv6", &family(&counts[1])).end()
}

fn route(rib: &Rib, mirrors: &Mirrors, handle: Handle) -> String {
    let prefix = rib.prefix(handle);
    let (flags, protocol, group) = if handle.v6() {
        let entry = rib.v6.entry(handle.at());
        (entry.flags, entry.protocol, entry.group)
    } else {
        let entry = rib.v4.entry(handle.at());
        (entry.flags, entry.protocol, entry.group)
    };
    let hops = rib.hops(group).unwrap_or_default();
    let hops: Vec<String> = hops.iter().map(|hop| next_hop(mirrors, hop)).collect();
    Json::new()
        .text("prefix", &text(&prefix))
        .number("protocol", protocol.into())
        .text("state", state(flags))
        .raw("stale", if flags & STALE != 0 { "true" } else { "false" })
        .raw("hops", &list(&hops))
        .end()
}

/// A route's prefix and table.
pub fn named(prefix: &Prefix) -> String {
    Json::new().text("prefix", &text(prefix)).number("table", prefix.table.into()).end()
}

fn text(prefix: &Prefix) -> String {
    format!("{}/{}", address(&prefix.address, if prefix.v6 { 16 } else { 4 }), prefix.length)
}

fn state(flags: u8) -> &'static str {
    match flags & HELD {
        HELD => "held_back",
        REFUSED => "refused",
        WAITING => "waiting",
        _ if flags & GIVEN != 0 && flags & (QUEUED | IN_FLIGHT) == 0 => "in_vpp",
        _ => "pending",
    }
}

fn next_hop(mirrors: &Mirrors, hop: &NextHop) -> String {
    let json = Json::new().number("weight", hop.weight.into());
    match &hop.action {
        Action::Blackhole => json.text("kind", "blackhole").end(),
        Action::Unreachable => json.text("kind", "unreachable").end(),
        Action::Prohibit => json.text("kind", "prohibit").end(),
        Action::Forward { interface, gateway, gateway_length, .. } => {
            let json = match gateway_length {
                0 => json,
                length => json.text("address", &address(gateway, *length)),
            };
            match mirrors.name(*interface) {
                Some(name) => json.text("interface", name).end(),
                None => json.number("ifindex", (*interface).into()).end(),
            }
        }
    }
}

fn address(bytes: &[u8; 16], length: u8) -> String {
    if length == 4 {
        Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).to_string()
    } else {
        Ipv6Addr::from(*bytes).to_string()
    }
}
