//! A set of attributes in the single form in which it is stored and compared: changes that bgpd made on the way are
//! undone.
//!
//! bgpd (8.4 and 10.3) writes a path into BMP as if it sent it to the neighbor it received it from. Therefore the
//! path of an external neighbor begins with the router's own AS. A path of an internal neighbor has the router's
//! cluster in front of its cluster list, and an originator. A neighbor that knows only 2-byte AS numbers, like the
//! router itself, has such numbers, though no flag says so. Attributes that bgpd omits by the same rule cannot be
//! recovered: LOCAL_PREF of an external neighbor.

use crate::as_path;
use crate::reader::Reader;
use crate::update::*;

/// The owner of the attributes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    /// The router's own routes.
    pub own: bool,
    pub asn: u32,
    pub id: [u8; 4],
    /// The router's AS towards this neighbor, where it is known.
    pub own_as: Option<u32>,
    pub two_byte_as: bool,
}

/// Writes the set for prefixes of one family to `out`: type, length and value of each attribute, by type. The next
/// hop, of 4, 16 or 32 bytes, is written as NEXT_HOP. False where an attribute is malformed.
pub fn write_set(raw: &Raw, mp_next_hop: Option<&[u8]>, v6: bool, from: &Origin, out: &mut Vec<u8>) -> bool {
    out.clear();
    write(raw, mp_next_hop, v6, from, out).is_some()
}

fn write(raw: &Raw, mp_next_hop: Option<&[u8]>, v6: bool, from: &Origin, out: &mut Vec<u8>) -> Option<()> {
    let internal = from.own || from.own_as == Some(from.asn);
    put(out, ORIGIN, sized(raw, ORIGIN, |length| length == 1)?);
    put(out, AS_PATH, raw.get(AS_PATH).map_or(Some(Vec::new()), |value| path(value, raw, from, internal))?.as_slice().into());
    let next_hop = if v6 { mp_next_hop } else { raw.get(NEXT_HOP).or(mp_next_hop) };
    match next_hop.map(<[u8]>::len) {
        None | Some(0) => {}
        Some(4 | 16 | 32) => put(out, NEXT_HOP, next_hop),
        Some(_) => return None,
    }
    for kind in [MED, LOCAL_PREFERENCE] {
        put(out, kind, sized(raw, kind, |length| length == 4)?);
    }
    put(out, ATOMIC_AGGREGATE, sized(raw, ATOMIC_AGGREGATE, |length| length == 0)?);
    put(out, AGGREGATOR, aggregator(raw)?.as_ref().map(|value| &value[..]));
    put(out, COMMUNITIES, sized(raw, COMMUNITIES, |length| length % 4 == 0)?.filter(|value| !value.is_empty()));
    let clusters = sized(raw, CLUSTER_LIST, |length| length % 4 == 0)?.unwrap_or_default();
    let clusters = if internal { clusters.get(4..).unwrap_or_default() } else { clusters };
    let originator = sized(raw, ORIGINATOR_ID, |length| length == 4)?;
    let made_up = internal && clusters.is_empty() && (from.own || originator == Some(&from.id[..]));
    put(out, ORIGINATOR_ID, originator.filter(|_| !made_up));
    put(out, CLUSTER_LIST, Some(clusters).filter(|value| !value.is_empty()));
    let extended = sized(raw, EXTENDED_COMMUNITIES, |length| length % 8 == 0)?;
    put(out, EXTENDED_COMMUNITIES, extended.filter(|value| !value.is_empty()));
    let large = sized(raw, LARGE_COMMUNITIES, |length| length % 12 == 0)?;
    put(out, LARGE_COMMUNITIES, large.filter(|value| !value.is_empty()));
    Some(())
}

fn put(out: &mut Vec<u8>, kind: u8, value: Option<&[u8]>) {
    if let Some(value) = value {
        // A path of 4-byte numbers may take twice the space of the message.
        out.push(kind);
        out.extend_from_slice(&(value.len() as u32).to_be_bytes());
        out.extend_from_slice(value);
    }
}

