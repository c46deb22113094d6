//! Host routes to the far ends of VPP's tunnels (GRE and IP in IP): each leads out through an interface that is not a tunnel.
//!
//! Without one, a route over a tunnel may be the best route to the tunnel's own far end, or form a loop through
//! several tunnels: a routing protocol over the tunnel is enough to cause it. VPP 26.06 then stacks the tunnels on
//! each other, and crashes when such a route is removed. A host route is always the best; where no path leads out, it
//! drops.

use crate::fpm::Prefix;
use crate::lanes::Vpp;
use crate::mirrors::Mirrors;
use crate::nexthop::{Action, NextHop};
use crate::rib::Rib;
use crate::vpp_connection::Connection;
use crate::vpp_messages::{be32, paths, route, Kind, Paths, Way, NO_INTERFACE};
use std::collections::{HashMap, HashSet};
use std::io;

type Decode = fn(&[u8]) -> Option<(u32, Prefix)>;

const KINDS: [(Kind, Kind, Decode); 2] =
    [(Kind::GreDump, Kind::GreDetails, gre), (Kind::IpipDump, Kind::IpipDetails, ipip)];

/// The tunnels of VPP.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Tunnels {
    /// The prefix of the single address, in the table by which the tunnel's packets leave.
    ends: HashSet<Prefix>,
    /// VPP's indexes.
    interfaces: HashSet<u32>,
}

impl Tunnels {
    /// Reads them; none of a kind for which VPP lacks the messages.
    pub fn read(vpp: &mut Connection) -> io::Result<Tunnels> {
        let mut found = Vec::new();
        for (dump, details, decode) in KINDS {
            if vpp.has(dump) {
                let all = |out: &mut Vec<u8>| out.extend_from_slice(&NO_INTERFACE.to_be_bytes());
                let answers = vpp.ask(dump, Kind::ControlPingReply, all)?;
                let rows = answers.iter().filter(|answer| answer.kind == Some(details));
                found.extend(rows.filter_map(|answer| decode(&answer.body)));
            }
        }
        Ok(Tunnels::of(found.into_iter()))
    }

    fn of(rows: impl Iterator<Item = (u32, Prefix)>) -> Tunnels {
        let (interfaces, ends) = rows.unzip();
        Tunnels { ends, interfaces }
    }

    pub fn has(&self, sw_if_index: u32) -> bool {
        self.interfaces.contains(&sw_if_index)
    }
}

/// The host routes given in one life of VPP.
#[derive(Default)]
pub struct Pins {
    given: HashMap<Prefix, Paths>,
    /// Events of the RIB and changes of the mirrors at the last check.
    seen: Option<(u64, u64)>,
}

impl Pins {
    /// Whether the route is maintained here, whatever zebra says of it.
    pub fn hold(&self, prefix: &Prefix) -> bool {
        self.given.contains_key(prefix)
    }
}

impl Vpp {
    /// Brings the host routes up to date, and waits for VPP. Runs before any route is sent that zebra sent since, or
    /// that uses a mirror read since.
    pub fn pin(&mut self, mirrors: &Mirrors, rib: &mut Rib) -> io::Result<()> {
        let now = Some((rib.events, mirrors.changes));
        if self.pins.seen == now {
            return Ok(());
        }
        self.pins.seen = now;
        for end in &mirrors.tunnels.ends {
            let way = way_out(end, mirrors, rib);
            if self.pins.given.get(end) != Some(&way) {
                self.control.ask(Kind::RouteAddDel, Kind::RouteAddDelReply, |out| route(out, end, true, &way))?;
                self.pins.given.insert(*end, way);
            }
        }
        let ends = &mirrors.tunnels.ends;
        let gone: Vec<Prefix> = self.pins.given.keys().filter(|end| !ends.contains(*end)).copied().collect();
        for end in gone {
            self.pins.given.remove(&end);
            // A host route that zebra also wants is replaced by zebra's, in its turn.
            if !rib.again(&end) {
                let none = Paths::default();
                self.control.ask(Kind::RouteAddDel, Kind::RouteAddDelReply, |out| route(out, &end, false, &none))?;
            }
        }
        Ok(())
    }
}

