//! Determines whether zebra has sent everything: it does not say so, but the kernel has the routes it installed.
//!
//! The kernel's routes are read as a dump, a little at a time, to find those of routing protocols that zebra has not
//! sent since it came back.

use crate::fpm::{kernel_route, Prefix};
use crate::netlink::*;
use crate::rib::Rib;
use crate::sys::Netlink;
use std::collections::HashSet;
use std::io;

const DUMP_BYTES: i32 = 8 << 20;
const BODY: usize = 12;
const DATAGRAMS_AT_ONCE: usize = 64;

/// The most routes that are remembered by name.
const NAMED: usize = 4096;

/// Routes of the kernel that zebra has not sent.
#[derive(Default)]
pub struct Untold {
    pub count: u64,
    /// All of them, unless there are too many.
    pub named: HashSet<Prefix>,
}

impl Untold {
    pub fn add(&mut self, prefix: Prefix) {
        // A route of several next hops may come as several.
        let is_new = if self.named.len() < NAMED { self.named.insert(prefix) } else { !self.named.contains(&prefix) };
        self.count += u64::from(is_new);
    }

    /// Whether there are more than those named.
    pub fn is_cut(&self) -> bool {
        self.count > self.named.len() as u64
    }

    /// Forgets the routes that zebra has sent by now.
    pub fn forget_told(&mut self, rib: &Rib) {
        let named = self.named.len();
        self.named.retain(|prefix| !rib.is_fresh(prefix));
        self.count -= (named - self.named.len()) as u64;
    }
}

pub struct KernelCheck {
    netlink: Netlink,
    family: u8,
    untold: Untold,
}

impl KernelCheck {
    pub fn start() -> io::Result<KernelCheck> {
        let netlink = Netlink::open(0, DUMP_BYTES)?;
        netlink.send(&dump_request(RTM_GETROUTE, AF_INET, BODY))?;
        Ok(KernelCheck { netlink, family: AF_INET, untold: Untold::default() })
    }

    pub fn fd(&self) -> i32 {
        self.netlink.fd()
    }

    /// Continues the dump; when it is complete, returns the routes that zebra has not sent.
    pub fn read(&mut self, rib: &Rib) -> io::Result<Option<Untold>> {
        let mut buffer = vec![0; 64 * 1024];
        for _ in 0..DATAGRAMS_AT_ONCE {
            let length = match self.netlink.receive(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            };
            for message in (Messages { rest: &buffer[..length] }) {
                match message.kind {
                    RTM_NEWROUTE => {
                        if let Some(prefix) = kernel_route(&message).filter(|prefix| !rib.is_fresh(prefix)) {
                            self.untold.add(prefix);
                        }
                    }
                    NLMSG_DONE if self.family == AF_INET => {
                        self.family = AF_INET6;
                        self.netlink.send(&dump_request(RTM_GETROUTE, AF_INET6, BODY))?;
                    }
                    NLMSG_DONE => return Ok(Some(std::mem::take(&mut self.untold))),
                    NLMSG_ERROR => return Err(io::Error::new(io::ErrorKind::Other, "the kernel refused the dump")),
                    _ => {}
                }
            }
        }
        Ok(None)
    }
}
