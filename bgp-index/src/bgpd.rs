//! The connection to bgpd's BMP listener, and the data received over it.

use crate::bmp::Deframer;
use crate::owner;
use crate::table::{Limits, Table};
use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::io::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

/// The listener is on this machine: it answers at once or not at all.
const CONNECT: Duration = Duration::from_millis(200);
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LAST_RETRY: Duration = Duration::from_secs(2);
/// Bytes read in one turn: a client waits no longer than for this.
const READ_AT_ONCE: usize = 1 << 20;
const BUFFER: usize = 256 * 1024;
/// bgpd reports all sessions in one go, including those that are down. A session reported this long after the first
/// one came up since then.
const ANSWER: Duration = Duration::from_millis(100);
/// For a family that no session spoke when bgpd answered, bgpd sends no end. It is complete when nothing arrived for
/// this long after the end of the other family,
const QUIET_AFTER_OTHER: Duration = Duration::from_millis(100);
/// or, where no session speaks any family, since bgpd answered.
const QUIET: Duration = Duration::from_secs(1);
/// Sessions that came up since may never be quiet: after this time everything that bgpd had before them has been
/// sent.
const NOT_QUIET: Duration = Duration::from_secs(5);
/// bgpd 8.4 does not report a path whose next hop it resolves after the path arrived, as with a session that has just
/// come up. The table is read once more when nothing arrived for this long,
const SETTLED: Duration = Duration::from_secs(2);
/// or this long after the last session came up. It is not read sooner after the connection than the third of these
/// times, or, if that connection was already made for this purpose, the fourth: a session that flaps does not make
/// bgpd write its table more often.
const NOT_SETTLED: Duration = Duration::from_secs(15);
const FIRST_AGAIN: Duration = Duration::from_secs(5);
const NEXT_AGAIN: Duration = Duration::from_secs(15);
const CAME_UP: &str = "a session came up: the table is read once more when its routes are there";

/// Where bgpd listens, and which user it has to be; None for any.
pub struct Listener {
    pub address: SocketAddr,
    pub user: Option<u32>,
}

pub enum Bgpd {
    /// Nobody asks.
    Idle,
    /// It does not answer, or did not speak BMP.
    Away { why: String, next: Instant, pause: Duration },
    /// The connection was closed to read the table once more.
    Again { next: Instant },
    Connected(Box<Connection>),
}

pub struct Connection {
    stream: TcpStream,
    deframer: Deframer,
    buffer: Vec<u8>,
    last_bytes: Instant,
    opened: Instant,
    /// Made to read the table once more.
    again: bool,
    /// When bgpd began to answer.
    answer: Option<Instant>,
    /// When it reported an end, or began to answer.
    last_end: Instant,
    pub table: Table,
    pub ready: bool,
    /// The delay before the next attempt, if this connection is lost.
    pause: Duration,
}

impl Bgpd {
    /// Connects, unless it is connected or has just tried.
    pub fn connect(&mut self, listener: &Listener, limits: Limits, now: Instant) {
        let (pause, again) = match self {
            Bgpd::Idle => (FIRST_RETRY, false),
            Bgpd::Again { next } if *next <= now => (FIRST_RETRY, true),
            Bgpd::Away { next, pause, .. } if *next <= now => (*pause, false),
            _ => return,
        };
        let address = listener.address;
        // A connection that is refused comes first: where nobody listens, that is what there is to say.
        let opened = Connection::open(address, limits, pause, again);
        *self = match opened.map(|connection| (connection, owner::listens(address, listener.user))) {
            Ok((connection, Ok(()))) => Bgpd::Connected(Box::new(connection)),
            Ok((_, Err(error))) => away(format!("what listens at {} is not bgpd: {}", address, error), pause),
            Err(error) => away(format!("bgpd does not answer at {}: {}", address, error), pause),
        };
    }

