//! The messages of VPP's binary API that the feeder uses: hand-written layouts, each checked at connect against the
//! checksum that VPP announces for it. All numbers are in network byte order.

use crate::fpm::Prefix;
use crate::nexthop::{Action, NextHop};

/// Name and checksum of each message, as VPP 23.10 to 26.06 announce them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Kind {
    RouteAddDel,
    RouteAddDelReply,
    RouteLookup,
    RouteLookupReply,
    MrouteAddDel,
    MrouteAddDelReply,
    TableDump,
    TableDetails,
    TableReplaceBegin,
    TableReplaceBeginReply,
    TableReplaceEnd,
    TableReplaceEndReply,
    ControlPing,
    ControlPingReply,
    PairGet,
    PairGetReply,
    PairDetails,
    Ip6Enable,
    Ip6EnableReply,
    LinkLocal,
    LinkLocalReply,
    GetTable,
    GetTableReply,
    GreDump,
    GreDetails,
    IpipDump,
    IpipDetails,
}

pub const KINDS: [(Kind, &str); 27] = [
    (Kind::RouteAddDel, "ip_route_add_del_b8ecfe0d"),
    (Kind::RouteAddDelReply, "ip_route_add_del_reply_1992deab"),
    (Kind::RouteLookup, "ip_route_lookup_710d6471"),
    (Kind::RouteLookupReply, "ip_route_lookup_reply_5d8febcb"),
    (Kind::MrouteAddDel, "ip_mroute_add_del_0dd7e790"),
    (Kind::MrouteAddDelReply, "ip_mroute_add_del_reply_1992deab"),
    (Kind::TableDump, "ip_table_dump_51077d14"),
    (Kind::TableDetails, "ip_table_details_c79fca0f"),
    (Kind::TableReplaceBegin, "ip_table_replace_begin_b9d2e09e"),
    (Kind::TableReplaceBeginReply, "ip_table_replace_begin_reply_e8d4e804"),
    (Kind::TableReplaceEnd, "ip_table_replace_end_b9d2e09e"),
    (Kind::TableReplaceEndReply, "ip_table_replace_end_reply_e8d4e804"),
    (Kind::ControlPing, "control_ping_51077d14"),
    (Kind::ControlPingReply, "control_ping_reply_f6b0b8ca"),
    (Kind::PairGet, "lcp_itf_pair_get_f75ba505"),
    (Kind::PairGetReply, "lcp_itf_pair_get_reply_53b48f5d"),
    (Kind::PairDetails, "lcp_itf_pair_details_8b5481af"),
    (Kind::Ip6Enable, "sw_interface_ip6_enable_disable_ae6cfcfb"),
    (Kind::Ip6EnableReply, "sw_interface_ip6_enable_disable_reply_e8d4e804"),
    (Kind::LinkLocal, "sw_interface_ip6_set_link_local_address_1c10f15f"),
    (Kind::LinkLocalReply, "sw_interface_ip6_set_link_local_address_reply_e8d4e804"),
    (Kind::GetTable, "sw_interface_get_table_2d033de4"),
    (Kind::GetTableReply, "sw_interface_get_table_reply_a6eb0109"),
    (Kind::GreDump, "gre_tunnel_v2_dump_f9e6675e"),
    (Kind::GreDetails, "gre_tunnel_v2_details_65521177"),
    (Kind::IpipDump, "ipip_tunnel_dump_f9e6675e"),
    (Kind::IpipDetails, "ipip_tunnel_details_d31cb34e"),
];

/// Messages of a plugin that VPP may lack. With another checksum they are refused like the others.
pub const OPTIONAL: [Kind; 4] = [Kind::GreDump, Kind::GreDetails, Kind::IpipDump, Kind::IpipDetails];

pub const NO_INTERFACE: u32 = u32::MAX;
const MAX_PATHS: usize = 255;
const MAX_LABELS: usize = 16;

const PATH_NORMAL: u32 = 0;
const PATH_LOCAL: u32 = 1;
const PATH_DROP: u32 = 2;
const PATH_UNREACHABLE: u32 = 5;
const PATH_PROHIBIT: u32 = 6;

const ITF_ACCEPT: u32 = 2;
const ITF_FORWARD: u32 = 4;

