//! The system calls that std does not have: netlink sockets, and peeking at a socket's data.

use std::io::{self, Write};
use std::mem::size_of;
use std::os::unix::io::RawFd;

const AF_NETLINK: i32 = 16;
const SOCK_RAW: i32 = 3;
const SOCK_CLOEXEC: i32 = 0o2000000;
const SOCK_NONBLOCK: i32 = 0o4000;
const NETLINK_ROUTE: i32 = 0;
const SOL_SOCKET: i32 = 1;
const SO_RCVBUFFORCE: i32 = 33;
const SO_RCVBUF: i32 = 8;
const MSG_PEEK: i32 = 0x02;
const MSG_DONTWAIT: i32 = 0x40;

#[repr(C)]
struct SockaddrNetlink {
    family: u16,
    padding: u16,
    port: u32,
    groups: u32,
}

extern "C" {
    fn socket(domain: i32, kind: i32, protocol: i32) -> i32;
    fn bind(fd: i32, address: *const SockaddrNetlink, length: u32) -> i32;
    fn send(fd: i32, buffer: *const u8, length: usize, flags: i32) -> isize;
    fn recv(fd: i32, buffer: *mut u8, length: usize, flags: i32) -> isize;
    fn setsockopt(fd: i32, level: i32, name: i32, value: *const i32, length: u32) -> i32;
    fn close(fd: i32) -> i32;
}

/// A line for the log. Unlike `eprintln`, it does not panic when the log accepts nothing any more.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "millrace-feeder: {}", line);
}

/// The data in a socket, without taking it; 0 at its end. Without `waiting`, `WouldBlock` when there is none.
pub fn peek(fd: RawFd, buffer: &mut [u8], waiting: bool) -> io::Result<usize> {
    let flags = if waiting { MSG_PEEK } else { MSG_PEEK | MSG_DONTWAIT };
    // SAFETY: pointer and length describe one live slice.
    let length = unsafe { recv(fd, buffer.as_mut_ptr(), buffer.len(), flags) };
    if length < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(length as usize)
}

/// A non-blocking socket of NETLINK_ROUTE in this process's network namespace.
pub struct Netlink {
    fd: RawFd,
}

impl Netlink {
    /// `groups` is the bit mask of RTMGRP_*; 0 receives only answers.
    pub fn open(groups: u32, receive_bytes: i32) -> io::Result<Netlink> {
        // SAFETY: plain integers.
        let fd = unsafe { socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let netlink = Netlink { fd };
        let address = SockaddrNetlink { family: AF_NETLINK as u16, padding: 0, port: 0, groups };
        // SAFETY: the address lives through the call and the length is its size.
        if unsafe { bind(fd, &address, size_of::<SockaddrNetlink>() as u32) } < 0 {
            return Err(io::Error::last_os_error());
        }
        for name in [SO_RCVBUF, SO_RCVBUFFORCE] {
            // SAFETY: the option's value is an int. Without the right to force, the smaller size stays.
            unsafe { setsockopt(fd, SOL_SOCKET, name, &receive_bytes, size_of::<i32>() as u32) };
        }
        Ok(netlink)
    }

    pub fn fd(&self) -> RawFd {
        self.fd
    }

    pub fn send(&self, message: &[u8]) -> io::Result<()> {
        // SAFETY: pointer and length describe one live slice.
        if unsafe { send(self.fd, message.as_ptr(), message.len(), 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// One datagram; `WouldBlock` when there is none, and `Other` (ENOBUFS) when some were lost.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: pointer and length describe one live slice.
        let length = unsafe { recv(self.fd, buffer.as_mut_ptr(), buffer.len(), 0) };
        if length < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(length as usize)
    }
}

impl Drop for Netlink {
    fn drop(&mut self) {
        // SAFETY: this struct owns the descriptor.
        unsafe { close(self.fd) };
    }
}
