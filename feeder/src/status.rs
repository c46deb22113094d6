//! The status socket: one line is a question, one line of JSON the answer.
//!
//! `status` - what the feeder knows.
//! `barrier MS` - answers when everything that zebra had sent by then is in VPP.
//! `vacate NAME MS` - from now on no route uses the mirror NAME; answers when VPP has none that does. That holds
//! until the connection ends: by then the client has removed the mirror, or has given up, or is dead.
//! `again PREFIX [TABLE]` - gives the route to VPP again, whatever was given before; TABLE 0 is the main one.
//! `most COUNT` - VPP gets no more routes than that, of both families together; the routes that it already has stay.
//! `routes FAMILY [table=N] [within=PREFIX] [protocol=N] [via=ADDRESS] [missing] [offset=N] [limit=N]` - a page of
//! the routes in the order of their prefixes. FAMILY is ipv4 or ipv6, a protocol one of RTPROT_*, `missing` those
//! that VPP does not have as zebra wants them; a page has 1000 routes at most.
//! `protocols [TABLE]` - how many routes of each family and protocol there are, and how many of them VPP has.
//! After all but `vacate` the connection ends. `barrier` and `vacate` answer `"reached": false` when the time is
//! over.

use crate::listing::Progress;
use crate::mark::Mark;
use crate::poll::{POLLIN, POLLOUT};
use crate::question::{parse, Question};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::io::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

const LINE_BYTES: usize = 256;
const CLIENTS: usize = 64;
const LONGEST: Duration = Duration::from_secs(600);
/// The time for a question to arrive, and for an answer to be read.
const PATIENCE: Duration = Duration::from_secs(5);
const WRONG: &str = "{\"error\":\"ask: status, barrier MS, vacate NAME MS, again PREFIX TABLE, most COUNT, \
                     routes FAMILY, or protocols TABLE\"}";

pub struct Client {
    stream: UnixStream,
    line: Vec<u8>,
    pub question: Option<Question>,
    pub asked: Instant,
    pub until: Instant,
    /// Turns of the main loop that found zebra's stream empty since the question arrived.
    pub empty_turns: u32,
    /// The life of VPP in which the mirror was vacated.
    pub prepared: Option<u64>,
    /// The changes that have to be in VPP before this is answered.
    pub mark: Option<Mark>,
    /// The mirror that it keeps vacant, by Linux's index.
    pub vacated: Option<u32>,
    /// What was worked out of its view, and when last.
    pub progress: Progress,
    pub served: Instant,
    answered: bool,
    /// The part of the answer that the socket has not accepted yet.
    unwritten: Vec<u8>,
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

    /// The descriptor to wait for, and its events.
    pub fn fds(&self) -> Vec<(RawFd, i16)> {
        let clients = self.clients.iter().filter_map(|client| Some((client.stream.as_raw_fd(), client.events()?)));
        clients.chain([(self.listener.as_raw_fd(), POLLIN)]).collect()
    }

