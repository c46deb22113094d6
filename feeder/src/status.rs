//! The status socket: one line asks, one line of JSON answers.
//!
//! `status` - what the feeder knows.
//! `barrier MS` - answers when all that zebra had sent by then is in VPP.
//! `vacate NAME MS` - from now on no route uses the mirror NAME; answers when VPP has none that does. That holds until
//! the connection ends: whoever asked then has removed the mirror, or has given it up, or is dead.
//! `again PREFIX [TABLE]` - VPP is told of the route again, whatever it was told before; TABLE 0 is the main one.
//! `most COUNT` - VPP gets no more routes than that, of both families together; what it has already stays.
//! `routes FAMILY [table=N] [within=PREFIX] [protocol=N] [via=ADDRESS] [missing] [offset=N] [limit=N]` - a page of the
//! routes in the order of their prefixes. FAMILY is ipv4 or ipv6, a protocol one of RTPROT_*, `missing` those that VPP
//! does not have as zebra wants them; a page has 1000 routes at most.
//! `protocols [TABLE]` - how many routes of each family and protocol there are, and how many of them VPP has.
//! After all but `vacate` the connection ends. `barrier` and `vacate` answer `"reached": false` when the time is over.

use crate::fpm::Prefix;
use crate::listing::Wanted;
use crate::mark::Mark;
use std::fs;
use std::net::IpAddr;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::io::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

const LINE_BYTES: usize = 256;
const CLIENTS: usize = 64;
const ROUTES_AT_ONCE: usize = 1000;
const LONGEST: Duration = Duration::from_secs(600);

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

pub struct Client {
    stream: UnixStream,
    line: Vec<u8>,
    pub question: Option<Question>,
    pub asked: Instant,
    pub until: Instant,
    /// Turns of the main loop that found zebra's stream empty since the question came.
    pub empty_turns: u32,
    /// What has to be in VPP before this is answered.
    pub mark: Option<Mark>,
    /// The mirror that it keeps vacant, by Linux's index.
    pub vacated: Option<u32>,
    answered: bool,
    gone: bool,
}

pub struct StatusSocket {
    listener: UnixListener,
    pub clients: Vec<Client>,
}

impl StatusSocket {
    pub fn bind(path: &Path) -> io::Result<StatusSocket> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o660))?;
        listener.set_nonblocking(true)?;
        Ok(StatusSocket { listener, clients: Vec::new() })
    }

    pub fn fds(&self) -> Vec<RawFd> {
        let clients = self.clients.iter().filter(|client| client.question.is_none() || client.holds());
        clients.map(|client| client.stream.as_raw_fd()).chain([self.listener.as_raw_fd()]).collect()
    }

    /// Takes new clients and reads their questions; a wrong one is answered at once.
    pub fn read(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.clients.len() < CLIENTS && stream.set_nonblocking(true).is_ok() {
                let now = Instant::now();
                self.clients.push(Client {
                    stream,
                    line: Vec::new(),
                    question: None,
                    asked: now,
                    until: now + Duration::from_secs(5),
                    empty_turns: 0,
                    mark: None,
                    vacated: None,
                    answered: false,
                    gone: false,
                });
            }
        }
        for client in &mut self.clients {
            client.read();
        }
    }

    /// Whether a question is open that time or VPP may answer any moment.
    pub fn somebody_waits(&self) -> bool {
        self.clients.iter().any(|client| !client.holds())
    }

    /// Gives up connections that are done; returns the mirrors that they kept vacant.
    pub fn forget_answered(&mut self) -> Vec<u32> {
        let now = Instant::now();
        let mut readmitted = Vec::new();
        self.clients.retain(|client| {
            let stays = if client.holds() {
                !client.gone
            } else {
                !client.gone && !client.answered && (client.question.is_some() || now < client.until)
            };
            if !stays {
                readmitted.extend(client.vacated);
            }
            stays
        });
        readmitted
    }
}

impl Client {
    /// It was answered, and keeps a mirror vacant until its connection ends.
    fn holds(&self) -> bool {
        self.answered && self.vacated.is_some()
    }

    /// Whether its question is open.
    pub fn waits(&self) -> bool {
        !self.answered && !self.gone
    }

    fn read(&mut self) {
        let mut chunk = [0; LINE_BYTES];
        if self.question.is_some() {
            // Nothing more is expected but the end.
            match self.stream.read(&mut chunk) {
                Ok(0) => self.gone = true,
                Err(error) if error.kind() != ErrorKind::WouldBlock => self.gone = true,
                _ => {}
            }
            return;
        }
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => self.gone = true,
                Ok(length) => {
                    self.line.extend_from_slice(&chunk[..length]);
                    if let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
                        let line = String::from_utf8_lossy(&self.line[..end]).into_owned();
                        match parse(&line) {
                            Some((question, time)) => {
                                self.asked = Instant::now();
                                self.until = self.asked + time.min(LONGEST);
                                self.question = Some(question);
                            }
                            None => {
                                self.answer("{\"error\":\"ask: status, barrier MS, vacate NAME MS, again PREFIX TABLE, most COUNT, routes FAMILY, or protocols TABLE\"}");
                            }
                        }
                    } else if self.line.len() <= LINE_BYTES {
                        continue;
                    } else {
                        self.gone = true;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
            return;
        }
    }

    /// Answers; one that does not read its answer goes without.
    pub fn answer(&mut self, json: &str) {
        let _ = self.stream.set_nonblocking(false);
        let _ = self.stream.set_write_timeout(Some(Duration::from_millis(50)));
        let _ = self.stream.write_all(json.as_bytes()).and_then(|()| self.stream.write_all(b"\n"));
        let _ = self.stream.set_nonblocking(true);
        self.answered = true;
    }
}

fn parse(line: &str) -> Option<(Question, Duration)> {
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
            Some((Question::Routes(parse_wanted(v6, words)?), Duration::from_secs(5)))
        }
        ["protocols"] => Some((Question::Protocols(0), Duration::from_secs(5))),
        ["protocols", table] => Some((Question::Protocols(table.parse().ok()?), Duration::from_secs(5))),
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

/// Address/length, without host bits or with them: the route is found by its network.
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

/// A JSON object under construction.
pub struct Json(String);

impl Json {
    pub fn new() -> Json {
        Json(String::from("{"))
    }

    pub fn raw(mut self, key: &str, value: &str) -> Json {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(key));
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    pub fn number(self, key: &str, value: u64) -> Json {
        self.raw(key, &value.to_string())
    }

    pub fn text(self, key: &str, value: &str) -> Json {
        let value = quoted(value);
        self.raw(key, &value)
    }

    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            letter if (letter as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
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

    #[test]
    fn text_in_an_answer_is_escaped() {
        assert_eq!(Json::new().text("a", "x\"\\\n").number("b", 1).end(), "{\"a\":\"x\\\"\\\\\\u000a\",\"b\":1}");
    }
}
