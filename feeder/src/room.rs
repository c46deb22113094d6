//! Routes that are given once more: those that VPP refused, that waited, that it had no room for, or that a client
//! asks for.

use crate::fpm::Prefix;
use crate::nexthop::GroupId;
use crate::rib::{Handle, Rib};
use crate::table::*;

impl Rib {
    /// Queues again the routes that VPP refused or that wait for an interface or a next hop, and those for which
    /// there is room again.
    pub fn retry(&mut self) {
        let mut room = self.room();
        self.requeue(|flags, _, _| {
            if flags & HELD != HELD {
                return flags & HELD != 0;
            }
            let fits = room > 0;
            room -= u64::from(fits);
            fits
        });
    }

    /// The number of routes that may still be given if everything in flight adds one.
    pub fn room(&self) -> u64 {
        self.most.saturating_sub(self.given + self.in_flight())
    }

    /// Gives VPP a route again, whatever it answered before. False if zebra wants no such route.
    pub fn again(&mut self, prefix: &Prefix) -> bool {
        match self.find(prefix) {
            Some(handle) if self.flags(handle) & WANTED != 0 => {
                self.enqueue(handle);
                true
            }
            _ => false,
        }
    }

    /// VPP has a route of this prefix independently of zebra; `has` is whether zebra wants it.
    pub fn kept(&mut self, handle: Handle, has: bool) {
        self.sent(handle);
        self.done(handle, has, true);
    }

    /// The group of a route that zebra wants.
    pub fn wanted(&self, prefix: &Prefix) -> Option<GroupId> {
        let handle = self.find(prefix).filter(|handle| self.flags(*handle) & WANTED != 0)?;
        Some(if handle.v6() { self.v6.entry(handle.at()).group } else { self.v4.entry(handle.at()).group })
    }

    pub(crate) fn flags(&self, handle: Handle) -> u8 {
        if handle.v6() {
            self.v6.entry(handle.at()).flags
        } else {
            self.v4.entry(handle.at()).flags
        }
    }

    #[cfg(test)]
    pub fn is_held(&self, prefix: &Prefix) -> bool {
        self.find(prefix).map_or(false, |handle| self.flags(handle) & HELD == HELD)
    }
}
