//! Netlink's messages and attributes (RFC 3549; linux/rtnetlink.h, linux/nexthop.h), in the machine's byte order.

pub const RTM_NEWLINK: u16 = 16;
pub const RTM_DELLINK: u16 = 17;
pub const RTM_GETLINK: u16 = 18;
pub const RTM_NEWADDR: u16 = 20;
pub const RTM_DELADDR: u16 = 21;
pub const RTM_GETADDR: u16 = 22;
pub const RTM_NEWROUTE: u16 = 24;
pub const RTM_DELROUTE: u16 = 25;
pub const RTM_GETROUTE: u16 = 26;
pub const RTM_NEWNEXTHOP: u16 = 104;
pub const RTM_DELNEXTHOP: u16 = 105;
pub const NLMSG_ERROR: u16 = 2;
pub const NLMSG_DONE: u16 = 3;

pub const NLM_F_REQUEST: u16 = 1;
pub const NLM_F_DUMP: u16 = 0x300;

pub const RTMGRP_LINK: u32 = 1;
pub const RTMGRP_IPV4_IFADDR: u32 = 0x10;
pub const RTMGRP_IPV6_IFADDR: u32 = 0x100;

pub const AF_UNSPEC: u8 = 0;
pub const AF_INET: u8 = 2;
pub const AF_INET6: u8 = 10;

pub const RTN_UNICAST: u8 = 1;
pub const RTN_BLACKHOLE: u8 = 6;
pub const RTN_UNREACHABLE: u8 = 7;
pub const RTN_PROHIBIT: u8 = 8;
pub const RTPROT_KERNEL: u8 = 2;
pub const RTPROT_ZEBRA: u8 = 11;
pub const RTPROT_BGP: u8 = 186;
pub const RTPROT_LAST_OF_ZEBRA: u8 = 199;
pub const RT_TABLE_UNSPEC: u32 = 0;
pub const RT_TABLE_MAIN: u32 = 254;
pub const RT_TABLE_LOCAL: u32 = 255;
pub const RT_SCOPE_LINK: u8 = 253;

pub const RTA_DST: u16 = 1;
pub const RTA_SRC: u16 = 2;
pub const RTA_OIF: u16 = 4;
pub const RTA_GATEWAY: u16 = 5;
pub const RTA_MULTIPATH: u16 = 9;
pub const RTA_TABLE: u16 = 15;
pub const RTA_VIA: u16 = 18;
pub const RTA_ENCAP_TYPE: u16 = 21;
pub const RTA_ENCAP: u16 = 22;
pub const RTA_NH_ID: u16 = 30;

pub const NHA_ID: u16 = 1;
pub const NHA_GROUP: u16 = 2;
pub const NHA_BLACKHOLE: u16 = 4;
pub const NHA_OIF: u16 = 5;
pub const NHA_GATEWAY: u16 = 6;
pub const NHA_ENCAP_TYPE: u16 = 7;
pub const NHA_ENCAP: u16 = 8;

pub const IFA_ADDRESS: u16 = 1;
pub const IFLA_LINKINFO: u16 = 18;
pub const IFLA_INFO_KIND: u16 = 1;
pub const IFLA_INFO_DATA: u16 = 2;
pub const IFLA_VRF_TABLE: u16 = 1;
pub const LWTUNNEL_ENCAP_MPLS: u16 = 1;
pub const MPLS_IPTUNNEL_DST: u16 = 1;

const HEADER: usize = 16;
const TYPE_MASK: u16 = 0x3fff;

/// One message: its type, and the part after the header.
pub struct Message<'a> {
    pub kind: u16,
    pub body: &'a [u8],
}

/// The messages of a buffer. `None` in the middle of one means that the buffer is malformed: `rest` is then not
/// empty.
pub struct Messages<'a> {
    pub rest: &'a [u8],
}

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let length = u32_at(self.rest, 0)? as usize;
        if length < HEADER || length > self.rest.len() {
            return None;
        }
        let kind = u16_at(self.rest, 4)?;
        let body = &self.rest[HEADER..length];
        self.rest = &self.rest[aligned(length).min(self.rest.len())..];
        Some(Message { kind, body })
    }
}

/// Attributes: type without its flags, and value. They end at malformed data.
pub struct Attributes<'a> {
    pub rest: &'a [u8],
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        let length = u16_at(self.rest, 0)? as usize;
        let kind = u16_at(self.rest, 2)? & TYPE_MASK;
        if length < 4 || length > self.rest.len() {
            return None;
        }
        let value = &self.rest[4..length];
        self.rest = &self.rest[aligned(length).min(self.rest.len())..];
        Some((kind, value))
    }
}

pub fn aligned(length: usize) -> usize {
    (length + 3) & !3
}

pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A request to dump everything of `kind`, with a body of `body` bytes whose first is the family.
pub fn dump_request(kind: u16, family: u8, body: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER + body);
    message.extend_from_slice(&((HEADER + body) as u32).to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&(NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    message.extend_from_slice(&[0; 8]);
    message.push(family);
    message.resize(HEADER + body, 0);
    message
}
