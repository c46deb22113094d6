//! Which of VPP's interfaces a Linux interface mirrors, and what linux-nl would do for a mirror besides routes:
//! multicast for the routing protocols, and Linux's link-local address.

use crate::addresses::Addresses;
use crate::fpm::Prefix;
use crate::netlink::*;
use crate::pins::Tunnels;
use crate::poll::{wait, PollFd, POLLIN};
use crate::sys::Netlink;
use crate::vpp_connection::Connection;
use crate::vpp_messages::{be32, local_route, multicast_route, FibTable, Kind, Pair, Way};
use std::collections::{HashMap, HashSet};
use std::io;

const ANSWERS_BYTES: i32 = 4 << 20;
/// The time for the kernel to continue the list of its links.
const DUMP_MS: i32 = 5000;
/// Linux's index of lo, in every network namespace.
const LOOPBACK: u32 = 1;

pub struct Mirrors {
    namespace: Option<String>,
    pairs: HashMap<u32, Pair>,
    /// The table of each VRF, by Linux's index of its device.
    vrfs: HashMap<u32, u32>,
    /// A VRF was created, removed or has another table since the pairs were read.
    vrfs_changed: bool,
    link_local: HashMap<u32, [u8; 16]>,
    /// Linux's index of each mirror that no route may use.
    vacated: HashSet<u32>,
    addresses: Addresses,
    /// The tables of VPP's interfaces that are mirrored, for IPv4 and IPv6.
    tables: HashMap<u32, [u32; 2]>,
    pub tunnels: Tunnels,
    /// Counts changes that may affect the path to the far end of a tunnel.
    pub changes: u64,
    /// Linux's index of each link that changed since the pairs were read.
    touched: HashSet<u32>,
    events: Netlink,
    /// Something changed in Linux that may concern a mirror.
    pub changed: bool,
}

impl Mirrors {
    /// Receives events of links and addresses in this process's network namespace. Pairs of another `namespace` are
    /// left out.
    pub fn open(namespace: Option<String>) -> io::Result<Mirrors> {
        let events = Netlink::open(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR, ANSWERS_BYTES)?;
        events.send(&dump_request(RTM_GETADDR, AF_UNSPEC, 8))?;
        let mut mirrors = Mirrors {
            namespace,
            pairs: HashMap::new(),
            vrfs: HashMap::new(),
            vrfs_changed: false,
            link_local: HashMap::new(),
            vacated: HashSet::new(),
            addresses: Addresses::default(),
            tables: HashMap::new(),
            tunnels: Tunnels::default(),
            changes: 0,
            touched: HashSet::new(),
            events,
            changed: true,
        };
        mirrors.read_vrfs()?;
        Ok(mirrors)
    }

    pub fn fd(&self) -> i32 {
        self.events.fd()
    }

    /// VPP's index of the interface that this one mirrors, where routes may use it.
    pub fn sw_if_index(&self, ifindex: u32) -> Option<u32> {
        if self.vacated.contains(&ifindex) {
            return None;
        }
        self.pairs.get(&ifindex).map(|pair| pair.sw_if_index)
    }

    /// Where packets go that Linux would send to this interface; None for one that is neither a usable mirror nor the
    /// device of a VRF. FRR leads leaked routes through the device of the VRF they come from: lo for the default one.
    pub fn way(&self, ifindex: u32) -> Option<Way> {
        if ifindex == LOOPBACK {
            return Some(Way::Table(0));
        }
        let out = self.sw_if_index(ifindex).map(Way::Out);
        out.or_else(|| self.vrfs.get(&ifindex).map(|table| Way::Table(*table)))
    }

    /// VPP's index of the mirrored interface, unless that is a tunnel.
    pub fn outside(&self, ifindex: u32) -> Option<u32> {
        self.sw_if_index(ifindex).filter(|found| !self.tunnels.has(*found))
    }

    /// Linux's index of the mirror, excluding those of tunnels, whose network holds the address, and the network's
    /// length.
    pub fn connected(&self, one: &Prefix) -> Option<(u32, u8)> {
        self.addresses.on_link(one, |ifindex| {
            let found = self.outside(ifindex).and_then(|index| self.tables.get(&index));
            found.map_or(false, |tables| tables[usize::from(one.v6)] == one.table)
        })
    }

    /// From now on no route may use the mirror; returns Linux's index of it, or None where none has that name.
    pub fn vacate(&mut self, name: &str) -> Option<u32> {
        let ifindex = self.pairs.values().find(|pair| pair.name == name)?.ifindex;
        self.vacated.insert(ifindex);
        self.changes += 1;
        Some(ifindex)
    }