/// Encoded paths of a route, ready to be put into its message.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Paths {
    pub count: u8,
    pub bytes: Vec<u8>,
}

/// The meaning of a Linux interface for VPP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// The interface that it mirrors.
    Out(u32),
    /// A VRF's own device: packets sent to it are looked up in the VRF's table.
    Table(u32),
}

/// The paths of a group for routes of one family. Next hops over an interface that VPP does not have are left out,
/// possibly all of them. `way` maps Linux's index.
pub fn paths(hops: &[NextHop], v6: bool, way: impl Fn(u32) -> Option<Way>) -> Paths {
    let mut paths = Paths::default();
    for hop in hops.iter().take(MAX_PATHS) {
        let mut path = PathFields { v6, weight: hop.weight, ..PathFields::default() };
        match &hop.action {
            Action::Blackhole => path.kind = PATH_DROP,
            Action::Unreachable => path.kind = PATH_UNREACHABLE,
            Action::Prohibit => path.kind = PATH_PROHIBIT,
            Action::Forward { interface: index, gateway, gateway_length, labels } => {
                match way(*index) {
                    Some(Way::Out(found)) => path.sw_if_index = found,
                    Some(Way::Table(found)) => path.table = found,
                    None => continue,
                }
                if *gateway_length > 0 {
                    path.v6 = *gateway_length == 16;
                }
                path.gateway = *gateway;
                path.labels = labels;
            }
        }
        path.encode(&mut paths.bytes);
        paths.count += 1;
    }
    paths
}

struct PathFields<'a> {
    kind: u32,
    sw_if_index: u32,
    /// Without an interface: the table in which the gateway, or without a gateway the packet, is looked up.
    table: u32,
    weight: u8,
    v6: bool,
    gateway: [u8; 16],
    labels: &'a [u32],
}

impl Default for PathFields<'_> {
    fn default() -> Self {
        PathFields {
            kind: PATH_NORMAL,
            sw_if_index: NO_INTERFACE,
            table: 0,
            weight: 1,
            v6: false,
            gateway: [0; 16],
            labels: &[],
        }
    }
}

impl PathFields<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sw_if_index.to_be_bytes());
        out.extend_from_slice(&self.table.to_be_bytes());
        out.extend_from_slice(&[0; 4]); // RPF id
        out.extend_from_slice(&[self.weight, 0]); // preference
        out.extend_from_slice(&self.kind.to_be_bytes());
        out.extend_from_slice(&[0; 4]); // flags
        out.extend_from_slice(&u32::from(self.v6).to_be_bytes());
        out.extend_from_slice(&self.gateway);
        out.extend_from_slice(&[0; 12]); // label, object, classifier
        let labels = &self.labels[..self.labels.len().min(MAX_LABELS)];
        out.push(labels.len() as u8);
        for at in 0..MAX_LABELS {
            let label = labels.get(at).copied().unwrap_or(0);
            out.push(0);
            out.extend_from_slice(&label.to_be_bytes());
            out.extend_from_slice(&[if at < labels.len() { 64 } else { 0 }, 0]);
        }
    }
}

