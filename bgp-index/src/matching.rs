//! The conditions on a path's attributes.

use crate::as_path;
use crate::attributes::Attributes;
use crate::rows::{extended_community_text, next_hops};
use crate::update::*;
use std::ops::RangeInclusive;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    pub asn: Option<u32>,
    pub origin_as: Option<u32>,
    pub first_as: Option<u32>,
    pub path: Vec<u32>,
    pub path_length: Option<RangeInclusive<usize>>,
    pub community: Option<[u8; 4]>,
    pub large_community: Option<[u8; 12]>,
    pub extended_community: Option<Extended>,
    /// Its 4 or 16 bytes.
    pub next_hop: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Extended {
    Value([u8; 8]),
    /// As rows show it: a route target or a site of origin.
    Text(String),
}

impl Wanted {
    /// Whether every set of attributes matches.
    pub fn is_all(&self) -> bool {
        *self == Wanted::default()
    }

    pub fn matches(&self, set: &Attributes) -> bool {
        let path = set.path();
        let is = |wanted: Option<u32>, holds: fn(&[u8], u32) -> bool| wanted.map_or(true, |number| holds(path, number));
        is(self.asn, as_path::holds)
            && is(self.origin_as, as_path::ends_with)
            && is(self.first_as, as_path::begins_with)
            && (self.path.is_empty() || as_path::passes(path, &self.path))
            && self.path_length.as_ref().map_or(true, |range| range.contains(&as_path::length(path)))
            && self.community.map_or(true, |wanted| set.values(COMMUNITIES, 4).any(|value| value == wanted))
            && self.large_community.map_or(true, |wanted| set.values(LARGE_COMMUNITIES, 12).any(|value| value == wanted))
            && self.extended_community.as_ref().map_or(true, |wanted| {
                set.values(EXTENDED_COMMUNITIES, 8).any(|value| match wanted {
                    Extended::Value(wanted) => value == wanted,
                    Extended::Text(wanted) => extended_community_text(value) == *wanted,
                })
            })
            && self.next_hop.as_ref().map_or(true, |wanted| next_hops(set).into_iter().flatten().any(|hop| hop == wanted))
    }
}
