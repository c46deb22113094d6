//! The question in one line over the status socket.

use crate::fpm::Prefix;
use crate::listing::Wanted;
use std::net::IpAddr;
use std::time::Duration;

const ROUTES_AT_ONCE: usize = 1000;
/// Shorter than a client waits, who is told why there is no answer.
const VIEW: Duration = Duration::from_secs(4);

#[derive(Debug, PartialEq, Eq)]
pub enum Question {
    Status,
    Barrier,
    Vacate(String),
    Again(Prefix),
    Most(u64),
    Routes(Wanted),
    Protocols(u32),
}

impl Question {
    /// It is worked out in slices, which are shared out among the clients that ask such questions.
    pub fn is_view(&self) -> bool {
        matches!(self, Question::Routes(_) | Question::Protocols(_))
    }
}

/// The question, and the time limit of its answer; None for a line without a question.
pub fn parse(line: &str) -> Option<(Question, Duration)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let time = |word: &str| word.parse().ok().map(Duration::from_millis);
    match words.as_slice() {
        ["status"] => Some((Question::Status, Duration::from_secs(5))),
        ["barrier", ms] => Some((Question::Barrier, time(ms)?)),
        ["vacate", name, ms] => Some((Question::Vacate((*name).to_string()), time(ms)?)),
        ["most", count] => Some((Question::Most(count.parse().ok()?), Duration::from_secs(5))),
        ["again", prefix] => Some((Question::Again(parse_prefix(prefix, 0)?), Duration::from_secs(5))),
        ["again", prefix, table] => {
            Some((Question::Again(parse_prefix(prefix, table.parse().ok()?)?), Duration::from_secs(5)))
        }
        ["routes", family, words @ ..] => {
            let v6 = match *family {
                "ipv4" => false,
                "ipv6" => true,
                _ => return None,
            };
            Some((Question::Routes(parse_wanted(v6, words)?), VIEW))
        }
        ["protocols"] => Some((Question::Protocols(0), VIEW)),
        ["protocols", table] => Some((Question::Protocols(table.parse().ok()?), VIEW)),
        _ => None,
    }
}

fn parse_wanted(v6: bool, words: &[&str]) -> Option<Wanted> {
    let mut wanted = Wanted { v6, limit: 100, ..Wanted::default() };
    for word in words {
        match word.split_once('=') {
            None if *word == "missing" => wanted.missing = true,
            Some(("table", number)) => wanted.table = number.parse().ok()?,
            Some(("within", prefix)) => {
                let prefix = parse_prefix(prefix, 0).filter(|prefix| prefix.v6 == v6)?;
                wanted.within = Some((prefix.address, prefix.length));
            }
            Some(("protocol", number)) => wanted.protocol = Some(number.parse().ok()?),
            Some(("via", address)) => {
                let mut gateway = [0; 16];
                let length = match address.parse().ok()? {
                    IpAddr::V4(host) => {
                        gateway[..4].copy_from_slice(&host.octets());
                        4
                    }
                    IpAddr::V6(host) => {
                        gateway = host.octets();
                        16
                    }
                };
                wanted.gateway = Some((gateway, length));
            }
            Some(("offset", number)) => wanted.offset = number.parse().ok()?,
            Some(("limit", number)) => {
                wanted.limit = number.parse().ok().filter(|limit| *limit <= ROUTES_AT_ONCE)?;
            }
            _ => return None,
        }
    }
    Some(wanted)
}

/// Address/length, with or without host bits: the route is found by its network.
fn parse_prefix(text: &str, table: u32) -> Option<Prefix> {
    let (host, length) = text.split_once('/')?;
    let length: u8 = length.parse().ok()?;
    let mut address = [0; 16];
    let v6 = match host.parse().ok()? {
        IpAddr::V4(host) => {
            address[..4].copy_from_slice(&host.octets());
            false
        }
        IpAddr::V6(host) => {
            address = host.octets();
            true
        }
    };
    if length > if v6 { 128 } else { 32 } {
        return None;
    }
    for (at, byte) in address.iter_mut().enumerate() {
        let kept = usize::from(length).saturating_sub(8 * at).min(8);
        *byte &= !(0xff_u16 >> kept) as u8;
    }
    Some(Prefix { table, v6, address, length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_line_and_nothing_else() {
        assert_eq!(parse("status"), Some((Question::Status, Duration::from_secs(5))));
        assert_eq!(parse("barrier 250"), Some((Question::Barrier, Duration::from_millis(250))));
        assert_eq!(
            parse("vacate lan0 1000"),
            Some((Question::Vacate("lan0".to_string()), Duration::from_secs(1)))
        );
        let address = [10, 1, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let v4 = |table| Question::Again(Prefix { table, v6: false, address, length: 17 });
        assert_eq!(parse("again 10.1.128.0/17").unwrap().0, v4(0));
        assert_eq!(parse("again 10.1.255.255/17 10").unwrap().0, v4(10));
        let default = Prefix { table: 0, v6: true, address: [0; 16], length: 0 };
        assert_eq!(parse("again 2001:db8::/0").unwrap().0, Question::Again(default));
        assert_eq!(parse("most 1000").unwrap().0, Question::Most(1000));
        for wrong in ["most", "most -1", "again", "again 10.0.0.0", "again 10.0.0.0/33", "again 10.0.0.0/8 x", "again ::/129"] {
            assert_eq!(parse(wrong), None, "{}", wrong);
        }
        let within = Some((address, 17));
        let wanted = Wanted { within, protocol: Some(186), offset: 5, limit: 7, table: 10, ..Wanted::default() };
        assert_eq!(
            parse("routes ipv4 within=10.1.129.0/17 protocol=186 offset=5 limit=7 table=10").unwrap().0,
            Question::Routes(wanted)
        );
        let mut gateway = [0; 16];
        gateway[15] = 1;
        let wanted = Wanted { v6: true, gateway: Some((gateway, 16)), missing: true, limit: 100, ..Wanted::default() };
        assert_eq!(parse("routes ipv6 via=::1 missing").unwrap().0, Question::Routes(wanted));
        assert_eq!(parse("protocols 10").unwrap().0, Question::Protocols(10));
        for wrong in ["routes", "routes ipv5", "routes ipv4 within=::/0", "routes ipv4 limit=1001", "routes ipv4 via=x", "routes ipv4 some"] {
            assert_eq!(parse(wrong), None, "{}", wrong);
        }
        for wrong in ["", "barrier", "barrier soon", "vacate lan0", "status 1", "barrier -1"] {
            assert_eq!(parse(wrong), None, "{}", wrong);
        }
    }
}
