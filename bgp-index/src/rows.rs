//! A path as JSON.

use crate::as_path;
use crate::attributes::Attributes;
use crate::json::{list, quoted, Json};
use crate::peers::Peer;
use crate::prefix::Prefix;
use crate::update::*;
use std::net::{Ipv4Addr, Ipv6Addr};

pub struct Row<'a> {
    pub prefix: Prefix,
    pub peer: &'a Peer,
    pub asn: u32,
    pub set: Attributes<'a>,
    pub received_s: Option<u64>,
    /// The age of the known state of the router's own routes.
    pub as_of_s: Option<u64>,
}

impl Row<'_> {
    pub fn json(&self) -> String {
        let set = &self.set;
        let [global, link_local] = next_hops(set);
        let optional = |value: Option<String>| value.map_or("null".to_string(), |value| quoted(&value));
        let mut json = Json::new()
            .text("prefix", &self.prefix.to_string())
            .text("neighbor", &self.peer.name())
            .number("neighbor_as", self.asn.into())
            .text("as_path", &as_path::text(set.path()))
            .text("origin", origin(set))
            .raw("next_hop", &optional(global.map(address)));
        if let Some(hop) = link_local {
            json = json.text("link_local_next_hop", &address(hop));
        }
        for (name, kind) in [("med", MED), ("local_preference", LOCAL_PREFERENCE)] {
            if let Some(number) = set.number(kind) {
                json = json.number(name, number.into());
            }
        }
        json = json
            .raw("communities", &texts(set, COMMUNITIES, 4, community_text))
            .raw("large_communities", &texts(set, LARGE_COMMUNITIES, 12, large_community_text))
            .raw("extended_communities", &texts(set, EXTENDED_COMMUNITIES, 8, extended_community_text));
        if let Some(originator) = set.get(ORIGINATOR_ID) {
            json = json.text("originator_id", &address(originator));
        }
        if set.get(CLUSTER_LIST).is_some() {
            json = json.raw("cluster_list", &texts(set, CLUSTER_LIST, 4, address));
        }
        if set.get(ATOMIC_AGGREGATE).is_some() {
            json = json.raw("atomic_aggregate", "true");
        }
        if let Some(value) = set.get(AGGREGATOR).filter(|value| value.len() == 8) {
            json = json.text("aggregator", &format!("{} {}", number(&value[..4]), address(&value[4..])));
        }
        json = json.raw("received_s", &self.received_s.map_or("null".to_string(), |age| age.to_string()));
        if let Some(age) = self.as_of_s {
            json = json.number("as_of_s", age);
        }
        json.end()
    }
}

fn origin(set: &Attributes) -> &'static str {
    match set.get(ORIGIN) {
        Some([0]) => "igp",
        Some([1]) => "egp",
        _ => "incomplete",
    }
}

/// The next hop, and the link-local one that may accompany an IPv6 one (RFC 2545).
pub fn next_hops<'a>(set: &Attributes<'a>) -> [Option<&'a [u8]>; 2] {
    match set.get(NEXT_HOP) {
        Some(both) if both.len() == 32 => [Some(&both[..16]), Some(&both[16..])],
        one => [one, None],
    }
}

fn texts(set: &Attributes, kind: u8, size: usize, text: fn(&[u8]) -> String) -> String {
    list(&set.values(kind, size).map(|value| quoted(&text(value))).collect::<Vec<_>>())
}

/// Of at most 4 bytes.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn address(bytes: &[u8]) -> String {
    match bytes.len() {
        4 => Ipv4Addr::from(number(bytes)).to_string(),
        16 => {
            let mut array = [0; 16];
            array.copy_from_slice(bytes);
            Ipv6Addr::from(array).to_string()
        }
        _ => String::new(),
    }
}

fn community_text(value: &[u8]) -> String {
    format!("{}:{}", number(&value[..2]), number(&value[2..]))
}

fn large_community_text(value: &[u8]) -> String {
    format!("{}:{}:{}", number(&value[..4]), number(&value[4..8]), number(&value[8..]))
}

/// A route target or a site of origin (RFC 4360, RFC 5668) by its name, any other as 16 hexadecimal digits.
pub fn extended_community_text(value: &[u8]) -> String {
    let name = match value[1] {
        2 => "rt",
        3 => "soo",
        _ => "",
    };
    match value[0] & !0x40 {
        0 if !name.is_empty() => format!("{}:{}:{}", name, number(&value[2..4]), number(&value[4..])),
        1 if !name.is_empty() => format!("{}:{}:{}", name, address(&value[2..6]), number(&value[6..])),
        2 if !name.is_empty() => format!("{}:{}:{}", name, number(&value[2..6]), number(&value[6..])),
        _ => value.iter().map(|byte| format!("{:02x}", byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communities_are_written_as_operators_write_them() {
        assert_eq!(community_text(&[0xfd, 0xe9, 0, 100]), "65001:100");
        assert_eq!(large_community_text(&[0, 1, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]), "65536:1:4294967295");
        for (value, text) in [
            ([0, 2, 0xfd, 0xe8, 0, 0, 0, 1], "rt:65000:1"),
            ([0x40, 3, 0xfd, 0xe8, 0, 1, 0, 0], "soo:65000:65536"),
            ([1, 2, 192, 0, 2, 1, 0, 9], "rt:192.0.2.1:9"),
            ([2, 2, 0, 1, 0, 0, 0, 9], "rt:65536:9"),
            ([0x40, 4, 0, 0, 1, 2, 3, 4], "4004000001020304"),
            ([3, 2, 0, 0, 0, 0, 0, 0], "0302000000000000"),
        ] {
            assert_eq!(extended_community_text(&value), text);
        }
    }
}
