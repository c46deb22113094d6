//! Messages of BGP and BMP for tests.

#[derive(Default)]
pub struct Bgp {
    pub withdrawn: Vec<u8>,
    pub attributes: Vec<u8>,
    pub prefixes: Vec<u8>,
}

pub fn attribute(kind: u8, value: &[u8]) -> Vec<u8> {
    [&[0x50, kind][..], &(value.len() as u16).to_be_bytes(), value].concat()
}

pub fn update(parts: &Bgp) -> Vec<u8> {
    let sized = |part: &[u8]| [&(part.len() as u16).to_be_bytes()[..], part].concat();
    bgp(2, &[sized(&parts.withdrawn), sized(&parts.attributes), parts.prefixes.clone()].concat())
}

/// An OPEN of an AS with a capability for it, and of the families of these AFIs.
pub fn open(asn: u32, families: &[u16]) -> Vec<u8> {
    let mut capabilities = vec![65, 4];
    capabilities.extend_from_slice(&asn.to_be_bytes());
    for afi in families {
        capabilities.extend_from_slice(&[1, 4, 0, *afi as u8, 0, 1]);
    }
    let length = capabilities.len() as u8;
    bgp(1, &[&[4, 0x5b, 0xa0, 0, 90, 10, 0, 0, 1, length + 2, 2, length][..], &capabilities].concat())
}

fn bgp(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[0xff; 16][..], &(19 + body.len() as u16).to_be_bytes(), &[kind], body].concat()
}

/// The header of an IPv4 neighbor 192.0.2.`last`, after policy.
pub fn per_peer(last: u8, asn: u32, seconds: u32) -> Vec<u8> {
    let address = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, last];
    [&[0, 0x40][..], &[0; 8], &address, &asn.to_be_bytes(), &[10, 0, 0, last], &seconds.to_be_bytes(), &[0; 4]].concat()
}

pub fn bmp(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[3][..], &(6 + body.len() as u32).to_be_bytes(), &[kind], body].concat()
}