/// ip_route_add_del's fields after the context: a replacement of all paths, or the removal of the route.
pub fn route(out: &mut Vec<u8>, prefix: &Prefix, add: bool, paths: &Paths) {
    out.extend_from_slice(&[u8::from(add), 0]); // not is_multipath: all paths at once
    out.extend_from_slice(&prefix.table.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    out.push(u8::from(prefix.v6));
    out.extend_from_slice(&prefix.address);
    out.push(prefix.length);
    out.push(paths.count);
    out.extend_from_slice(&paths.bytes);
}

/// ip_route_lookup: the entry of exactly this prefix.
pub fn lookup(out: &mut Vec<u8>, prefix: &Prefix) {
    out.extend_from_slice(&prefix.table.to_be_bytes());
    out.push(1); // exact
    out.push(u8::from(prefix.v6));
    out.extend_from_slice(&prefix.address);
    out.push(prefix.length);
}

const PATH_BYTES: usize = 167;
const ROUTE_BEFORE_PATHS: usize = 31;

/// Whether the route of ip_route_lookup_reply, after the context, leads where `paths` do.
pub fn leads_there(reply: &[u8], paths: &Paths) -> bool {
    let count = reply.get(ROUTE_BEFORE_PATHS - 1).map_or(0, |count| usize::from(*count));
    match reply.get(ROUTE_BEFORE_PATHS..ROUTE_BEFORE_PATHS + count * PATH_BYTES) {
        Some(found) => ways(found) == ways(&paths.bytes),
        None => false,
    }
}

/// The parts of each path that determine its target, in an order of our own, because VPP sorts them.
fn ways(paths: &[u8]) -> Vec<(u32, u32, u32, u8, [u8; 16], Vec<u32>)> {
    let way = |path: &[u8]| {
        let kind = be32(path, 14).unwrap_or(u32::MAX);
        if kind != PATH_NORMAL {
            return (kind, NO_INTERFACE, 0, 0, [0; 16], Vec::new());
        }
        let mut gateway = [0; 16];
        let length = if be32(path, 22) == Some(0) { 4 } else { 16 };
        gateway[..length].copy_from_slice(&path[26..26 + length]);
        let labels = path[55..].chunks_exact(7).take(usize::from(path[54]));
        let labels = labels.filter_map(|label| be32(label, 1)).collect();
        let interface = be32(path, 0).unwrap_or(NO_INTERFACE);
        // For a path over an interface VPP reports the table of the interface, or none.
        let table = if interface == NO_INTERFACE { be32(path, 4).unwrap_or(0) } else { 0 };
        (kind, interface, table, path[12], gateway, labels)
    };
    let mut ways: Vec<_> = paths.chunks_exact(PATH_BYTES).map(way).collect();
    ways.sort_unstable();
    ways
}

/// ip_route_add_del: an address of the router itself, whose packets go to Linux.
pub fn local_route(out: &mut Vec<u8>, prefix: &Prefix) {
    let mut local = Paths { count: 1, bytes: Vec::new() };
    PathFields { kind: PATH_LOCAL, v6: prefix.v6, ..PathFields::default() }.encode(&mut local.bytes);
    route(out, prefix, true, &local);
}

/// ip_mroute_add_del: packets to the group are accepted from the interface, or without an interface given to Linux.
pub fn multicast_route(out: &mut Vec<u8>, group: &Prefix, sw_if_index: Option<u32>) {
    out.extend_from_slice(&[1, 1]); // add one path
    out.extend_from_slice(&group.table.to_be_bytes());
    out.extend_from_slice(&[0; 8]); // flags, RPF id
    out.push(u8::from(group.v6));
    out.extend_from_slice(&u16::from(group.length).to_be_bytes());
    out.extend_from_slice(&group.address);
    out.extend_from_slice(&[0; 16]);
    out.push(1);
    out.extend_from_slice(&(if sw_if_index.is_some() { ITF_ACCEPT } else { ITF_FORWARD }).to_be_bytes());
    PathFields {
        kind: if sw_if_index.is_some() { PATH_NORMAL } else { PATH_LOCAL },
        sw_if_index: sw_if_index.unwrap_or(NO_INTERFACE),
        v6: group.v6,
        ..PathFields::default()
    }
    .encode(out);
}

/// A FIB of VPP: vl_api_ip_table_t.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FibTable {
    pub id: u32,
    pub v6: bool,
}

impl FibTable {
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.id.to_be_bytes());
        out.push(u8::from(self.v6));
        out.extend_from_slice(&[0; 64]);
    }

    /// From ip_table_details, after the context.
    pub fn decode(body: &[u8]) -> Option<FibTable> {
        Some(FibTable { id: be32(body, 0)?, v6: *body.get(4)? != 0 })
    }
}

/// A pair of linux-cp: VPP's interface and its mirror.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    pub sw_if_index: u32,
    pub ifindex: u32,
    pub name: String,
    pub namespace: String,
}

impl Pair {
    /// From lcp_itf_pair_details, after the context.
    pub fn decode(body: &[u8]) -> Option<Pair> {
        Some(Pair {
            sw_if_index: be32(body, 0)?,
            ifindex: be32(body, 8)?,
            name: text(body.get(12..28)?),
            namespace: text(body.get(29..61)?),
        })
    }
}

pub fn be32(body: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(body.get(at..at + 4)?.try_into().ok()?))
}

pub fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}