    /// Routes may use it again if it still exists: the pairs are read before any route does.
    pub fn readmit(&mut self, ifindex: u32) {
        self.vacated.remove(&ifindex);
        self.pairs.remove(&ifindex);
        self.changed = true;
    }

    pub fn pairs(&self) -> Vec<&Pair> {
        let mut pairs: Vec<&Pair> = self.pairs.values().collect();
        pairs.sort_by(|one, other| one.name.cmp(&other.name));
        pairs
    }

    /// The name of a mirror by Linux's index.
    pub fn name(&self, ifindex: u32) -> Option<&str> {
        self.pairs.get(&ifindex).map(|pair| pair.name.as_str())
    }

    pub fn forget_pairs(&mut self) {
        self.pairs.clear();
        self.changed = true;
    }

    /// Reads the pending events.
    pub fn hear(&mut self) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match self.events.receive(&mut buffer) {
                Ok(length) => {
                    for message in (Messages { rest: &buffer[..length] }) {
                        self.take(&message);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    // Some were lost: the pairs are read anyway, and the addresses again.
                    self.changed = true;
                    let _ = self.events.send(&dump_request(RTM_GETADDR, AF_UNSPEC, 8));
                    let _ = self.read_vrfs();
                    return;
                }
            }
        }
    }

    fn take(&mut self, message: &Message) {
        match message.kind {
            RTM_NEWLINK | RTM_DELLINK => {
                self.changed = true;
                // It may be in another VRF.
                self.touched.extend(u32_at(message.body, 4));
                self.take_vrf(message);
                if let (RTM_DELLINK, Some(ifindex)) = (message.kind, u32_at(message.body, 4)) {
                    self.addresses.forget(ifindex);
                }
            }
            RTM_NEWADDR | RTM_DELADDR => {
                self.changes += u64::from(self.addresses.take(message));
                if let Some((ifindex, address)) = link_local(message.body) {
                    if message.kind == RTM_NEWADDR {
                        self.changed |= self.link_local.insert(ifindex, address) != Some(address);
                    } else {
                        self.link_local.remove(&ifindex);
                    }
                }
            }
            _ => {}
        }
    }

    fn take_vrf(&mut self, message: &Message) {
        if let Some(ifindex) = u32_at(message.body, 4) {
            let table = if message.kind == RTM_NEWLINK { vrf_table(message.body) } else { None };
            let before = match table {
                Some(table) => self.vrfs.insert(ifindex, table),
                None => self.vrfs.remove(&ifindex),
            };
            self.vrfs_changed |= before != table;
        }
    }

    /// Reads which links are VRFs; events report later ones.
    fn read_vrfs(&mut self) -> io::Result<()> {
        let links = Netlink::open(0, ANSWERS_BYTES)?;
        links.send(&dump_request(RTM_GETLINK, AF_UNSPEC, 16))?;
        self.vrfs.clear();
        self.vrfs_changed = true;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let length = match links.receive(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut fds = [PollFd { fd: links.fd(), events: POLLIN, revents: 0 }];
                    wait(&mut fds, DUMP_MS)?;
                    if fds[0].revents == 0 {
                        return Err(io::Error::new(io::ErrorKind::TimedOut, "the kernel does not list its links"));
                    }
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            for message in (Messages { rest: &buffer[..length] }) {
                match message.kind {
                    RTM_NEWLINK => self.take_vrf(&message),
                    NLMSG_DONE | NLMSG_ERROR => return Ok(()),
                    _ => {}
                }
            }
        }
    }

    /// Reads linux-cp's pairs and does what new mirrors need. Returns true when a Linux interface got a mirror, got
    /// another one, or lost its mirror: routes over it then lead elsewhere.
    pub fn refresh(&mut self, vpp: &mut Connection) -> io::Result<bool> {
        self.changed = false;
        let answers = vpp.ask_for_list(Kind::PairGet, Kind::PairGetReply, Kind::PairDetails)?;
        let mut pairs = HashMap::new();
        for answer in &answers {
            if let Some(pair) = Pair::decode(answer) {
                if self.namespace.as_ref().map_or(true, |name| *name == pair.namespace) {
                    pairs.insert(pair.ifindex, pair);
                }
            }
        }
        // After the pairs: when a tunnel has a mirror, the tunnel is known.
        let tunnels = Tunnels::read(vpp)?;
        self.changes += u64::from(tunnels != self.tunnels || pairs != self.pairs);
        self.tunnels = tunnels;
        let before = std::mem::replace(&mut self.pairs, pairs);
        let lead_elsewhere = std::mem::take(&mut self.vrfs_changed) || indexes(&before) != indexes(&self.pairs);
        for (ifindex, pair) in &self.pairs {
            let known = before.get(ifindex).map(|pair| pair.sw_if_index);
            if known != Some(pair.sw_if_index) || self.touched.contains(ifindex) {
                let tables = accept_multicast(vpp, pair.sw_if_index)?;
                if self.tables.insert(pair.sw_if_index, tables) != Some(tables) {
                    self.changes += 1;
                }
            }
            if let Some(address) = self.link_local.get(ifindex) {
                set_link_local(vpp, pair.sw_if_index, address)?;
            }
        }
        self.touched.clear();
        Ok(lead_elsewhere)
    }

    /// After a mark of all tables, every route that is to stay has to be given again.
    pub fn repeat(&self, vpp: &mut Connection) -> io::Result<()> {
        for pair in self.pairs.values() {
            accept_multicast(vpp, pair.sw_if_index)?;
        }
        Ok(())
    }
}

