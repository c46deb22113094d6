//! zebra's forwarding plane manager (FRR's module dplane_fpm_nl): frames of netlink messages over TCP.
//!
//! A frame is version 1, type 1 (netlink), and its length with the header in network byte order. zebra 8.4 changes a
//! route with RTM_DELROUTE and RTM_NEWROUTE in one frame: nothing of a frame may take effect before its end.

use crate::netlink::*;
use crate::nexthop::{object_id, parse_id, parse_object, Action, GroupId, HopAttributes, NextHop, Object};
use crate::pins::shortened;

const FRAME_HEADER: usize = 4;

/// A route's destination in VPP's terms: table 0 is Linux's main table. IPv4 uses the first 4 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Prefix {
    pub table: u32,
    pub v6: bool,
    pub address: [u8; 16],
    pub length: u8,
}

/// Where a route leads: to a next-hop object of zebra, or to next hops of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    Object(GroupId),
    Inline(Vec<NextHop>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A route, its next hops, and the protocol by which zebra has it (RTPROT_*).
    Route(Prefix, Target, u8),
    Withdraw(Prefix),
    /// The prefix now belongs to a connected or kernel route, which VPP makes itself, whatever zebra sent before.
    TakenOver(Prefix),
    NextHop(u32, Object),
    NextHopGone(u32),
    /// Not for VPP, and no loss: routes with link scope; MAC addresses of bridges.
    NotOurs,
    /// Something that VPP would need and this feeder cannot give it; the word names it.
    Unsupported(&'static str),
    /// The same for a route; no earlier route of this prefix may stay in its place.
    UnsupportedRoute(Prefix, &'static str),
    /// The same for a next-hop object.
    UnsupportedNextHop(u32, &'static str),
}

/// The stream was not FPM; the connection has to be closed.
#[derive(Debug, PartialEq, Eq)]
pub struct NotFpm;

/// Takes the stream's bytes as they arrive, and returns whole frames.
#[derive(Default)]
pub struct Deframer {
    buffer: Vec<u8>,
    start: usize,
}

impl Deframer {
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.start = 0;
    }

    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The payload of the next whole frame.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, NotFpm> {
        let rest = &self.buffer[self.start..];
        if rest.len() < FRAME_HEADER {
            return Ok(None);
        }
        let length = u16::from_be_bytes([rest[2], rest[3]]) as usize;
        if rest[0] != 1 || rest[1] != 1 || length < FRAME_HEADER {
            return Err(NotFpm);
        }
        if rest.len() < length {
            return Ok(None);
        }
        let at = self.start;
        self.start += length;
        Ok(Some(&self.buffer[at + FRAME_HEADER..at + length]))
    }
}

/// Hands every message of a frame to `each`; false when the frame is malformed.
pub fn read_frame(frame: &[u8], mut each: impl FnMut(Event)) -> bool {
    let mut messages = Messages { rest: frame };
    for message in &mut messages {
        each(read_message(&message));
    }
    messages.rest.is_empty()
}

const NO_ROUTE: &str = "a route that cannot be read";
const NO_NEXT_HOP: &str = "a next hop that cannot be read";

fn read_message(message: &Message) -> Event {
    match message.kind {
        RTM_NEWROUTE | RTM_DELROUTE => read_route(message).unwrap_or(Event::Unsupported(NO_ROUTE)),
        RTM_NEWNEXTHOP => match (parse_object(message.body), parse_id(message.body)) {
            (Some((id, object)), _) => Event::NextHop(id, object),
            (None, Some(id)) => Event::UnsupportedNextHop(id, NO_NEXT_HOP),
            (None, None) => Event::Unsupported(NO_NEXT_HOP),
        },
        RTM_DELNEXTHOP => match parse_id(message.body) {
            Some(id) => Event::NextHopGone(id),
            None => Event::Unsupported(NO_NEXT_HOP),
        },
        _ => Event::NotOurs,
    }
}

/// None where even the prefix is unknown.
fn read_route(message: &Message) -> Option<Event> {
    let body = message.body;
    let (family, length, protocol, kind) = (*body.first()?, *body.get(1)?, *body.get(5)?, *body.get(7)?);
    let mut table = u32::from(*body.get(4)?);
    let v6 = match family {
        AF_INET => false,
        AF_INET6 => true,
        _ => return Some(Event::Unsupported("a route of another family than IPv4 and IPv6 (MPLS)")),
    };
    let bytes = if v6 { 16 } else { 4 };
    let mut address = [0; 16];
    let mut leads = Leads::default();
    let mut from_source = false;
    for (kind, value) in (Attributes { rest: body.get(12..)? }) {
        match kind {
            RTA_DST => address[..bytes].get_mut(..value.len())?.copy_from_slice(value),
            RTA_SRC => from_source = true,
            RTA_TABLE => table = u32_at(value, 0)?,
            _ => leads.take(kind, value),
        }
    }
    if usize::from(length) > 8 * bytes {
        return None;
    }
    if table == RT_TABLE_LOCAL || (v6 && is_link_scope(&address)) {
        return Some(Event::NotOurs);
    }
    if from_source {
        return Some(Event::Unsupported("a route with a source prefix"));
    }
    let table = if table == RT_TABLE_MAIN || table == RT_TABLE_UNSPEC { 0 } else { table };
    let prefix = shortened(&Prefix { table, v6, address, length }, length);
    if message.kind == RTM_DELROUTE {
        return Some(if protocol == RTPROT_KERNEL { Event::NotOurs } else { Event::Withdraw(prefix) });
    }
    if protocol == RTPROT_KERNEL || ![RTN_UNICAST, RTN_BLACKHOLE, RTN_UNREACHABLE, RTN_PROHIBIT].contains(&kind) {
        return Some(Event::TakenOver(prefix));
    }
    Some(match leads.target(kind) {
        Some(target) => Event::Route(prefix, target, protocol),
        None => Event::UnsupportedRoute(prefix, NO_ROUTE),
    })
}

/// The attributes of a route that describe its next hops.
#[derive(Default)]
struct Leads<'a> {
    object: Option<&'a [u8]>,
    multipath: Option<&'a [u8]>,
    hop: HopAttributes<'a>,
    malformed: bool,
}

impl<'a> Leads<'a> {
    fn take(&mut self, kind: u16, value: &'a [u8]) {
        match kind {
            RTA_NH_ID => self.object = Some(value),
            RTA_MULTIPATH => self.multipath = Some(value),
            _ => self.malformed |= self.hop.take(kind, value).is_none(),
        }
    }

    fn target(&self, kind: u8) -> Option<Target> {
        let only = |action| Some(Target::Inline(vec![NextHop { action, weight: 1 }]));
        match kind {
            RTN_BLACKHOLE => only(Action::Blackhole),
            RTN_UNREACHABLE => only(Action::Unreachable),
            RTN_PROHIBIT => only(Action::Prohibit),
            _ if self.malformed => None,
            _ => match (self.object, self.multipath) {
                (Some(value), _) => Some(Target::Object(object_id(value)?)),
                (None, Some(hops)) => Some(Target::Inline(read_multipath(hops)?)),
                (None, None) => only(self.hop.action()?),
            },
        }
    }
}

/// The destination of a route in the kernel's dump, if one of zebra's routing protocols installed it.
pub fn kernel_route(message: &Message) -> Option<Prefix> {
    let protocol = *message.body.get(5)?;
    if protocol != RTPROT_ZEBRA && !(RTPROT_BGP..=RTPROT_LAST_OF_ZEBRA).contains(&protocol) {
        return None;
    }
    match read_route(message)? {
        Event::Route(prefix, ..) => Some(prefix),
        _ => None,
    }
}

/// struct rtnexthop: length, flags, weight minus one, interface; its attributes follow.
fn read_multipath(mut rest: &[u8]) -> Option<Vec<NextHop>> {
    let mut hops = Vec::new();
    while rest.len() >= 8 {
        let length = u16_at(rest, 0)? as usize;
        if length < 8 || length > rest.len() {
            return None;
        }
        let mut hop = HopAttributes { interface: u32_at(rest, 4)?, ..HopAttributes::default() };
        for (kind, value) in (Attributes { rest: &rest[8..length] }) {
            hop.take(kind, value)?;
        }
        hops.push(NextHop { action: hop.action()?, weight: rest[3].saturating_add(1) });
        rest = &rest[aligned(length).min(rest.len())..];
    }
    Some(hops)
}

/// fe80::/10 and ff00::/8: VPP has them on each interface.
fn is_link_scope(address: &[u8; 16]) -> bool {
    address[0] == 0xff || (address[0] == 0xfe && address[1] & 0xc0 == 0x80)
}
