//! Next hops as zebra sends them, and the groups that routes refer to.

use crate::netlink::*;
use std::collections::{HashMap, HashSet};

/// Where a packet goes. `gateway_length` is 0 (attached), 4 or 16.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    Forward { interface: u32, gateway: [u8; 16], gateway_length: u8, labels: Vec<u32> },
    Blackhole,
    Unreachable,
    Prohibit,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NextHop {
    pub action: Action,
    /// 1 to 255.
    pub weight: u8,
}

/// A next-hop object of zebra (RTM_NEWNEXTHOP).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Object {
    Single(Action),
    /// Ids of other objects, with weights.
    Group(Vec<(u32, u8)>),
}

/// The target of a route: an object of zebra by its id, or next hops that came with the route.
pub type GroupId = u32;
const INLINE: u32 = 1 << 31;
const DEPTH: u32 = 4;
/// VPP accepts 255 paths; a group of groups must not recurse without end.
const MOST_HOPS: usize = 256;

/// Every next-hop group that zebra sent or that came with a route.
#[derive(Default)]
pub struct Groups {
    objects: HashMap<u32, Object>,
    /// The number of routes that use an object, whether zebra sent it or not.
    uses: HashMap<u32, u32>,
    inline: HashMap<GroupId, (Vec<NextHop>, u32)>,
    inline_ids: HashMap<Vec<NextHop>, GroupId>,
    next_inline: u32,
}

impl Groups {
    pub fn len(&self) -> usize {
        self.objects.len() + self.inline.len()
    }

    /// Takes an object; true when it differs from the previous one.
    pub fn set(&mut self, id: u32, object: Object) -> bool {
        match self.objects.get(&id) {
            Some(before) if *before == object => false,
            _ => {
                self.objects.insert(id, object);
                true
            }
        }
    }

    pub fn remove(&mut self, id: u32) {
        self.objects.remove(&id);
    }

    /// Forgets every object; returns those that no route uses.
    pub fn forget_objects(&mut self) -> Vec<GroupId> {
        let objects = std::mem::take(&mut self.objects);
        objects.into_keys().filter(|id| !self.is_used(*id)).collect()
    }

    /// The groups that contain one of `changed`, and those themselves.
    pub fn affected(&self, changed: &[u32]) -> HashSet<GroupId> {
        let mut all: HashSet<u32> = changed.iter().copied().collect();
        for _ in 0..DEPTH {
            let more: Vec<u32> = self
                .objects
                .iter()
                .filter(|(id, object)| match object {
                    Object::Group(members) => {
                        !all.contains(id) && members.iter().any(|(member, _)| all.contains(member))
                    }
                    Object::Single(_) => false,
                })
                .map(|(id, _)| *id)
                .collect();
            if more.is_empty() {
                break;
            }
            all.extend(more);
        }
        all
    }

    /// Whether a route uses the group.
    pub fn is_used(&self, id: GroupId) -> bool {
        self.uses.contains_key(&id) || self.inline.contains_key(&id)
    }

    /// The number of groups that routes use.
    pub fn used(&self) -> usize {
        self.uses.len() + self.inline.len()
    }

    /// Whether its target can never change: next hops that came with a route.
    pub fn is_constant(&self, id: GroupId) -> bool {
        id & INLINE != 0
    }

    /// One more route uses the group.
    pub fn hold(&mut self, id: GroupId) -> GroupId {
        if id & INLINE == 0 {
            *self.uses.entry(id).or_default() += 1;
        } else if let Some((_, uses)) = self.inline.get_mut(&id) {
            *uses += 1;
        }
        id
    }

    /// The group of next hops that came with a route; one more route uses it.
    pub fn intern(&mut self, hops: Vec<NextHop>) -> GroupId {
        if let Some(id) = self.inline_ids.get(&hops).copied() {
            return self.hold(id);
        }
        loop {
            self.next_inline = (self.next_inline + 1) & !INLINE;
            let id = self.next_inline | INLINE;
            if !self.inline.contains_key(&id) {
                self.inline_ids.insert(hops.clone(), id);
                self.inline.insert(id, (hops, 1));
                return id;
            }
        }
    }

    /// A route no longer uses the group.
    pub fn release(&mut self, id: GroupId) {
        if id & INLINE == 0 {
            if let Some(uses) = self.uses.get_mut(&id) {
                *uses -= 1;
                if *uses == 0 {
                    self.uses.remove(&id);
                }
            }
        } else if let Some(entry) = self.inline.get_mut(&id) {
            entry.1 -= 1;
            if entry.1 == 0 {
                if let Some((hops, _)) = self.inline.remove(&id) {
                    self.inline_ids.remove(&hops);
                }
            }
        }
    }

    /// The next hops of a group; `None` while zebra has not sent it, or one of its members.
    pub fn resolve(&self, id: GroupId) -> Option<Vec<NextHop>> {
        if id & INLINE != 0 {
            return self.inline.get(&id).map(|(hops, _)| hops.clone());
        }
        self.resolve_object(id)
    }