/// VPP's index of each mirrored interface, by Linux's.
fn indexes(pairs: &HashMap<u32, Pair>) -> HashMap<u32, u32> {
    pairs.iter().map(|(ifindex, pair)| (*ifindex, pair.sw_if_index)).collect()
}

/// The entries that linux-nl adds to each table it uses: link-scope multicast and the broadcast address go to Linux.
pub fn prepare_table(vpp: &mut Connection, table: FibTable) -> io::Result<()> {
    let group = link_scope_multicast(table);
    if !table.v6 {
        let broadcast = Prefix { table: table.id, v6: false, address: [0xff; 16], length: 32 };
        vpp.ask(Kind::RouteAddDel, Kind::RouteAddDelReply, |out| local_route(out, &broadcast))?;
    }
    vpp.ask(Kind::MrouteAddDel, Kind::MrouteAddDelReply, |out| multicast_route(out, &group, None))?;
    Ok(())
}

/// Returns the interface's tables, of IPv4 and IPv6.
fn accept_multicast(vpp: &mut Connection, sw_if_index: u32) -> io::Result<[u32; 2]> {
    let tables = [table_of(vpp, sw_if_index, false)?, table_of(vpp, sw_if_index, true)?];
    for v6 in [false, true] {
        let group = link_scope_multicast(FibTable { id: tables[usize::from(v6)], v6 });
        vpp.ask(Kind::MrouteAddDel, Kind::MrouteAddDelReply, |out| multicast_route(out, &group, Some(sw_if_index)))?;
    }
    Ok(tables)
}

/// The table in which packets of the interface are looked up: that of its VRF.
fn table_of(vpp: &mut Connection, sw_if_index: u32, v6: bool) -> io::Result<u32> {
    let answers = vpp.ask(Kind::GetTable, Kind::GetTableReply, |out| {
        out.extend_from_slice(&sw_if_index.to_be_bytes());
        out.push(u8::from(v6));
    })?;
    Ok(answers.last().and_then(|answer| be32(&answer.body, 4)).unwrap_or(0))
}

fn set_link_local(vpp: &mut Connection, sw_if_index: u32, address: &[u8; 16]) -> io::Result<()> {
    vpp.ask(Kind::Ip6Enable, Kind::Ip6EnableReply, |out| {
        out.extend_from_slice(&sw_if_index.to_be_bytes());
        out.push(1);
    })?;
    vpp.ask(Kind::LinkLocal, Kind::LinkLocalReply, |out| {
        out.extend_from_slice(&sw_if_index.to_be_bytes());
        out.extend_from_slice(address);
    })?;
    Ok(())
}

fn link_scope_multicast(table: FibTable) -> Prefix {
    let mut address = [0; 16];
    address[0] = if table.v6 { 0xff } else { 224 };
    Prefix { table: table.id, v6: table.v6, address, length: if table.v6 { 8 } else { 24 } }
}

/// The table of a VRF's device; None for any other link.
pub fn vrf_table(body: &[u8]) -> Option<u32> {
    let (_, info) = (Attributes { rest: body.get(16..)? }).find(|(kind, _)| *kind == IFLA_LINKINFO)?;
    let value = |wanted: u16| (Attributes { rest: info }).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
    if value(IFLA_INFO_KIND)?.strip_suffix(b"\0")? != b"vrf" {
        return None;
    }
    let (_, table) = (Attributes { rest: value(IFLA_INFO_DATA)? }).find(|(kind, _)| *kind == IFLA_VRF_TABLE)?;
    u32_at(table, 0)
}

fn link_local(body: &[u8]) -> Option<(u32, [u8; 16])> {
    if *body.first()? != AF_INET6 || *body.get(3)? != RT_SCOPE_LINK {
        return None;
    }
    let (_, value) = (Attributes { rest: body.get(8..)? }).find(|(kind, _)| *kind == IFA_ADDRESS)?;
    Some((u32_at(body, 4)?, value.try_into().ok()?))
}