/// The attribute, if present; None where its length is wrong.
fn sized<'a>(raw: &Raw<'a>, kind: u8, is_right: impl Fn(usize) -> bool) -> Option<Option<&'a [u8]>> {
    match raw.get(kind) {
        Some(value) if !is_right(value.len()) => None,
        value => Some(value),
    }
}

fn path(value: &[u8], raw: &Raw, from: &Origin, internal: bool) -> Option<Vec<u8>> {
    let wide = !(from.two_byte_as || from.own);
    // The other width is the one that bgpd used where the OPENs do not tell it.
    let (mut path, narrow) = match as_path::widened(value, wide) {
        Some(path) => (path, !wide),
        None => (as_path::widened(value, !wide)?, wide),
    };
    if narrow && !is_of_two_byte_aggregator(raw) {
        if let Some(as4_path) = raw.get(AS4_PATH) {
            path = as_path::merged(path, &as_path::widened(as4_path, true)?);
        }
    }
    match from.own_as {
        Some(own) if !internal => Some(as_path::without_first(path, own)),
        _ => Some(path),
    }
}

/// AS4_PATH is ignored where an AGGREGATOR of 2 bytes was made after AS4_AGGREGATOR (RFC 6793 4.2.3).
fn is_of_two_byte_aggregator(raw: &Raw) -> bool {
    let number = raw.get(AGGREGATOR).filter(|value| value.len() == 6).map(|value| u16::from_be_bytes([value[0], value[1]]));
    raw.get(AS4_AGGREGATOR).is_some() && number.map_or(false, |number| u32::from(number) != as_path::AS_TRANS)
}

fn aggregator(raw: &Raw) -> Option<Option<[u8; 8]>> {
    let value = match raw.get(AGGREGATOR) {
        Some(value) => value,
        None => return Some(None),
    };
    let mut wide = [0; 8];
    match (value.len(), raw.get(AS4_AGGREGATOR)) {
        (8, _) => wide.copy_from_slice(value),
        (6, Some(as4)) if !is_of_two_byte_aggregator(raw) => wide.copy_from_slice(as4.get(..8)?),
        (6, _) => wide[2..].copy_from_slice(value),
        _ => return None,
    }
    Some(Some(wide))
}

/// A set that `write_set` wrote.
#[derive(Clone, Copy)]
pub struct Attributes<'a>(pub &'a [u8]);