    /// Reads the data that arrived; when a connection is lost, all data read over it is discarded.
    pub fn read(&mut self, address: SocketAddr) {
        if let Bgpd::Connected(connection) = self {
            if let Err(why) = connection.read() {
                // A connection that delivered everything may be followed by another at once.
                let pause = if connection.ready { FIRST_RETRY } else { connection.pause };
                *self = away(format!("bgpd at {}: {}", address, why), pause);
                give_back();
            } else if connection.again_at().map_or(false, |again| again <= Instant::now()) {
                *self = Bgpd::Again { next: Instant::now() + FIRST_RETRY };
                give_back();
            }
        }
    }

    /// Disconnects, and frees the memory of the data.
    pub fn release(&mut self) {
        if let Bgpd::Connected(_) = std::mem::replace(self, Bgpd::Idle) {
            give_back();
        }
    }

    pub fn state(&self) -> &'static str {
        match self {
            Bgpd::Idle => "idle",
            Bgpd::Away { .. } => "connecting",
            Bgpd::Again { .. } => "reading",
            Bgpd::Connected(connection) if connection.ready => "ready",
            Bgpd::Connected(_) => "reading",
        }
    }

    pub fn why(&self) -> Option<&str> {
        match self {
            Bgpd::Away { why, .. } => Some(why),
            Bgpd::Again { .. } => Some(CAME_UP),
            Bgpd::Connected(connection) if !connection.ready && connection.reads_again() => Some(CAME_UP),
            _ => None,
        }
    }

    pub fn table(&self) -> Option<&Table> {
        match self {
            Bgpd::Connected(connection) => Some(&connection.table),
            _ => None,
        }
    }

    pub fn fd(&self) -> Option<RawFd> {
        match self {
            Bgpd::Connected(connection) => Some(connection.stream.as_raw_fd()),
            _ => None,
        }
    }

    /// When something has to be done even if nothing arrives.
    pub fn next_deadline(&self) -> Option<Instant> {
        match self {
            Bgpd::Idle => None,
            Bgpd::Away { next, .. } | Bgpd::Again { next } => Some(*next),
            Bgpd::Connected(connection) if connection.again_at().is_some() => connection.again_at(),
            Bgpd::Connected(connection) if connection.ready || connection.waits_for_an_end() => None,
            Bgpd::Connected(connection) if connection.answer.is_none() => None,
            Bgpd::Connected(connection) => Some(connection.quiet_at()),
        }
    }
}

fn away(why: String, pause: Duration) -> Bgpd {
    Bgpd::Away { why, next: Instant::now() + pause, pause: (pause * 2).min(LAST_RETRY) }
}

/// The allocator keeps freed memory in small pieces unless it is told to return it.
fn give_back() {
    extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: it takes a plain integer and frees nothing that is in use.
    unsafe { malloc_trim(0) };
}