    /// The next hops of an object; also `None` for next hops that came with a route.
    pub fn resolve_object(&self, id: GroupId) -> Option<Vec<NextHop>> {
        let mut hops = Vec::new();
        self.collect(id, 1, DEPTH, &mut hops)?;
        Some(hops)
    }

    /// Every group with a path to this gateway, which is `length` bytes long.
    pub fn leading_to(&self, address: &[u8; 16], length: u8) -> HashSet<GroupId> {
        let all = self.objects.keys().chain(self.inline.keys()).copied();
        let leads = |hop: &NextHop| match &hop.action {
            Action::Forward { gateway, gateway_length, .. } => *gateway_length == length && gateway == address,
            _ => false,
        };
        all.filter(|id| self.resolve(*id).map_or(false, |hops| hops.iter().any(leads))).collect()
    }

    fn collect(&self, id: u32, weight: u8, depth: u32, hops: &mut Vec<NextHop>) -> Option<()> {
        match self.objects.get(&id)? {
            Object::Single(action) => hops.push(NextHop { action: action.clone(), weight }),
            Object::Group(members) => {
                if depth == 0 {
                    return None;
                }
                for (member, weight) in members {
                    if hops.len() >= MOST_HOPS {
                        break;
                    }
                    self.collect(*member, *weight, depth - 1, hops)?;
                }
            }
        }
        Some(())
    }
}

/// Reads the body of RTM_NEWNEXTHOP: the object's id and content. `None` where it is not a usable next hop.
pub fn parse_object(body: &[u8]) -> Option<(u32, Object)> {
    let mut id = None;
    let mut members = Vec::new();
    let mut blackhole = false;
    let mut hop = HopAttributes::default();
    for (kind, value) in (Attributes { rest: body.get(8..)? }) {
        match kind {
            NHA_ID => id = object_id(value),
            NHA_GROUP => {
                for entry in value.chunks_exact(8) {
                    // struct nexthop_grp: the weight minus one.
                    members.push((u32_at(entry, 0)?, entry[4].saturating_add(1)));
                }
            }
            NHA_BLACKHOLE => blackhole = true,
            NHA_OIF => hop.interface = u32_at(value, 0)?,
            NHA_GATEWAY => hop.gateway = value,
            NHA_ENCAP_TYPE => hop.encapsulation = u16_at(value, 0)?,
            NHA_ENCAP => hop.tunnel = value,
            _ => {}
        }
    }
    let id = id?;
    if !members.is_empty() {
        return Some((id, Object::Group(members)));
    }
    if blackhole {
        return Some((id, Object::Single(Action::Blackhole)));
    }
    Some((id, Object::Single(hop.action()?)))
}

/// The id in the body of RTM_DELNEXTHOP or RTM_NEWNEXTHOP.
pub fn parse_id(body: &[u8]) -> Option<u32> {
    (Attributes { rest: body.get(8..)? }).find(|(kind, _)| *kind == NHA_ID).and_then(|(_, value)| object_id(value))
}

/// An object's number. `None` for numbers that stand for next hops that came with a route.
pub fn object_id(value: &[u8]) -> Option<u32> {
    u32_at(value, 0).filter(|id| *id & INLINE == 0)
}

/// The attributes that describe one next hop, of a route or of an object.
#[derive(Default)]
pub struct HopAttributes<'a> {
    pub interface: u32,
    pub gateway: &'a [u8],
    pub encapsulation: u16,
    pub tunnel: &'a [u8],
}

impl<'a> HopAttributes<'a> {
    /// Takes one attribute of a route or of a next hop of RTA_MULTIPATH.
    pub fn take(&mut self, kind: u16, value: &'a [u8]) -> Option<()> {
        match kind {
            RTA_OIF => self.interface = u32_at(value, 0)?,
            RTA_GATEWAY => self.gateway = value,
            RTA_VIA => self.gateway = value.get(2..)?, // struct rtvia: the family first
            RTA_ENCAP_TYPE => self.encapsulation = u16_at(value, 0)?,
            RTA_ENCAP => self.tunnel = value,
            _ => {}
        }
        Some(())
    }

    /// `None` for an encapsulation other than MPLS, or a gateway that is not an address.
    pub fn action(&self) -> Option<Action> {
        let mut gateway = [0; 16];
        match self.gateway.len() {
            0 | 4 | 16 => gateway[..self.gateway.len()].copy_from_slice(self.gateway),
            _ => return None,
        }
        let labels = match self.encapsulation {
            0 => Vec::new(),
            LWTUNNEL_ENCAP_MPLS => (Attributes { rest: self.tunnel })
                .filter(|(kind, _)| *kind == MPLS_IPTUNNEL_DST)
                .flat_map(|(_, value)| value.chunks_exact(4))
                .map(|entry| u32::from_be_bytes([entry[0], entry[1], entry[2], entry[3]]) >> 12)
                .collect(),
            _ => return None,
        };
        Some(Action::Forward {
            interface: self.interface,
            gateway,
            gateway_length: self.gateway.len() as u8,
            labels,
        })
    }
}
