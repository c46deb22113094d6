//! Whether zebra has told everything it has: it does not say so, but the kernel has what it installed.
//!
//! The kernel's routes are read as a dump, a little at a time, and those of routing protocols that zebra has not told
//! of since it came back are counted. None means its walk is over.

use crate::fpm::kernel_route;
use crate::netlink::*;
use crate::rib::Rib;
use crate::sys::Netlink;
use std::io;

const DUMP_BYTES: i32 = 8 << 20;
const BODY: usize = 12;
const DATAGRAMS_AT_ONCE: usize = 64;

pub struct KernelCheck {
    netlink: Netlink,
    family: u8,
    missing: u64,
}

impl KernelCheck {
    pub fn start() -> io::Result<KernelCheck> {
        let netlink = Netlink::open(0, DUMP_BYTES)?;
        netlink.send(&dump_request(RTM_GETROUTE, AF_INET, BODY))?;
        Ok(KernelCheck { netlink, family: AF_INET, missing: 0 })
    }

    pub fn fd(&self) -> i32 {
        self.netlink.fd()
    }

    /// Reads on; when the dump is complete, how many routes zebra has not told of.
    pub fn read(&mut self, rib: &Rib) -> io::Result<Option<u64>> {
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
                        if let Some(prefix) = kernel_route(&message) {
                            self.missing += u64::from(!rib.is_fresh(&prefix));
                        }
                    }
                    NLMSG_DONE if self.family == AF_INET => {
                        self.family = AF_INET6;
                        self.netlink.send(&dump_request(RTM_GETROUTE, AF_INET6, BODY))?;
                    }
                    NLMSG_DONE => return Ok(Some(self.missing)),
                    NLMSG_ERROR => return Err(io::Error::new(io::ErrorKind::Other, "the kernel refused the dump")),
                    _ => {}
                }
            }
        }
        Ok(None)
    }
}