/// The paths of the longest prefix that holds the address and leads out: a network of a mirror, or a route of zebra.
fn way_out(end: &Prefix, mirrors: &Mirrors, rib: &Rib) -> Paths {
    let connected = mirrors.connected(end);
    for length in (0..=end.length).rev() {
        if let Some((ifindex, _)) = connected.filter(|(_, of_network)| *of_network == length) {
            let gateway_length = if end.v6 { 16 } else { 4 };
            let action = Action::Forward { interface: ifindex, gateway: end.address, gateway_length, labels: vec![] };
            return paths(&[NextHop { action, weight: 1 }], end.v6, |ifindex| mirrors.outside(ifindex).map(Way::Out));
        }
        let hops = rib.wanted(&shortened(end, length)).and_then(|group| rib.hops(group));
        let found = hops.map(|hops| paths(&hops, end.v6, |ifindex| mirrors.outside(ifindex).map(Way::Out)));
        if let Some(found) = found.filter(|found| found.count > 0) {
            return found;
        }
    }
    paths(&[NextHop { action: Action::Blackhole, weight: 1 }], end.v6, |_| None)
}

/// The network of this length that holds the address.
pub fn shortened(end: &Prefix, length: u8) -> Prefix {
    let mut address = end.address;
    for (at, byte) in address.iter_mut().enumerate() {
        let bits = usize::from(length).saturating_sub(at * 8);
        if bits < 8 {
            *byte &= !(0xff >> bits);
        }
    }
    Prefix { address, length, ..*end }
}

/// From gre_tunnel_v2_details, after the context: VPP's index of the interface, and the far end.
fn gre(body: &[u8]) -> Option<(u32, Prefix)> {
    Some((be32(body, 13)?, host(body.get(34..51)?, be32(body, 9)?)))
}

/// The same from ipip_tunnel_details.
fn ipip(body: &[u8]) -> Option<(u32, Prefix)> {
    Some((be32(body, 38)?, host(body.get(21..38)?, be32(body, 42)?)))
}

/// The prefix of an address: a byte for the family, then 16 for the address.
fn host(encoded: &[u8], table: u32) -> Prefix {
    let v6 = encoded[0] != 0;
    let mut address = [0; 16];
    let bytes = if v6 { 16 } else { 4 };
    address[..bytes].copy_from_slice(&encoded[1..=bytes]);
    Prefix { table, v6, address, length: if v6 { 128 } else { 32 } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(address: [u8; 4], length: u8) -> Prefix {
        let mut all = [0; 16];
        all[..4].copy_from_slice(&address);
        Prefix { table: 0, v6: false, address: all, length }
    }

    #[test]
    fn a_tunnel_is_read() {
        let mut body = vec![0; 5];
        body.extend_from_slice(&7u32.to_be_bytes()); // instance
        body.extend_from_slice(&10u32.to_be_bytes());
        body.extend_from_slice(&3u32.to_be_bytes());
        body.extend_from_slice(&[0, 192, 0, 2, 1]);
        body.resize(34, 0);
        body.extend_from_slice(&[0, 203, 0, 113, 9]);
        body.resize(55, 0xff);
        let end = Prefix { table: 10, ..v4([203, 0, 113, 9], 32) };
        assert_eq!(gre(&body), Some((3, end)));
        body[34] = 1;
        let (_, six) = gre(&body).unwrap();
        assert_eq!((six.v6, six.length, six.address[15]), (true, 128, 0xff));
        assert_eq!(gre(&body[..50]), None);
        let two = Tunnels::of([(3, end), (4, end)].into_iter());
        assert_eq!((two.ends.len(), two.has(4), two.has(5)), (1, true, false));
    }

    #[test]
    fn a_tunnel_of_ip_in_ip_is_read() {
        let mut body = 7u32.to_be_bytes().to_vec(); // instance
        body.extend_from_slice(&[0, 192, 0, 2, 1]);
        body.resize(21, 0);
        body.extend_from_slice(&[0, 203, 0, 113, 9]);
        body.resize(38, 0xff);
        body.extend_from_slice(&3u32.to_be_bytes());
        body.extend_from_slice(&10u32.to_be_bytes());
        body.extend_from_slice(&[0, 0, 0]); // flags, mode, DSCP
        let end = Prefix { table: 10, ..v4([203, 0, 113, 9], 32) };
        assert_eq!(ipip(&body), Some((3, end)));
        body[21] = 1;
        let (_, six) = ipip(&body).unwrap();
        assert_eq!((six.v6, six.length, six.address[15]), (true, 128, 0xff));
        assert_eq!(ipip(&body[..45]), None);
    }

    #[test]
    fn the_networks_of_an_address_lose_bit_after_bit() {
        let end = v4([10, 3, 129, 9], 32);
        let networks = [(32, [10, 3, 129, 9]), (31, [10, 3, 129, 8]), (24, [10, 3, 129, 0]), (17, [10, 3, 128, 0]), (0, [0; 4])];
        for (length, address) in networks {
            assert_eq!(shortened(&end, length), v4(address, length));
        }
    }
}
