//! The user at the other end of a TCP connection on this machine, as the kernel reports it.
//!
//! Loopback is no guard: every program in the network namespace may connect to, or listen on, an address of it. The
//! kernel lists the user of each socket in /proc/self/net/tcp.

// Each of the two programs uses one of the two checks.
#![allow(dead_code)]

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, SocketAddrV4};

const ESTABLISHED: &str = "01";
const LISTENING: &str = "0A";

/// A user's number, by name or as a number. Raises a message for one that does not exist.
pub fn user(name: &str) -> Result<u32, String> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let text = fs::read_to_string("/etc/passwd").map_err(|error| format!("/etc/passwd: {}", error))?;
    number_of(&text, name).ok_or_else(|| format!("there is no user {}", name))
}

fn number_of(passwd: &str, name: &str) -> Option<u32> {
    let mut fields = passwd.lines().map(|line| line.split(':')).find(|fields| fields.clone().next() == Some(name))?;
    fields.nth(2)?.parse().ok()
}

/// Whether the socket that is connected from `theirs` to `ours` belongs to `wanted`; None accepts anybody.
pub fn connects(ours: SocketAddr, theirs: SocketAddr, wanted: Option<u32>) -> io::Result<()> {
    check(theirs, Some(ours), ESTABLISHED, wanted)
}

/// Whether the socket that listens on `address` belongs to `wanted`; None accepts anybody.
pub fn listens(address: SocketAddr, wanted: Option<u32>) -> io::Result<()> {
    check(address, None, LISTENING, wanted)
}

fn check(local: SocketAddr, remote: Option<SocketAddr>, state: &str, wanted: Option<u32>) -> io::Result<()> {
    let wanted = match wanted {
        None => return Ok(()),
        Some(wanted) => wanted,
    };
    match (local, owner(&fs::read_to_string("/proc/self/net/tcp")?, local, remote, state)) {
        (_, Some(found)) if found == wanted => Ok(()),
        (_, Some(found)) => Err(refusal(format!("it is user {}'s, not user {}'s", found, wanted))),
        (local, None) => Err(refusal(format!("the kernel lists no socket {} of IPv4", local))),
    }
}

fn refusal(why: String) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, why)
}

/// The user of a socket in the kernel's list.
fn owner(list: &str, local: SocketAddr, remote: Option<SocketAddr>, state: &str) -> Option<u32> {
    let local = written(local)?;
    let remote = match remote {
        None => None,
        Some(remote) => Some(written(remote)?),
    };
    list.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is = words.get(1) == Some(&local.as_str())
            && words.get(3) == Some(&state)
            && remote.as_ref().map_or(true, |remote| words.get(2) == Some(&remote.as_str()));
        if is { words.get(7)?.parse().ok() } else { None }
    })
}

/// An address as the list has it: the word in memory, in hexadecimal, and the port.
fn written(address: SocketAddr) -> Option<String> {
    match address {
        SocketAddr::V4(address) => Some(v4(address)),
        SocketAddr::V6(_) => None,
    }
}

fn v4(address: SocketAddrV4) -> String {
    format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_kernel_tells_whose_a_socket_is() {
        let own = fs::metadata("/proc/self").expect("this process").uid();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        assert!(listens(address, Some(own)).is_ok() && listens(address, None).is_ok());
        let why = listens(address, Some(own + 1)).expect_err("another user").to_string();
        assert_eq!(why, format!("it is user {}'s, not user {}'s", own, own + 1));

        let client = TcpStream::connect(address).expect("a connection");
        let (_accepted, theirs) = listener.accept().expect("it came");
        assert_eq!(theirs, client.local_addr().expect("its address"));
        assert!(connects(address, theirs, Some(own)).is_ok());
        assert!(connects(address, theirs, Some(own + 1)).is_err());
        drop(client);
        assert!(connects(address, ([127, 0, 0, 1], 1).into(), Some(own)).is_err(), "there is no such socket");
        assert!(listens(([127, 0, 0, 2], address.port()).into(), Some(own)).is_err(), "that is another address");
    }

    #[test]
    fn users_are_found_by_their_whole_name() {
        let text = "root:x:0:0:root:/root:/bin/bash\nfrr2:x:7:7::/:/x\nfrr:x:310:310::/nonexistent:/usr/sbin/nologin\nbad\n";
        assert_eq!(number_of(text, "frr"), Some(310));
        assert_eq!(number_of(text, "fr"), None);
        assert_eq!(number_of(text, "bad"), None);
        assert_eq!(user("4711"), Ok(4711));
        assert!(user("no such user").is_err());
    }
}
