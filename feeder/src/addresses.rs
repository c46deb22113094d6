//! The addresses of Linux's interfaces, which give the directly connected networks.

use crate::fpm::Prefix;
use crate::netlink::*;
use crate::pins::shortened;
use std::collections::HashSet;

#[derive(Default)]
pub struct Addresses {
    /// Linux's index, and the address with its network's prefix length.
    known: HashSet<(u32, Prefix)>,
}

impl Addresses {
    /// Takes a message about an address; true when something changed.
    pub fn take(&mut self, message: &Message) -> bool {
        match address(message.body) {
            Some(found) if message.kind == RTM_NEWADDR => self.known.insert(found),
            Some(found) => self.known.remove(&found),
            None => false,
        }
    }

    /// The interface was removed, and its addresses with it.
    pub fn forget(&mut self, ifindex: u32) {
        self.known.retain(|(of, _)| *of != ifindex);
    }

    /// The interface, among those `chosen`, with the smallest network that holds the address, and the network's
    /// length.
    pub fn on_link(&self, one: &Prefix, chosen: impl Fn(u32) -> bool) -> Option<(u32, u8)> {
        let holding = self.known.iter().filter(|(_, own)| {
            own.v6 == one.v6 && shortened(own, own.length).address == shortened(one, own.length).address
        });
        let best = holding.filter(|(ifindex, _)| chosen(*ifindex));
        best.map(|(ifindex, own)| (*ifindex, own.length)).max_by_key(|(ifindex, length)| (*length, *ifindex))
    }
}

/// From the body of RTM_NEWADDR or RTM_DELADDR; link-local addresses are skipped.
fn address(body: &[u8]) -> Option<(u32, Prefix)> {
    let (family, length, scope) = (*body.first()?, *body.get(1)?, *body.get(3)?);
    if scope == RT_SCOPE_LINK {
        return None;
    }
    let (_, value) = (Attributes { rest: body.get(8..)? }).find(|(kind, _)| *kind == IFA_ADDRESS)?;
    let v6 = family == AF_INET6;
    if value.len() != if v6 { 16 } else { 4 } {
        return None;
    }
    let mut address = [0; 16];
    address[..value.len()].copy_from_slice(value);
    Some((u32_at(body, 4)?, Prefix { table: 0, v6, address, length }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(ifindex: u32, address: [u8; 4], length: u8) -> Vec<u8> {
        let mut body = vec![AF_INET, length, 0, 0];
        body.extend_from_slice(&ifindex.to_ne_bytes());
        body.extend_from_slice(&8u16.to_ne_bytes());
        body.extend_from_slice(&IFA_ADDRESS.to_ne_bytes());
        body.extend_from_slice(&address);
        body
    }

    #[test]
    fn the_smallest_network_on_the_link_is_found_while_it_is_there() {
        let mut addresses = Addresses::default();
        let mut take = |kind: u16, ifindex: u32, address: [u8; 4], length: u8| {
            let body = told(ifindex, address, length);
            addresses.take(&Message { kind, body: &body })
        };
        assert!(take(RTM_NEWADDR, 1, [10, 0, 0, 1], 8));
        assert!(take(RTM_NEWADDR, 2, [10, 3, 0, 1], 24));
        assert!(!take(RTM_NEWADDR, 2, [10, 3, 0, 1], 24));
        let mut end = [0; 16];
        end[..4].copy_from_slice(&[10, 3, 0, 9]);
        let end = Prefix { table: 0, v6: false, address: end, length: 32 };
        assert_eq!(addresses.on_link(&end, |_| true), Some((2, 24)));
        assert_eq!(addresses.on_link(&end, |ifindex| ifindex == 1), Some((1, 8)));
        assert_eq!(addresses.on_link(&Prefix { v6: true, ..end }, |_| true), None);
        addresses.forget(2);
        assert_eq!(addresses.on_link(&end, |_| true), Some((1, 8)));
        let body = told(1, [10, 0, 0, 1], 8);
        assert!(addresses.take(&Message { kind: RTM_DELADDR, body: &body }));
        assert_eq!(addresses.on_link(&end, |_| true), None);
    }
}
