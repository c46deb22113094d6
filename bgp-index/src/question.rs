//! The question in one line over the socket.

use crate::matching::{Extended, Wanted};
use crate::prefix::{address_bytes, Prefix};
use std::net::IpAddr;
use std::time::Duration;

const ROWS_AT_ONCE: usize = 1000;
const LONGEST_WAIT_MS: u64 = 5000;
const LONGEST_PATH: usize = 64;
pub const WRONG: &str = "ask: status, search ipv4|ipv6 KEY=VALUE..., or release";

#[derive(Debug, PartialEq)]
pub enum Question {
    Status,
    Release,
    Search(Search),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    pub v6: bool,
    pub within: Option<Prefix>,
    pub covering: Option<Prefix>,
    pub exact: Option<Prefix>,
    pub neighbor: Option<Neighbor>,
    pub wanted: Wanted,
    pub offset: usize,
    pub limit: usize,
    pub wait: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Neighbor {
    Own,
    Address(bool, [u8; 16]),
}

/// The question, or the error in it.
pub fn parse(line: &str) -> Result<Question, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["status"] => Ok(Question::Status),
        ["release"] => Ok(Question::Release),
        ["search", family, words @ ..] => {
            let v6 = match *family {
                "ipv4" => false,
                "ipv6" => true,
                _ => return Err(format!("search: {}: not ipv4 or ipv6", family)),
            };
            let mut search = Search {
                v6,
                within: None,
                covering: None,
                exact: None,
                neighbor: None,
                wanted: Wanted::default(),
                offset: 0,
                limit: 100,
                wait: Duration::from_millis(300),
            };
            let mut given = Vec::new();
            for word in words {
                let (key, value) = word.split_once('=').ok_or_else(|| format!("search: {}: not KEY=VALUE", word))?;
                if given.contains(&key) {
                    return Err(format!("search: {}: given twice", key));
                }
                given.push(key);
                search.read(key, value).map_err(|allowed| format!("search: {}: {}", word, allowed))?;
            }
            Ok(Question::Search(search))
        }
        _ => Err(WRONG.to_string()),
    }
}

impl Search {
    /// Takes one key; an error says what is allowed.
    fn read(&mut self, key: &str, value: &str) -> Result<(), String> {
        let wanted = &mut self.wanted;
        match key {
            "within" => self.within = Some(prefix(value, self.v6, false)?),
            "exact" => self.exact = Some(prefix(value, self.v6, false)?),
            "covering" => self.covering = Some(prefix(value, self.v6, true)?),
            "neighbor" if value == "self" => self.neighbor = Some(Neighbor::Own),
            "neighbor" => {
                let (v6, address) = address_bytes(address(value).ok_or("not an address, nor self")?);
                self.neighbor = Some(Neighbor::Address(v6, address));
            }
            "as" => wanted.asn = Some(asn(value)?),
            "origin_as" => wanted.origin_as = Some(asn(value)?),
            "first_as" => wanted.first_as = Some(asn(value)?),
            "path" => {
                wanted.path = value.split('_').map(asn).collect::<Result<_, _>>()?;
                if wanted.path.len() > LONGEST_PATH {
                    return Err(format!("more than {} AS numbers", LONGEST_PATH));
                }
            }
            "path_length" => {
                let (from, to) = value.split_once('-').unwrap_or((value, value));
                let (from, to) = (number(from, 0, 65_535), number(to, 0, 65_535));
                let range = from.zip(to).filter(|(from, to)| from <= to).ok_or("not N or N-M, of 0 to 65535")?;
                wanted.path_length = Some(range.0 as usize..=range.1 as usize);
            }
            "community" => wanted.community = Some(community(value)?),
            "large_community" => wanted.large_community = Some(large_community(value)?),
            "extended_community" => wanted.extended_community = Some(extended_community(value)?),
            "next_hop" => {
                wanted.next_hop = Some(match address(value).ok_or("not an address")? {
                    IpAddr::V4(host) => host.octets().to_vec(),
                    IpAddr::V6(host) => host.octets().to_vec(),
                });
            }
            "offset" => self.offset = number(value, 0, u32::MAX.into()).ok_or("not a number 0 to 4294967295")? as usize,
            "limit" => {
                let limit = number(value, 1, ROWS_AT_ONCE as u64);
                self.limit = limit.ok_or_else(|| format!("not a number 1 to {}", ROWS_AT_ONCE))? as usize;
            }
            "wait" => {
                let wait = number(value, 0, LONGEST_WAIT_MS);
                let allowed = || format!("not a number of milliseconds 0 to {}", LONGEST_WAIT_MS);
                self.wait = Duration::from_millis(wait.ok_or_else(allowed)?);
            }
            _ => {
                return Err("no such key: within, covering, exact, neighbor, as, origin_as, first_as, path, path_length, \
                            community, large_community, extended_community, next_hop, offset, limit, wait"
                    .to_string())
            }
        }
        Ok(())
    }
}