impl<'a> Attributes<'a> {
    pub fn get(&self, kind: u8) -> Option<&'a [u8]> {
        let mut reader = Reader::new(self.0);
        loop {
            let found = reader.u8()?;
            let length = reader.u32()?;
            let value = reader.take(length as usize)?;
            if found == kind {
                return Some(value);
            }
        }
    }

    pub fn path(&self) -> &'a [u8] {
        self.get(AS_PATH).unwrap_or_default()
    }

    pub fn number(&self, kind: u8) -> Option<u32> {
        Reader::new(self.get(kind)?).u32()
    }

    /// The values of an attribute that is a list of values of one size.
    pub fn values(&self, kind: u8, size: usize) -> std::slice::ChunksExact<'a, u8> {
        self.get(kind).unwrap_or_default().chunks_exact(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{attribute, update, Bgp};

    fn set(parts: &[Vec<u8>], from: &Origin) -> Option<Vec<u8>> {
        let message = update(&Bgp { attributes: parts.concat(), ..Bgp::default() });
        let read = read(&message).expect("an UPDATE");
        let mut out = Vec::new();
        write_set(&read.attributes?, None, false, from, &mut out).then(|| out)
    }

    fn external() -> Origin {
        Origin { asn: 65001, own_as: Some(65000), id: [10, 0, 0, 1], ..Origin::default() }
    }

    fn internal() -> Origin {
        Origin { asn: 65000, ..external() }
    }

    fn sequence(numbers: &[u32]) -> Vec<u8> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        attribute(AS_PATH, &[&[2, numbers.len() as u8], &bytes[..]].concat())
    }

    #[test]
    fn the_routers_own_as_is_taken_from_the_front_of_an_external_neighbors_path_alone() {
        let path = |parts: &[Vec<u8>], from: &Origin| as_path::text(Attributes(&set(parts, from).expect("a set")).path());
        assert_eq!(path(&[sequence(&[65000, 65001, 65000])], &external()), "65001 65000");
        assert_eq!(path(&[sequence(&[65001, 65010])], &external()), "65001 65010", "a route server's client");
        assert_eq!(path(&[sequence(&[65000, 65010])], &internal()), "65000 65010");
        assert_eq!(path(&[sequence(&[65000])], &Origin { own_as: None, ..external() }), "65000");
    }

    #[test]
    fn what_bgpd_adds_for_an_internal_neighbor_is_taken_back() {
        let clusters = |value: &[u8]| attribute(CLUSTER_LIST, value);
        let originator = |value: [u8; 4]| attribute(ORIGINATOR_ID, &value);
        let plain = set(&[originator([10, 0, 0, 1]), clusters(&[1, 1, 1, 1])], &internal()).expect("a set");
        assert_eq!((Attributes(&plain).get(ORIGINATOR_ID), Attributes(&plain).get(CLUSTER_LIST)), (None, None));
        let reflected = set(&[originator([9; 4]), clusters(&[1, 1, 1, 1, 2, 2, 2, 2])], &internal()).expect("a set");
        let reflected = Attributes(&reflected);
        assert_eq!((reflected.get(ORIGINATOR_ID), reflected.get(CLUSTER_LIST)), (Some(&[9; 4][..]), Some(&[2; 4][..])));
    }

    #[test]
    fn numbers_of_2_bytes_are_known_by_the_neighbor_or_by_the_path_itself() {
        let narrow = attribute(AS_PATH, &[2, 2, 0xfd, 0xe8, 0x5b, 0xa0]);
        let as4 = attribute(AS4_PATH, &[2, 1, 0, 1, 0x11, 0x70]);
        for two_byte_as in [true, false] {
            let from = Origin { two_byte_as, own_as: Some(65000), ..external() };
            let set = set(&[narrow.clone(), as4.clone()], &from).expect("a set");
            assert_eq!(as_path::text(Attributes(&set).path()), "70000");
        }
        let wide = set(&[sequence(&[70000])], &Origin { own: true, ..Origin::default() }).expect("a set");
        assert_eq!(as_path::text(Attributes(&wide).path()), "70000");
        let aggregated = [attribute(AGGREGATOR, &[0x5b, 0xa0, 1, 2, 3, 4]), attribute(AS4_AGGREGATOR, &[0, 1, 0, 0, 1, 2, 3, 4])];
        let aggregated = set(&aggregated, &external()).expect("a set");
        assert_eq!(Attributes(&aggregated).get(AGGREGATOR), Some(&[0, 1, 0, 0, 1, 2, 3, 4][..]));
    }

    #[test]
    fn the_same_attributes_in_another_order_and_beside_unknown_ones_are_the_same_set() {
        let (med, communities) = (attribute(MED, &[0, 0, 0, 9]), attribute(COMMUNITIES, &[0xfd, 0xe9, 0, 100]));
        let one = set(&[med.clone(), communities.clone()], &external()).expect("a set");
        let other = set(&[communities, attribute(26, &[1; 9]), attribute(200, &[]), med], &external()).expect("a set");
        assert_eq!(one, other);
        assert_eq!((Attributes(&one).number(MED), Attributes(&one).number(LOCAL_PREFERENCE)), (Some(9), None));
        assert_eq!(Attributes(&one).values(COMMUNITIES, 4).collect::<Vec<_>>(), vec![[0xfd, 0xe9, 0, 100]]);
    }

    #[test]
    fn an_attribute_of_a_wrong_length_makes_the_set_malformed() {
        for (kind, length) in [
            (ORIGIN, 2),
            (AS_PATH, 3),
            (NEXT_HOP, 5),
            (MED, 3),
            (LOCAL_PREFERENCE, 0),
            (ATOMIC_AGGREGATE, 1),
            (AGGREGATOR, 7),
            (COMMUNITIES, 5),
            (ORIGINATOR_ID, 3),
            (CLUSTER_LIST, 6),
            (EXTENDED_COMMUNITIES, 9),
            (LARGE_COMMUNITIES, 13),
        ] {
            assert_eq!(set(&[attribute(kind, &vec![0; length])], &external()), None, "{}", kind);
        }
    }
}