    /// Accepts new clients and reads their questions; an invalid one is answered at once.
    pub fn read(&mut self) {
        for _ in 0..CLIENTS {
            match self.listener.accept() {
                Ok((stream, _)) if stream.set_nonblocking(true).is_ok() => self.take(stream),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        for client in &mut self.clients {
            client.read();
        }
    }

    /// Where there are too many clients, closes the one that has been idle, or has not read its answer, for longest.
    fn take(&mut self, stream: UnixStream) {
        if self.clients.len() >= CLIENTS {
            match self.clients.iter().position(|client| !client.is_open() && !client.holds()) {
                Some(idle) => drop(self.clients.remove(idle)),
                None => return,
            }
        }
        self.clients.push(Client::new(stream));
    }

    /// Whether a question is open that time or VPP may answer at any moment.
    pub fn somebody_waits(&self) -> bool {
        self.clients.iter().any(Client::is_open)
    }

    /// Whether a view is being worked out.
    pub fn somebody_views(&self) -> bool {
        self.clients.iter().any(Client::views)
    }

    /// The client whose view is worked out next: the one that waited longest since its last slice.
    pub fn next_view(&self) -> Option<usize> {
        let views = self.clients.iter().enumerate().filter(|(_, client)| client.views());
        views.min_by_key(|(_, client)| client.served).map(|(at, _)| at)
    }

    /// Whether a client keeps the mirror vacant.
    pub fn keeps(&self, ifindex: u32) -> bool {
        self.clients.iter().any(|client| client.vacated == Some(ifindex))
    }

    /// Closes finished connections; returns the mirrors that they kept vacant.
    pub fn forget_answered(&mut self) -> Vec<u32> {
        let now = Instant::now();
        let mut readmitted = Vec::new();
        self.clients.retain(|client| {
            let stays = client.stays(now);
            if !stays {
                readmitted.extend(client.vacated);
            }
            stays
        });
        readmitted
    }
}

impl Client {
    pub fn new(stream: UnixStream) -> Client {
        let now = Instant::now();
        Client {
            stream,
            line: Vec::new(),
            question: None,
            asked: now,
            until: now + PATIENCE,
            empty_turns: 0,
            prepared: None,
            mark: None,
            vacated: None,
            progress: Progress::default(),
            served: now,
            answered: false,
            unwritten: Vec::new(),
            gone: false,
        }
    }

    /// It was answered, and keeps a mirror vacant until its connection ends.
    fn holds(&self) -> bool {
        self.answered && self.vacated.is_some()
    }

    /// Whether its question is open.
    pub fn waits(&self) -> bool {
        !self.answered && !self.gone
    }

    fn views(&self) -> bool {
        self.waits() && self.question.as_ref().map_or(false, Question::is_view)
    }

    fn is_open(&self) -> bool {
        self.question.is_some() && self.waits()
    }

    fn stays(&self, now: Instant) -> bool {
        let is_due = if self.answered { !self.unwritten.is_empty() } else { self.question.is_none() };
        !self.gone && (self.holds() || self.is_open() || (is_due && now < self.until))
    }

    /// Which events to wait for; None while its question is open.
    fn events(&self) -> Option<i16> {
        if !self.unwritten.is_empty() {
            Some(POLLOUT)
        } else if self.is_open() {
            None
        } else {
            Some(POLLIN)
        }
    }

    fn read(&mut self) {
        let mut chunk = [0; LINE_BYTES];
        if !self.unwritten.is_empty() {
            return self.write();
        }
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
                            None => self.answer(WRONG),
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

    /// Answers. The part that the socket does not accept now is written later, without waiting for it.
    pub fn answer(&mut self, json: &str) {
        self.answered = true;
        self.until = Instant::now() + PATIENCE;
        self.unwritten = json.as_bytes().to_vec();
        self.unwritten.push(b'\n');
        self.write();
    }

    fn write(&mut self) {
        let mut written = 0;
        while written < self.unwritten.len() {
            match self.stream.write(&self.unwritten[written..]) {
                Ok(0) => self.gone = true,
                Ok(length) => {
                    written += length;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => self.gone = true,
            }
            break;
        }
        self.unwritten.drain(..written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Client, UnixStream) {
        let (own, other) = UnixStream::pair().expect("a pair of sockets");
        own.set_nonblocking(true).expect("an option");
        (Client::new(own), other)
    }

    #[test]
    fn a_long_answer_goes_out_as_it_is_read_and_nobody_waits_for_the_reader() {
        let (mut client, mut other) = pair();
        let json = "x".repeat(8 << 20);
        client.answer(&json);
        assert_eq!(client.events(), Some(POLLOUT), "the socket does not hold all of it");
        let mut read = Vec::new();
        let mut chunk = vec![0; 1 << 20];
        while read.last() != Some(&b'\n') {
            assert!(client.unwritten.is_empty() || client.stays(Instant::now()));
            let length = other.read(&mut chunk).expect("some of it");
            read.extend_from_slice(&chunk[..length]);
            client.read();
        }
        assert_eq!(read.len(), json.len() + 1);
        assert!(!client.stays(Instant::now()), "it was told");
    }

    #[test]
    fn one_who_never_reads_is_given_up() {
        let (mut client, _other) = pair();
        client.answer(&"x".repeat(8 << 20));
        assert!(client.stays(Instant::now()));
        assert!(!client.stays(Instant::now() + PATIENCE * 2));
    }

    #[test]
    fn whoever_asks_nothing_makes_room_for_the_next_one() {
        let (own, _other) = UnixStream::pair().expect("a pair of sockets");
        let path = std::env::temp_dir().join(format!("feeder-status-{}", std::process::id()));
        let mut socket = StatusSocket::bind(&path).expect("a socket");
        fs::remove_file(&path).expect("it was there");
        let mut open = Client::new(own);
        open.question = Some(Question::Barrier);
        socket.clients.push(open);
        let silent: Vec<UnixStream> = (0..2 * CLIENTS)
            .map(|_| {
                let (own, other) = UnixStream::pair().expect("a pair of sockets");
                socket.take(own);
                other
            })
            .collect();
        assert_eq!(socket.clients.len(), CLIENTS);
        assert!(socket.clients[0].is_open(), "who waits for an answer stays");
        let mut last = silent.last().expect("many");
        last.set_nonblocking(true).expect("an option");
        assert_eq!(last.read(&mut [0]).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    }
}
