//! The socket: one line is a question, one line of JSON the answer, as often as a client likes.
//!
//! `status` - the progress of the index. It does not connect to bgpd.
//! `search FAMILY KEY=VALUE ...` - paths, by their attributes (`question.rs`).
//! `release` - disconnects from bgpd and frees all data.

use crate::poll::{POLLIN, POLLOUT};
use crate::question::Search;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::io::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

const LINE_BYTES: usize = 2048;
const CLIENTS: usize = 64;
/// The time for a question to arrive, and for an answer to be read.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Client {
    stream: UnixStream,
    line: Vec<u8>,
    /// The part of the answer that the socket has not accepted yet.
    unwritten: Vec<u8>,
    /// An unanswered search, and the latest time to answer it.
    pub search: Option<(Search, Instant)>,
    until: Instant,
    /// The client will not ask anything more.
    ended: bool,
    gone: bool,
}

pub struct Clients {
    listener: UnixListener,
    pub clients: Vec<Client>,
}

impl Clients {
    pub fn bind(path: &Path) -> io::Result<Clients> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o660))?;
        listener.set_nonblocking(true)?;
        Ok(Clients { listener, clients: Vec::new() })
    }

    /// The descriptor to wait for, and its events.
    pub fn fds(&self) -> Vec<(RawFd, i16)> {
        let clients = self.clients.iter().map(|client| (client.stream.as_raw_fd(), client.events()));
        clients.chain([(self.listener.as_raw_fd(), POLLIN)]).collect()
    }

    /// Accepts new clients, reads their questions and writes their answers.
    pub fn turn(&mut self) {
        for _ in 0..CLIENTS {
            match self.listener.accept() {
                Ok((stream, _)) if stream.set_nonblocking(true).is_ok() => self.take(stream),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        let now = Instant::now();
        for client in &mut self.clients {
            client.write();
            client.read();
        }
        self.forget_finished(now);
    }

    /// Closes the connections of clients that need nothing more.
    pub fn forget_finished(&mut self, now: Instant) {
        self.clients.retain(|client| client.stays(now));
    }

    /// Where there are too many clients, closes the one that has been idle longest.
    fn take(&mut self, stream: UnixStream) {
        if self.clients.len() >= CLIENTS {
            match self.clients.iter().position(|client| client.search.is_none()) {
                Some(idle) => drop(self.clients.remove(idle)),
                None => return,
            }
        }
        self.clients.push(Client::new(stream));
    }

    /// Nobody receives an answer over this socket any more.
    pub fn hung_up(&mut self, fd: RawFd) {
        for client in self.clients.iter_mut().filter(|client| client.stream.as_raw_fd() == fd) {
            client.gone = true;
        }
    }

    /// When the next client has to be answered or dropped.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.clients.iter().map(|client| client.search.as_ref().map_or(client.until, |(_, until)| *until)).min()
    }
}

impl Client {
    fn new(stream: UnixStream) -> Client {
        Client {
            stream,
            line: Vec::new(),
            unwritten: Vec::new(),
            search: None,
            until: Instant::now() + PATIENCE,
            ended: false,
            gone: false,
        }
    }

    fn stays(&self, now: Instant) -> bool {
        let is_asking = self.search.is_some() || self.line.contains(&b'\n') || !self.unwritten.is_empty();
        !self.gone && (is_asking || !self.ended) && (self.search.is_some() || now < self.until)
    }

    fn events(&self) -> i16 {
        if !self.unwritten.is_empty() {
            POLLOUT
        } else if self.search.is_some() || self.ended {
            0
        } else {
            POLLIN
        }
    }

    fn read(&mut self) {
        let mut chunk = [0; LINE_BYTES];
        while !self.ended && self.line.len() < LINE_BYTES {
            match self.stream.read(&mut chunk[self.line.len()..]) {
                Ok(0) => self.ended = true,
                Ok(length) => self.line.extend_from_slice(&chunk[self.line.len()..][..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.gone = true;
                    return;
                }
            }
        }
    }

    /// The next question, once the previous one is answered; None in the middle where it is too long.
    pub fn next_line(&mut self) -> Option<Option<String>> {
        if self.search.is_some() || !self.unwritten.is_empty() || self.gone {
            return None;
        }
        match self.line.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                let line = String::from_utf8_lossy(&self.line[..end]).into_owned();
                self.line.drain(..=end);
                self.read();
                Some(Some(line))
            }
            None if self.line.len() >= LINE_BYTES => {
                self.line.clear();
                self.ended = true;
                Some(None)
            }
            None => None,
        }
    }

    /// Answers. The part that the socket does not accept now is written later, without waiting for it.
    pub fn answer(&mut self, json: &str) {
        self.search = None;
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
        if self.unwritten.is_empty() {
            self.unwritten = Vec::new();
        }
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
    fn questions_that_come_at_once_are_answered_one_after_the_other() {
        let (mut client, mut other) = pair();
        other.write_all(b"one\ntwo\nthr").expect("room");
        client.read();
        assert_eq!(client.next_line(), Some(Some("one".to_string())));
        client.answer(&"x".repeat(8 << 20));
        assert_eq!(client.next_line(), None, "the answer is not written yet");
        assert_eq!(client.events(), POLLOUT);
        let mut read = 0;
        let mut chunk = vec![0; 1 << 20];
        while read <= 8 << 20 {
            read += other.read(&mut chunk).expect("some of it");
            client.write();
        }
        assert_eq!(client.next_line(), Some(Some("two".to_string())));
        assert_eq!(client.next_line(), None);
        other.write_all(b"ee\n").expect("room");
        client.read();
        assert_eq!(client.next_line(), Some(Some("three".to_string())));
    }

    #[test]
    fn a_client_that_ended_is_answered_before_it_goes() {
        let (mut client, other) = pair();
        (&other).write_all(b"one\n").expect("room");
        other.shutdown(std::net::Shutdown::Write).expect("it is open");
        client.read();
        assert!(client.stays(Instant::now()));
        assert_eq!(client.next_line(), Some(Some("one".to_string())));
        client.answer("{}");
        assert!(!client.stays(Instant::now()));
    }

    #[test]
    fn one_that_never_reads_or_never_asks_is_given_up() {
        let (mut client, _other) = pair();
        assert!(client.stays(Instant::now()) && !client.stays(Instant::now() + PATIENCE));
        client.answer(&"x".repeat(8 << 20));
        assert!(client.stays(Instant::now()) && !client.stays(Instant::now() + PATIENCE * 2));
    }

    #[test]
    fn a_question_without_an_end_is_not_gathered() {
        let (mut client, mut other) = pair();
        other.write_all(&[b'x'; 3 * LINE_BYTES]).expect("room");
        client.read();
        assert_eq!((client.line.len(), client.next_line()), (LINE_BYTES, Some(None)));
        client.answer("{}");
        assert!(!client.stays(Instant::now()));
    }
}
