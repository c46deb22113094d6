//! OPEN messages of BGP (RFC 4271 4.2, RFC 5492) as Peer Up reports them: the capabilities of both ends.

use crate::reader::Reader;

const KIND_OPEN: u8 = 1;
const PARAMETER_CAPABILITIES: u8 = 2;
const MULTIPROTOCOL: u8 = 1;
const FOUR_BYTE_AS: u8 = 65;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    pub asn: u32,
    pub four_byte_as: bool,
    /// Unicast of IPv4 and of IPv6.
    pub families: [bool; 2],
}

/// The message's length from its header.
pub fn length(bytes: &[u8]) -> Option<usize> {
    let mut reader = Reader::new(bytes);
    reader.take(16)?;
    reader.u16().map(usize::from).filter(|length| *length >= 19)
}

/// None where it is not an OPEN: bgpd reports an empty message where it has none.
pub fn read(message: &[u8]) -> Option<Open> {
    let mut reader = Reader::new(message);
    reader.take(18)?;
    if reader.u8()? != KIND_OPEN {
        return None;
    }
    reader.u8()?;
    let mut open = Open { asn: u32::from(reader.u16()?), four_byte_as: false, families: [false; 2] };
    reader.take(6)?;
    let mut extended = false;
    let mut length = usize::from(reader.u8()?);
    if length == 255 && reader.rest.first() == Some(&255) {
        // Longer parameters (RFC 9072).
        reader.u8()?;
        length = usize::from(reader.u16()?);
        extended = true;
    }
    let mut parameters = Reader::new(reader.take(length)?);
    let mut told_families = false;
    while !parameters.rest.is_empty() {
        let kind = parameters.u8()?;
        let length = if extended { usize::from(parameters.u16()?) } else { usize::from(parameters.u8()?) };
        let mut capabilities = Reader::new(parameters.take(length)?);
        while kind == PARAMETER_CAPABILITIES && !capabilities.rest.is_empty() {
            let (code, length) = (capabilities.u8()?, capabilities.u8()?);
            let mut value = Reader::new(capabilities.take(usize::from(length))?);
            match code {
                FOUR_BYTE_AS => {
                    open.asn = value.u32()?;
                    open.four_byte_as = true;
                }
                MULTIPROTOCOL => {
                    told_families = true;
                    match (value.u16()?, value.u8()?, value.u8()?) {
                        (1, _, 1) => open.families[0] = true,
                        (2, _, 1) => open.families[1] = true,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
    // A speaker that announces no family speaks IPv4 (RFC 4760 8).
    open.families[0] |= !told_families;
    Some(open)
}
