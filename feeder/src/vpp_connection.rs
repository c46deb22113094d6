//! One connection to VPP's binary API over its Unix socket.
//!
//! Each message has a header of 16 bytes, of which the four in the middle are its length. VPP reads 4 KiB from a
//! connection in each turn of its main loop, some 18 routes; therefore routes go over several connections, and many
//! are in flight at once.

use crate::held_stream::HeldStream;
use crate::vpp_messages::{be32, text, Kind, KINDS, OPTIONAL};
use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind, Write};
use std::os::unix::io::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

const HEADER: usize = 16;
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// The only message with a fixed number: the table of the others comes with its reply.
const CREATE: u16 = 15;
/// Stands for the number of a message that VPP lacks; no message has it.
const ABSENT: u16 = u16::MAX;
const CHUNK: usize = 64 * 1024;
/// VPP answers a list for a millisecond at a time; this return value says that there is more, from its cursor on.
const GO_ON: i32 = -165;

pub struct Connection {
    stream: HeldStream,
    numbers: [u16; KINDS.len()],
    client_index: u32,
    out: Vec<u8>,
    written: usize,
    input: Vec<u8>,
    next_context: u32,
}

/// A message from VPP: its kind if the feeder knows it, its context, and the rest.
pub struct Answer {
    pub kind: Option<Kind>,
    pub context: u32,
    pub body: Vec<u8>,
}

impl Answer {
    /// The return value of a reply.
    pub fn retval(&self) -> i32 {
        be32(&self.body, 0).map_or(i32::MIN, |value| value as i32)
    }
}

