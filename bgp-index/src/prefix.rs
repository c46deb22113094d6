//! Prefixes of IPv4 and IPv6, and the keys that order paths by prefix and neighbor.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address is its first bytes: 4 for IPv4, 16 for IPv6. Bits beyond the length are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefix {
    pub v6: bool,
    pub address: [u8; 16],
    pub length: u8,
}

impl Prefix {
    /// None where the length is more than the family has.
    pub fn new(v6: bool, address: [u8; 16], length: u8) -> Option<Prefix> {
        if length > Prefix::longest(v6) {
            return None;
        }
        Some(Prefix { v6, address, length }.shortened(length))
    }

    pub fn longest(v6: bool) -> u8 {
        if v6 {
            128
        } else {
            32
        }
    }

    /// ADDRESS/LENGTH; bits beyond the length may be set. With `or_host`, an address alone is its longest prefix.
    pub fn parse(text: &str, or_host: bool) -> Option<Prefix> {
        let (host, length) = match text.split_once('/') {
            Some((host, length)) => (host, Some(length.parse().ok()?)),
            None if or_host => (text, None),
            None => return None,
        };
        let (v6, address) = address_bytes(host.parse().ok()?);
        Prefix::new(v6, address, length.unwrap_or_else(|| Prefix::longest(v6)))
    }

    /// The prefix of this length that contains it.
    pub fn shortened(&self, length: u8) -> Prefix {
        let mut address = self.address;
        for (at, byte) in address.iter_mut().enumerate() {
            *byte &= !(0xff_u16 >> kept_bits(length, at)) as u8;
        }
        Prefix { address, length, ..*self }
    }

    /// Its last address.
    pub fn last(&self) -> [u8; 16] {
        let mut address = self.address;
        for (at, byte) in address.iter_mut().enumerate() {
            *byte |= (0xff_u16 >> kept_bits(self.length, at)) as u8;
        }
        address
    }

    /// Whether `other` is this prefix or a more specific one inside it.
    pub fn contains(&self, other: &Prefix) -> bool {
        self.v6 == other.v6 && self.length <= other.length && other.shortened(self.length).address == self.address
    }
}

/// How many bits of the byte at this position belong to a prefix.
fn kept_bits(length: u8, at: usize) -> usize {
    usize::from(length).saturating_sub(8 * at).min(8)
}

/// Whether it is IPv6, and its bytes from the front.
pub fn address_bytes(address: IpAddr) -> (bool, [u8; 16]) {
    match address {
        IpAddr::V4(host) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&host.octets());
            (false, bytes)
        }
        IpAddr::V6(host) => (true, host.octets()),
    }
}

pub fn address_text(v6: bool, address: &[u8; 16]) -> String {
    if v6 {
        Ipv6Addr::from(*address).to_string()
    } else {
        Ipv4Addr::new(address[0], address[1], address[2], address[3]).to_string()
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", address_text(self.v6, &self.address), self.length)
    }
}

/// The position of a path: address, length, neighbor, in this order.
pub trait Key: Copy + Ord {
    fn of(prefix: &Prefix, neighbor: u16) -> Self;
    fn prefix(self) -> Prefix;
    fn neighbor(self) -> u16;
}

/// IPv4: the address, 8 bits of the length, 16 of the neighbor.
impl Key for u64 {
    fn of(prefix: &Prefix, neighbor: u16) -> u64 {
        let address = u32::from_be_bytes([prefix.address[0], prefix.address[1], prefix.address[2], prefix.address[3]]);
        u64::from(address) << 32 | u64::from(prefix.length) << 16 | u64::from(neighbor)
    }

    fn prefix(self) -> Prefix {
        let mut address = [0; 16];
        address[..4].copy_from_slice(&((self >> 32) as u32).to_be_bytes());
        Prefix { v6: false, address, length: (self >> 16) as u8 }
    }

    fn neighbor(self) -> u16 {
        self as u16
    }
}

/// IPv6: bytes in the order of the parts, so that arrays compare like the parts.
pub type V6Key = [u8; 19];