impl Connection {
    fn open(address: SocketAddr, limits: Limits, pause: Duration, again: bool) -> std::io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&address, CONNECT)?;
        stream.set_nonblocking(true)?;
        Ok(Connection {
            stream,
            deframer: Deframer::default(),
            buffer: vec![0; BUFFER],
            last_bytes: Instant::now(),
            opened: Instant::now(),
            again,
            answer: None,
            last_end: Instant::now(),
            table: Table::new(limits),
            ready: false,
            pause: (pause * 2).min(LAST_RETRY),
        })
    }

    fn read(&mut self) -> Result<(), String> {
        let is_past = |began: Option<Instant>, time| began.map_or(false, |began| began.elapsed() >= time);
        self.table.peers.answered |= is_past(self.table.peers.first_told, ANSWER) || is_past(self.answer, QUIET);
        let told = self.table.told;
        let mut budget = READ_AT_ONCE;
        while budget > 0 {
            match self.stream.read(&mut self.buffer) {
                Ok(0) => return Err("the connection ended".to_string()),
                Ok(length) => {
                    self.last_bytes = Instant::now();
                    if self.answer.is_none() {
                        self.answer = Some(self.last_bytes);
                        self.last_end = self.last_bytes;
                    }
                    self.deframer.push(&self.buffer[..length]);
                    self.take_messages()?;
                    budget = budget.saturating_sub(length);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        if self.table.told != told {
            self.last_end = Instant::now();
        }
        self.ready = self.again_at().is_none() && (self.ready || self.all_told());
        Ok(())
    }

    /// Whether the table is being read once more, or will be.
    fn reads_again(&self) -> bool {
        self.again || self.again_at().is_some()
    }

    /// When the table is read once more, if nothing arrives until then.
    fn again_at(&self) -> Option<Instant> {
        let came_up = self.table.peers.came_up?;
        let soonest = self.opened + if self.again { NEXT_AGAIN } else { FIRST_AGAIN };
        Some((self.last_bytes + SETTLED).min(came_up + NOT_SETTLED).max(soonest))
    }

    fn take_messages(&mut self) -> Result<(), String> {
        loop {
            match self.deframer.next_message() {
                Ok(Some((kind, body))) => {
                    if !self.table.take(kind, body) {
                        return Err("it ended the session".to_string());
                    }
                }
                Ok(None) => return Ok(()),
                Err(_) => return Err("what answers does not speak BMP, or its framing is lost".to_string()),
            }
        }
    }

    /// Whether bgpd has yet to report the end of a family.
    fn waits_for_an_end(&self) -> bool {
        [false, true].into_iter().any(|v6| !self.table.told[usize::from(v6)] && self.table.peers.speak(v6))
    }

    fn all_told(&self) -> bool {
        let quiet = Instant::now() >= self.quiet_at();
        self.table.told == [true; 2] || (self.answer.is_some() && quiet && !self.waits_for_an_end())
    }

    /// The time after which nothing more is expected, if nothing arrives.
    fn quiet_at(&self) -> Instant {
        let quiet = if self.table.told.contains(&true) { QUIET_AFTER_OTHER } else { QUIET };
        (self.last_bytes + quiet).min(self.last_end + NOT_QUIET)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bmp::read_peer;
    use std::net::TcpListener;

    fn header(asn: u32, seconds: u32) -> Vec<u8> {
        let mut header = vec![0; 42];
        header[2 + 8 + 15] = asn as u8;
        header[26..30].copy_from_slice(&asn.to_be_bytes());
        header[34..38].copy_from_slice(&seconds.to_be_bytes());
        header
    }

    fn comes_up(connection: &mut Connection, asn: u32, seconds: u32) {
        let header = header(asn, seconds);
        let peer = read_peer(&header).unwrap().0.unwrap();
        let number = connection.table.peers.number(&peer).unwrap();
        connection.table.peers.up(number, &peer, None, None);
    }

    #[test]
    fn each_session_that_comes_up_has_its_time_to_settle() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let limits = Limits { paths: 10, bytes: 1 << 20 };
        let address = listener.local_addr().unwrap();
        let now = Instant::now();
        let mut connection = Connection::open(address, limits, FIRST_RETRY, false).unwrap();
        comes_up(&mut connection, 1, 1000);
        assert_eq!(connection.again_at(), None, "it was up long before bgpd answered");

        connection.table.peers.answered = true;
        connection.opened = now - Duration::from_secs(60);
        comes_up(&mut connection, 2, 1000);
        connection.table.peers.came_up = Some(now - Duration::from_secs(14));
        connection.last_bytes = now;
        assert_eq!(connection.again_at(), Some(now + Duration::from_secs(1)), "however much comes");
        comes_up(&mut connection, 3, 1000);
        assert!(connection.again_at() >= Some(now + SETTLED), "the second one starts the wait anew");

        let mut again = Connection::open(address, limits, FIRST_RETRY, true).unwrap();
        let young = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        assert!(again.reads_again() && again.again_at().is_none());
        comes_up(&mut again, 4, young as u32);
        assert!(again.again_at() >= Some(now + NEXT_AGAIN), "young, but read again only now");
    }
}
