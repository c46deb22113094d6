//! UPDATE messages of BGP (RFC 4271 4.3, RFC 4760) as contained in BMP: announced and withdrawn prefixes, and raw
//! attributes.
//!
//! bgpd writes none with path identifiers (RFC 7911) into BMP: of several paths of a neighbor it reports one.

use crate::prefix::Prefix;
use crate::reader::Reader;

pub const ORIGIN: u8 = 1;
pub const AS_PATH: u8 = 2;
pub const NEXT_HOP: u8 = 3;
pub const MED: u8 = 4;
pub const LOCAL_PREFERENCE: u8 = 5;
pub const ATOMIC_AGGREGATE: u8 = 6;
pub const AGGREGATOR: u8 = 7;
pub const COMMUNITIES: u8 = 8;
pub const ORIGINATOR_ID: u8 = 9;
pub const CLUSTER_LIST: u8 = 10;
pub const MP_REACH: u8 = 14;
pub const MP_UNREACH: u8 = 15;
pub const EXTENDED_COMMUNITIES: u8 = 16;
pub const AS4_PATH: u8 = 17;
pub const AS4_AGGREGATOR: u8 = 18;
pub const LARGE_COMMUNITIES: u8 = 32;
/// One more than the highest attribute that is read.
const KINDS: usize = 33;

const HEADER: usize = 19;
const KIND_UPDATE: u8 = 2;
const EXTENDED_LENGTH: u8 = 0x10;
const UNICAST: u8 = 1;

/// The attributes of one message, by their type.
pub struct Raw<'a>([Option<&'a [u8]>; KINDS]);

impl<'a> Raw<'a> {
    pub fn get(&self, kind: u8) -> Option<&'a [u8]> {
        self.0[usize::from(kind)]
    }
}

pub struct Update<'a> {
    pub gone: Vec<Prefix>,
    pub come: Vec<Prefix>,
    /// None where they are malformed: the announced routes are unknown, and earlier ones are no longer valid.
    pub attributes: Option<Raw<'a>>,
    /// The next hop of MP_REACH_NLRI.
    pub next_hop: Option<&'a [u8]>,
    /// The whole family was reported (RFC 4724 2); true for IPv6.
    pub end_of_rib: Option<bool>,
}

/// A whole BGP message with its header. None where it is not an UPDATE, or malformed outside its attributes.
pub fn read(message: &[u8]) -> Option<Update<'_>> {
    let mut reader = Reader::new(message);
    reader.take(16)?;
    let (length, kind) = (usize::from(reader.u16()?), reader.u8()?);
    if length < HEADER || length > message.len() || kind != KIND_UPDATE {
        return None;
    }
    let mut reader = Reader::new(&message[HEADER..length]);
    let withdrawn = reader.u16()?;
    let withdrawn = reader.take(usize::from(withdrawn))?;
    let block = reader.u16()?;
    let block = reader.take(usize::from(block))?;
    let mut update = Update { gone: Vec::new(), come: Vec::new(), attributes: None, next_hop: None, end_of_rib: None };
    read_prefixes(withdrawn, false, &mut update.gone)?;
    read_prefixes(reader.rest, false, &mut update.come)?;
    if withdrawn.is_empty() && block.is_empty() && reader.rest.is_empty() {
        update.end_of_rib = Some(false);
    }
    let mut raw = Raw([None; KINDS]);
    let whole = read_attributes(block, &mut raw).is_some();
    if let Some(value) = raw.get(MP_UNREACH) {
        if let (Some(v6), rest) = family(value)? {
            read_prefixes(rest, v6, &mut update.gone)?;
            if rest.is_empty() && update.gone.is_empty() && update.come.is_empty() && raw.get(MP_REACH).is_none() {
                update.end_of_rib = Some(v6);
            }
        }
    }
    if let Some(value) = raw.get(MP_REACH) {
        if let (Some(v6), rest) = family(value)? {
            let mut reader = Reader::new(rest);
            let length = reader.u8()?;
            update.next_hop = Some(reader.take(usize::from(length))?);
            reader.u8()?;
            read_prefixes(reader.rest, v6, &mut update.come)?;
        }
    }
    if whole {
        update.attributes = Some(raw);
    }
    Some(update)
}

/// Whether it is IPv6, for unicast of IPv4 and IPv6; and the rest.
fn family(value: &[u8]) -> Option<(Option<bool>, &[u8])> {
    let mut reader = Reader::new(value);
    let v6 = match (reader.u16()?, reader.u8()?) {
        (1, UNICAST) => Some(false),
        (2, UNICAST) => Some(true),
        _ => None,
    };
    Some((v6, reader.rest))
}

/// None where the block is malformed; the part before the error is in `raw`. Of two attributes of a type the first
/// counts (RFC 7606 3).
fn read_attributes<'a>(block: &'a [u8], raw: &mut Raw<'a>) -> Option<()> {
    let mut reader = Reader::new(block);
    while !reader.rest.is_empty() {
        let (flags, kind) = (reader.u8()?, reader.u8()?);
        let length = if flags & EXTENDED_LENGTH != 0 { usize::from(reader.u16()?) } else { usize::from(reader.u8()?) };
        let value = reader.take(length)?;
        if let Some(place) = raw.0.get_mut(usize::from(kind)) {
            place.get_or_insert(value);
        }
    }
    Some(())
}

fn read_prefixes(bytes: &[u8], v6: bool, prefixes: &mut Vec<Prefix>) -> Option<()> {
    let mut reader = Reader::new(bytes);
    while !reader.rest.is_empty() {
        let length = reader.u8()?;
        if length > Prefix::longest(v6) {
            return None;
        }
        let host = reader.take((usize::from(length) + 7) / 8)?;
        let mut address = [0; 16];
        address[..host.len()].copy_from_slice(host);
        prefixes.push(Prefix::new(v6, address, length)?);
    }
    Some(())
}
