//! A connection whose last byte received stays in the kernel's queue until more arrives.
//!
//! VPP 26.06 mistakes the end of a client's stream for "nothing to read" if the last failed system call of its thread
//! failed with EAGAIN, and keeps the socket. From 16 such sockets on its main loop never ends, and it neither answers
//! nor forwards. With unread data, the end of a socket is an error (ECONNRESET), on which VPP closes its side,
//! however this process ended.

use crate::sys::peek;
use std::io::{self, ErrorKind, Read};
use std::os::unix::io::AsRawFd;
use std::os::unix::net::UnixStream;

pub struct HeldStream {
    pub stream: UnixStream,
    /// The first byte in the queue was already counted as read.
    held: bool,
}

impl HeldStream {
    pub fn new(stream: UnixStream) -> HeldStream {
        HeldStream { stream, held: false }
    }

    /// The new data, without waiting; 0 at the end of the stream.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<std::ops::Range<usize>> {
        let length = peek(self.stream.as_raw_fd(), buffer, false)?;
        let known = usize::from(self.held);
        if length == 0 {
            return Ok(0..0);
        }
        if length == known {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.stream.read_exact(&mut buffer[..length - 1])?;
        self.held = true;
        // The last byte is still there because it was only peeked at.
        Ok(known..length)
    }

    /// One message after a header, from which `length` tells its size; waits for it.
    pub fn message<const HEAD: usize>(&mut self, length: impl Fn(&[u8; HEAD]) -> usize) -> io::Result<Vec<u8>> {
        if self.held {
            self.stream.read_exact(&mut [0])?;
            self.held = false;
        }
        let mut head = [0; HEAD];
        self.stream.read_exact(&mut head)?;
        let mut message = vec![0; length(&head)];
        if let Some((last, rest)) = message.split_last_mut() {
            self.stream.read_exact(rest)?;
            let mut one = [0];
            if peek(self.stream.as_raw_fd(), &mut one, true)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            *last = one[0];
            self.held = true;
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn pair() -> (HeldStream, UnixStream) {
        let (one, other) = UnixStream::pair().expect("a pair of sockets");
        (HeldStream::new(one), other)
    }

    fn read(stream: &mut HeldStream) -> Option<Vec<u8>> {
        let mut buffer = [0; 8];
        stream.receive(&mut buffer).ok().map(|range| buffer[range].to_vec())
    }

    #[test]
    fn every_byte_is_read_once_and_the_last_one_stays_in_the_kernel() {
        let (mut stream, mut other) = pair();
        assert_eq!(read(&mut stream), None);
        for part in [&b"abc"[..], b"d", b"efghijklm"] {
            other.write_all(part).expect("room");
            let mut all = Vec::new();
            while let Some(more) = read(&mut stream) {
                all.extend(more);
            }
            assert_eq!(all, part);
        }
        assert_eq!(peek(stream.stream.as_raw_fd(), &mut [0; 8], false).expect("one byte"), 1);
    }

    #[test]
    fn many_small_writes_are_read_as_one() {
        let (mut stream, mut other) = pair();
        for part in [b"ab", b"cd", b"ef"] {
            other.write_all(part).expect("room");
        }
        assert_eq!(read(&mut stream), Some(b"abcdef".to_vec()));
        other.write_all(b"gh").expect("room");
        assert_eq!(read(&mut stream), Some(b"gh".to_vec()));
    }

    #[test]
    fn messages_and_whatever_is_there_can_be_read_in_turns() {
        let (mut stream, mut other) = pair();
        let length = |head: &[u8; 1]| usize::from(head[0]);
        other.write_all(b"\x03abc\x02de").expect("room");
        assert_eq!(stream.message(length).expect("a message"), b"abc");
        assert_eq!(stream.message(length).expect("a message"), b"de");
        other.write_all(b"fg").expect("room");
        assert_eq!(read(&mut stream), Some(b"fg".to_vec()));
        other.write_all(b"\x01h").expect("room");
        assert_eq!(stream.message(length).expect("a message"), b"h");
    }

    #[test]
    fn the_other_end_sees_an_error_when_this_one_is_dropped() {
        let (mut stream, mut other) = pair();
        other.write_all(b"abc").expect("room");
        assert_eq!(read(&mut stream), Some(b"abc".to_vec()));
        drop(stream);
        assert_eq!(other.read(&mut [0; 8]).map_err(|error| error.kind()), Err(ErrorKind::ConnectionReset));
    }
}