/// A decimal number without a sign.
fn number(text: &str, least: u64, most: u64) -> Option<u64> {
    let digits = !text.is_empty() && text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && (least..=most).contains(number))
}

fn asn(text: &str) -> Result<u32, String> {
    match number(text, 0, u32::MAX.into()) {
        Some(number) => Ok(number as u32),
        None => Err("not an AS number 0 to 4294967295".to_string()),
    }
}

fn address(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

fn prefix(text: &str, v6: bool, or_host: bool) -> Result<Prefix, String> {
    let family = if v6 { "IPv6" } else { "IPv4" };
    let allowed = match or_host {
        true => format!("not an {} prefix or address", family),
        false => format!("not an {} prefix", family),
    };
    Prefix::parse(text, or_host).filter(|prefix| prefix.v6 == v6).ok_or(allowed)
}

fn community(text: &str) -> Result<[u8; 4], String> {
    let known = match text.to_ascii_lowercase().as_str() {
        "no-export" => Some(0xffff_ff01_u32),
        "no-advertise" => Some(0xffff_ff02),
        "local-as" => Some(0xffff_ff03),
        "no-peer" => Some(0xffff_ff04),
        "blackhole" => Some(0xffff_029a),
        "graceful-shutdown" => Some(0xffff_0000),
        _ => None,
    };
    let halves = || {
        let (high, low) = text.split_once(':')?;
        Some((number(high, 0, 65_535)? << 16 | number(low, 0, 65_535)?) as u32)
    };
    let value = known.or_else(halves);
    value.map(u32::to_be_bytes).ok_or_else(|| {
        "not A:B of 0 to 65535, nor no-export, no-advertise, local-AS, no-peer, blackhole or graceful-shutdown".to_string()
    })
}

fn large_community(text: &str) -> Result<[u8; 12], String> {
    let mut value = [0; 12];
    let parts: Vec<&str> = text.split(':').collect();
    let parts: Option<Vec<u64>> = parts.iter().map(|part| number(part, 0, u32::MAX.into())).collect();
    let parts = parts.filter(|parts| parts.len() == 3).ok_or("not A:B:C of 0 to 4294967295")?;
    for (place, part) in value.chunks_exact_mut(4).zip(parts) {
        place.copy_from_slice(&(part as u32).to_be_bytes());
    }
    Ok(value)
}

fn extended_community(text: &str) -> Result<Extended, String> {
    let lower = text.to_ascii_lowercase();
    if lower.len() == 16 && lower.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        if let Ok(value) = u64::from_str_radix(&lower, 16) {
            return Ok(Extended::Value(value.to_be_bytes()));
        }
    }
    let parts: Vec<&str> = lower.split(':').collect();
    match parts.as_slice() {
        ["rt" | "soo", high, low]
            if number(low, 0, u32::MAX.into()).is_some()
                && (number(high, 0, u32::MAX.into()).is_some() || matches!(address(high), Some(IpAddr::V4(_)))) =>
        {
            Ok(Extended::Text(lower))
        }
        _ => Err("not 16 hexadecimal digits, nor rt:A:B or soo:A:B".to_string()),
    }
}