fn broken(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

impl Connection {
    /// Connects and checks that VPP has every message in the layout that this program knows.
    pub fn open(path: &Path, name: &str) -> io::Result<Connection> {
        let mut stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(ANSWER_TIME))?;
        stream.set_write_timeout(Some(ANSWER_TIME))?;
        let mut hello = Vec::new();
        hello.extend_from_slice(&CREATE.to_be_bytes());
        hello.extend_from_slice(&[0; 4]);
        let mut field = name.as_bytes().to_vec();
        field.resize(64, 0);
        hello.extend_from_slice(&field);
        stream.write_all(&header(hello.len()))?;
        stream.write_all(&hello)?;
        let mut stream = HeldStream::new(stream);
        let reply = read_message(&mut stream)?;
        // Number, client index, context, response, index, count, then the table.
        if be32(&reply, 10).map_or(true, |response| (response as i32) < 0) {
            return Err(broken("VPP refused the connection"));
        }
        let client_index = be32(&reply, 14).ok_or_else(|| broken("VPP's greeting is too short"))?;
        let count = reply.get(18..20).map_or(0, |bytes| usize::from(u16::from_be_bytes([bytes[0], bytes[1]])));
        let table = reply.get(20..20 + count * 66).ok_or_else(|| broken("VPP's table of messages is too short"))?;
        let known: HashMap<String, u16> = table
            .chunks_exact(66)
            .map(|row| (text(&row[2..]), u16::from_be_bytes([row[0], row[1]])))
            .collect();
        let mut numbers = [0; KINDS.len()];
        for (kind, name) in KINDS {
            numbers[kind as usize] = match known.get(name) {
                Some(number) => *number,
                None if OPTIONAL.contains(&kind) && other(name, &known).is_none() => ABSENT,
                None => return Err(missing(name, &known)),
            };
        }
        Ok(Connection {
            stream,
            numbers,
            client_index,
            out: Vec::new(),
            written: 0,
            input: Vec::new(),
            next_context: 1,
        })
    }

    /// Whether VPP has this message; false only for one of a plugin that it lacks.
    pub fn has(&self, kind: Kind) -> bool {
        self.numbers[kind as usize] != ABSENT
    }

    pub fn fd(&self) -> RawFd {
        self.stream.stream.as_raw_fd()
    }

    pub fn set_nonblocking(&self) -> io::Result<()> {
        self.stream.stream.set_nonblocking(true)
    }

    /// Adds a request to the buffer; its context comes back with the reply.
    pub fn put(&mut self, kind: Kind, fields: impl FnOnce(&mut Vec<u8>)) -> u32 {
        let context = self.next_context;
        self.next_context = self.next_context.wrapping_add(1);
        let start = self.out.len();
        self.out.extend_from_slice(&[0; HEADER]);
        self.out.extend_from_slice(&self.numbers[kind as usize].to_be_bytes());
        self.out.extend_from_slice(&self.client_index.to_be_bytes());
        self.out.extend_from_slice(&context.to_be_bytes());
        fields(&mut self.out);
        let length = self.out.len() - start - HEADER;
        self.out[start..start + HEADER].copy_from_slice(&header(length));
        context
    }

    pub fn unwritten(&self) -> usize {
        self.out.len() - self.written
    }

    /// Writes as much as the socket accepts.
    pub fn flush(&mut self) -> io::Result<()> {
        while self.written < self.out.len() {
            match self.stream.stream.write(&self.out[self.written..]) {
                Ok(0) => return Err(broken("VPP closed the connection")),
                Ok(length) => self.written += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        } else if self.written > CHUNK {
            self.out.drain(..self.written);
            self.written = 0;
        }
        Ok(())
    }

    /// Passes every pending answer to `each`.
    pub fn receive(&mut self, mut each: impl FnMut(Answer)) -> io::Result<()> {
        let mut chunk = [0; CHUNK];
        loop {
            match self.stream.receive(&mut chunk) {
                Ok(new) if new.is_empty() => return Err(broken("VPP closed the connection")),
                Ok(new) => {
                    let full = new.end == CHUNK;
                    self.input.extend_from_slice(&chunk[new]);
                    self.take_answers(&mut each)?;
                    if !full {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take_answers(&mut self, each: &mut impl FnMut(Answer)) -> io::Result<()> {
        let mut at = 0;
        while self.input.len() - at >= HEADER {
            let length = be32(&self.input, at + 8).unwrap_or(0) as usize;
            let end = at + HEADER + length;
            if self.input.len() < end {
                break;
            }
            if let Some(answer) = self.answer(&self.input[at + HEADER..end]) {
                each(answer);
            }
            at = end;
        }
        self.input.drain(..at);
        Ok(())
    }

    fn answer(&self, message: &[u8]) -> Option<Answer> {
        let number = u16::from_be_bytes([*message.first()?, *message.get(1)?]);
        let at = self.numbers.iter().position(|known| *known == number);
        Some(Answer { kind: at.map(|at| KINDS[at].0), context: be32(message, 2)?, body: message.get(6..)?.to_vec() })
    }

    /// The reply to each of `items`, all in flight at once. For blocking connections.
    pub fn ask_each<T>(
        &mut self,
        request: Kind,
        reply: Kind,
        items: &[T],
        fields: impl Fn(&mut Vec<u8>, &T),
    ) -> io::Result<Vec<Answer>> {
        let contexts: Vec<u32> = items.iter().map(|item| self.put(request, |out| fields(out, item))).collect();
        self.flush()?;
        let mut answers = Vec::with_capacity(contexts.len());
        while answers.len() < contexts.len() {
            let message = read_message(&mut self.stream)?;
            let answer = self.answer(&message).filter(|answer| answer.kind == Some(reply));
            answers.extend(answer.filter(|answer| answer.context == contexts[answers.len()]));
        }
        Ok(answers)
    }

    /// The items of a list that VPP interrupts after a millisecond, and continues when it is asked from the returned
    /// cursor on. For blocking connections.
    pub fn ask_for_list(&mut self, request: Kind, last: Kind, item: Kind) -> io::Result<Vec<Vec<u8>>> {
        let mut items = Vec::new();
        let mut cursor = 0;
        loop {
            let answers = self.ask(request, last, |out| out.extend_from_slice(&u32::to_be_bytes(cursor)))?;
            let go_on = answers.last().filter(|reply| reply.retval() == GO_ON).and_then(|reply| be32(&reply.body, 4));
            items.extend(answers.into_iter().filter(|answer| answer.kind == Some(item)).map(|answer| answer.body));
            match go_on {
                None => return Ok(items),
                Some(next) if next > cursor => cursor = next,
                Some(_) => return Err(broken("VPP does not go on with a list")),
            }
        }
    }

    /// One request and its answers up to the one of kind `last`, waiting for them. For blocking connections.
    pub fn ask(&mut self, request: Kind, last: Kind, fields: impl FnOnce(&mut Vec<u8>)) -> io::Result<Vec<Answer>> {
        let context = self.put(request, fields);
        // A dump has no final message of its own: the answer to a ping comes after all of them.
        let end = if last == Kind::ControlPingReply { self.put(Kind::ControlPing, |_| ()) } else { context };
        self.flush()?;
        let mut answers = VecDeque::new();
        loop {
            let message = read_message(&mut self.stream)?;
            if let Some(answer) = self.answer(&message) {
                let done = answer.kind == Some(last) && answer.context == end;
                if answer.context == context || done {
                    answers.push_back(answer);
                }
                if done {
                    return Ok(answers.into());
                }
            }
        }
    }
}

fn header(length: usize) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[8..12].copy_from_slice(&(length as u32).to_be_bytes());
    header
}

fn read_message(stream: &mut HeldStream) -> io::Result<Vec<u8>> {
    stream.message(|header: &[u8; HEADER]| be32(header, 8).unwrap_or(0) as usize)
}

/// A message of the same name with another checksum.
fn other<'a>(name: &str, known: &'a HashMap<String, u16>) -> Option<&'a String> {
    let plain = &name[..name.len() - 9];
    known.keys().find(|other| other.len() == name.len() && other.starts_with(plain))
}

fn missing(name: &str, known: &HashMap<String, u16>) -> io::Error {
    broken(match other(name, known) {
        Some(other) => format!("VPP has {other} where this feeder knows {name}: it was built for another VPP"),
        None => format!("VPP does not have {name}: is its plugin linux_cp loaded?"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// A connection to a VPP whose other end is the test; each kind's number is its position.
    fn connection() -> (Connection, UnixStream) {
        let (one, other) = UnixStream::pair().expect("a pair of sockets");
        let mut numbers = [0; KINDS.len()];
        for (kind, _) in KINDS {
            numbers[kind as usize] = kind as u16;
        }
        let connection = Connection {
            stream: HeldStream::new(one),
            numbers,
            client_index: 7,
            out: Vec::new(),
            written: 0,
            input: Vec::new(),
            next_context: 1,
        };
        (connection, other)
    }

    fn tell(vpp: &mut UnixStream, kind: Kind, context: u32, fields: &[u32]) {
        let mut message = (kind as u16).to_be_bytes().to_vec();
        for number in [&[context], fields].concat() {
            message.extend_from_slice(&number.to_be_bytes());
        }
        vpp.write_all(&header(message.len())).expect("room");
        vpp.write_all(&message).expect("room");
    }

    fn cursor_asked(vpp: &mut UnixStream, context: u32) -> u32 {
        let mut request = [0; HEADER + 14];
        vpp.read_exact(&mut request).expect("a request");
        assert_eq!(be32(&request, HEADER + 6), Some(context));
        be32(&request, HEADER + 10).expect("a cursor")
    }

    fn list(answers: &[(u32, i32, u32)]) -> io::Result<(Vec<u32>, Vec<u32>)> {
        let (mut connection, mut vpp) = connection();
        for (context, (item, retval, cursor)) in (1..).zip(answers) {
            tell(&mut vpp, Kind::PairDetails, context, &[*item]);
            tell(&mut vpp, Kind::PairGetReply, context, &[*retval as u32, *cursor]);
        }
        let found = connection.ask_for_list(Kind::PairGet, Kind::PairGetReply, Kind::PairDetails)?;
        let cursors = (1..).zip(answers).map(|(context, _)| cursor_asked(&mut vpp, context)).collect();
        Ok((found.iter().map(|body| be32(body, 0).expect("an item")).collect(), cursors))
    }

    #[test]
    fn a_list_that_vpp_interrupts_is_read_to_its_end() {
        let all = list(&[(11, GO_ON, 3), (12, GO_ON, 90), (13, 0, u32::MAX)]).expect("a list");
        assert_eq!(all, (vec![11, 12, 13], vec![0, 3, 90]));
    }

    #[test]
    fn a_list_of_one_part_is_asked_for_once() {
        assert_eq!(list(&[(11, 0, u32::MAX)]).expect("a list"), (vec![11], vec![0]));
    }

    #[test]
    fn a_list_that_does_not_go_on_is_an_error() {
        assert!(list(&[(11, GO_ON, 3), (11, GO_ON, 3)]).is_err());
    }
}