impl Key for V6Key {
    fn of(prefix: &Prefix, neighbor: u16) -> V6Key {
        let mut key = [0; 19];
        key[..16].copy_from_slice(&prefix.address);
        key[16] = prefix.length;
        key[17..].copy_from_slice(&neighbor.to_be_bytes());
        key
    }

    fn prefix(self) -> Prefix {
        let mut address = [0; 16];
        address.copy_from_slice(&self[..16]);
        Prefix { v6: true, address, length: self[16] }
    }

    fn neighbor(self) -> u16 {
        u16::from_be_bytes([self[17], self[18]])
    }
}

/// The keys of one prefix, of all neighbors: first and last.
pub fn keys_of<K: Key>(prefix: &Prefix) -> (K, K) {
    (K::of(prefix, 0), K::of(prefix, u16::MAX))
}

/// The keys of a prefix and of all prefixes that it contains.
pub fn keys_within<K: Key>(prefix: &Prefix) -> (K, K) {
    let last = Prefix { address: prefix.last(), length: Prefix::longest(prefix.v6), ..*prefix };
    (K::of(prefix, 0), K::of(&last, u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        Prefix::parse(text, true).expect("a prefix")
    }

    #[test]
    fn a_prefix_is_read_and_written_without_host_bits() {
        for (text, written) in [
            ("10.1.255.255/17", "10.1.128.0/17"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("192.0.2.1", "192.0.2.1/32"),
            ("2001:db8::ffff/64", "2001:db8::/64"),
            ("::1", "::1/128"),
        ] {
            assert_eq!(prefix(text).to_string(), written);
        }
        for wrong in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/-1", "10.0.0.0/8/8", "x"] {
            assert_eq!(Prefix::parse(wrong, true), None, "{}", wrong);
        }
        assert_eq!(Prefix::parse("10.0.0.0", false), None);
    }

    #[test]
    fn a_prefix_contains_itself_and_what_is_more_specific() {
        let outer = prefix("10.1.128.0/17");
        assert!(outer.contains(&outer));
        assert!(outer.contains(&prefix("10.1.255.255/32")));
        assert!(!outer.contains(&prefix("10.1.0.0/16")));
        assert!(!outer.contains(&prefix("10.1.127.0/24")));
        assert!(!prefix("::/0").contains(&outer));
        assert!(prefix("0.0.0.0/0").contains(&outer));
    }

    fn in_order<K: Key + std::fmt::Debug>(texts: &[&str]) {
        let keys: Vec<K> = texts.iter().flat_map(|text| [1, 256].map(|peer| K::of(&prefix(text), peer))).collect();
        let mut sorted = keys.clone();
        sorted.sort();
        assert_eq!(keys, sorted);
        for (key, text) in keys.iter().step_by(2).zip(texts) {
            assert_eq!((key.prefix(), key.neighbor()), (prefix(text), 1));
        }
    }

    #[test]
    fn keys_stand_in_the_order_of_prefix_and_neighbor() {
        in_order::<u64>(&["0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/24", "10.0.1.0/24", "255.255.255.255/32"]);
        in_order::<V6Key>(&["::/0", "2001:db8::/32", "2001:db8::/128", "2001:db8:0:1::/64", "ff00::/8"]);
    }

    #[test]
    fn the_keys_within_a_prefix_are_those_of_what_it_contains() {
        let outer = prefix("10.1.0.0/16");
        let (from, to) = keys_within::<u64>(&outer);
        for text in ["10.1.0.0/16", "10.1.0.0/32", "10.1.255.255/32", "10.1.255.0/24", "10.0.0.0/8", "10.2.0.0/16", "10.1.0.0/15"] {
            let key = u64::of(&prefix(text), 7);
            assert_eq!(from <= key && key <= to, outer.contains(&prefix(text)), "{}", text);
        }
        let outer = prefix("2001:db8:8000::/33");
        let (from, to) = keys_within::<V6Key>(&outer);
        for text in ["2001:db8:8000::/33", "2001:db8:ffff:ffff::/64", "2001:db8:8000::/128", "2001:db8::/32", "2001:db9::/32", "2001:db8:7fff::/48"] {
            let key = V6Key::of(&prefix(text), 7);
            assert_eq!(from <= key && key <= to, outer.contains(&prefix(text)), "{}", text);
        }
    }
}
