//! The status socket: one line asks, one line of JSON answers, and the connection ends.
//!
//! `status` - what the feeder knows.
//! `barrier MS` - answers when all that zebra had sent by then is in VPP.
//! `drained NAME MS` - answers when no route uses the mirror NAME any more.
//! The latter two answer `"reached": false` when the time is over.

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

#[derive(Debug, PartialEq, Eq)]
pub enum Question {
    Status,
    Barrier,
    Drained(String),
}

pub struct Client {
    stream: UnixStream,
    line: Vec<u8>,
    pub question: Option<Question>,
    pub asked: Instant,
    pub until: Instant,
    /// Turns of the main loop that found zebra's stream empty since the question came.
    pub empty_turns: u32,
    answered: bool,
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
        let clients = self.clients.iter().filter(|client| client.question.is_none());
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
                    answered: false,
                });
            }
        }
        for client in &mut self.clients {
            client.read();
        }
        self.clients.retain(|client| !client.answered);
    }

    pub fn forget_answered(&mut self) {
        let now = Instant::now();
        self.clients.retain(|client| !client.answered && (client.question.is_some() || now < client.until));
    }
}

impl Client {
    fn read(&mut self) {
        if self.question.is_some() {
            return;
        }
        let mut chunk = [0; LINE_BYTES];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => self.answered = true,
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
                                self.answer("{\"error\":\"ask: status, barrier MS, or drained NAME MS\"}");
                            }
                        }
                    } else if self.line.len() <= LINE_BYTES {
                        continue;
                    } else {
                        self.answered = true;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.answered = true,
            }
            return;
        }
    }

    /// Answers; one that does not read its answer goes without.
    pub fn answer(&mut self, json: &str) {
        let _ = self.stream.set_nonblocking(false);
        let _ = self.stream.set_write_timeout(Some(Duration::from_millis(50)));
        let _ = self.stream.write_all(json.as_bytes()).and_then(|()| self.stream.write_all(b"\n"));
        self.answered = true;
    }
}

fn parse(line: &str) -> Option<(Question, Duration)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let time = |word: &str| word.parse().ok().map(Duration::from_millis);
    match words.as_slice() {
        ["status"] => Some((Question::Status, Duration::from_secs(5))),
        ["barrier", ms] => Some((Question::Barrier, time(ms)?)),
        ["drained", name, ms] => Some((Question::Drained((*name).to_string()), time(ms)?)),
        _ => None,
    }
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
            parse("drained lan0 1000"),
            Some((Question::Drained("lan0".to_string()), Duration::from_secs(1)))
        );
        for wrong in ["", "barrier", "barrier soon", "drained lan0", "status 1", "barrier -1"] {
            assert_eq!(parse(wrong), None, "{}", wrong);
        }
    }

    #[test]
    fn text_in_an_answer_is_escaped() {
        assert_eq!(Json::new().text("a", "x\"\\\n").number("b", 1).end(), "{\"a\":\"x\\\"\\\\\\u000a\",\"b\":1}");
    }
}
