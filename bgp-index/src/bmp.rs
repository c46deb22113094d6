//! The BGP Monitoring Protocol (RFC 7854, RFC 9069): splits the stream into messages, and reads the per-peer header.

use crate::reader::Reader;

const VERSION: u8 = 3;
const HEADER: usize = 6;
/// Two OPENs of 64 KiB, a description, and the headers: no message of bgpd is longer.
const LONGEST: usize = 256 * 1024;

pub const ROUTE_MONITORING: u8 = 0;
pub const PEER_DOWN: u8 = 2;
pub const PEER_UP: u8 = 3;
pub const TERMINATION: u8 = 5;

const GLOBAL: u8 = 0;
const LOC_RIB: u8 = 3;
const V: u8 = 0x80;
const POST_POLICY: u8 = 0x40;
const TWO_BYTE_AS: u8 = 0x20;
const ADJ_RIB_OUT: u8 = 0x10;

/// The stream was not BMP, or its framing is lost; the connection has to be closed.
#[derive(Debug, PartialEq, Eq)]
pub struct NotBmp;

/// Takes the stream's bytes as they arrive, and returns whole messages.
#[derive(Default)]
pub struct Deframer {
    buffer: Vec<u8>,
    start: usize,
}

impl Deframer {
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The type of the next whole message, and the part after its header.
    pub fn next_message(&mut self) -> Result<Option<(u8, &[u8])>, NotBmp> {
        let rest = &self.buffer[self.start..];
        if rest.first().map_or(false, |version| *version != VERSION) {
            return Err(NotBmp);
        }
        if rest.len() < HEADER {
            return Ok(None);
        }
        let length = u32::from_be_bytes([rest[1], rest[2], rest[3], rest[4]]) as usize;
        if !(HEADER..=LONGEST).contains(&length) {
            return Err(NotBmp);
        }
        if rest.len() < length {
            return Ok(None);
        }
        let at = self.start;
        self.start += length;
        Ok(Some((self.buffer[at + 5], &self.buffer[at + HEADER..at + length])))
    }
}

/// The peer that a message is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PerPeer {
    /// 0 for IPv4, otherwise IPv6; the address of an IPv4 neighbor is the first 4 bytes.
    pub v6: bool,
    pub address: [u8; 16],
    pub asn: u32,
    pub id: [u8; 4],
    /// The router itself: its own routes.
    pub own: bool,
    pub two_byte_as: bool,
    /// After the router's inbound policy.
    pub post_policy: bool,
    pub seconds: u32,
}

/// The header and the part after it; None in the middle where the message is about another VRF than the default one,
/// or about routes that the router sends.
pub fn read_peer(body: &[u8]) -> Option<(Option<PerPeer>, &[u8])> {
    let mut reader = Reader::new(body);
    let (kind, flags) = (reader.u8()?, reader.u8()?);
    let distinguisher: [u8; 8] = reader.array()?;
    let mut address: [u8; 16] = reader.array()?;
    let asn = reader.u32()?;
    let id = reader.array()?;
    let seconds = reader.u32()?;
    reader.u32()?;
    let own = kind == LOC_RIB || address == [0; 16];
    let v6 = kind == GLOBAL && flags & V != 0;
    if !v6 {
        address.copy_within(12.., 0);
        address[4..].fill(0);
    }
    let peer = PerPeer {
        v6,
        address,
        asn,
        id,
        own,
        two_byte_as: kind == GLOBAL && flags & TWO_BYTE_AS != 0,
        post_policy: kind == LOC_RIB || flags & POST_POLICY != 0,
        seconds,
    };
    let ours = (kind == GLOBAL && flags & ADJ_RIB_OUT == 0) || kind == LOC_RIB;
    Some((Some(peer).filter(|_| ours && distinguisher == [0; 8]), reader.rest))
}

/// The part after the header in Peer Up: the OPEN that was sent, and the one that was received.
pub fn read_opens(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut reader = Reader::new(rest);
    reader.take(20)?;
    let sent = reader.take(crate::open::length(reader.rest)?)?;
    let received = reader.take(crate::open::length(reader.rest)?)?;
    Some((sent, received))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_of_the_stream_however_it_is_torn() {
        let stream = [&[3, 0, 0, 0, 8, 4, 1, 2][..], &[3, 0, 0, 0, 6, 5], &[3, 0, 0, 0, 7, 0, 9]].concat();
        for torn in 1..stream.len() {
            let mut deframer = Deframer::default();
            let mut read = Vec::new();
            for part in stream.chunks(torn) {
                deframer.push(part);
                while let Some((kind, body)) = deframer.next_message().expect("BMP") {
                    read.push((kind, body.to_vec()));
                }
            }
            assert_eq!(read, vec![(4, vec![1, 2]), (5, vec![]), (0, vec![9])]);
        }
    }

    #[test]
    fn what_is_not_bmp_is_given_up_before_it_is_gathered() {
        for wrong in [&b"HTTP/1.1"[..], &[3, 0, 0, 0, 5, 0], &[3, 0, 4, 0, 1, 0], &[2, 0, 0, 0, 6, 0]] {
            let mut deframer = Deframer::default();
            deframer.push(wrong);
            assert_eq!(deframer.next_message(), Err(NotBmp), "{:?}", wrong);
        }
    }

    #[test]
    fn a_neighbor_of_another_vrf_and_what_the_router_sends_are_not_for_us() {
        let header = |kind: u8, flags: u8, distinguisher: u8| {
            let address = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1];
            let numbers = [0, 0, 0xfd, 0xe9, 10, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0];
            [&[kind, flags, 0, 0, 0, 0, 0, 0, 0, distinguisher][..], &address, &numbers, &[7]].concat()
        };
        let body = header(0, 0x40, 0);
        let (peer, rest) = read_peer(&body).expect("a header");
        let peer = peer.expect("it is ours");
        assert_eq!((peer.address[..4].to_vec(), peer.asn, peer.id, rest), (vec![192, 0, 2, 1], 65001, [10, 0, 0, 1], &[7][..]));
        assert!(!peer.v6 && !peer.own && peer.post_policy && !peer.two_byte_as && peer.seconds == 9);
        for (kind, flags, distinguisher) in [(0, 0x40, 1), (1, 0x40, 1), (2, 0x40, 0), (0, 0x50, 0), (9, 0, 0)] {
            assert_eq!(read_peer(&header(kind, flags, distinguisher)).expect("a header").0, None);
        }
        assert!(read_peer(&header(3, 0, 0)).expect("a header").0.expect("ours").own);
        assert_eq!(read_peer(&body[..41]), None);
    }
}
