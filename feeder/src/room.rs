//! What is given once more: what VPP refused, what waited, what it had no room for, what somebody asks for.

use crate::fpm::Prefix;
use crate::nexthop::GroupId;
use crate::rib::{Handle, Rib};
use crate::table::*;

impl Rib {
    /// Queues again what VPP refused or what waits for an interface or a next hop, and what there is room for again.
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

    /// Routes that may still be given, were everything on its way to become one more.
    pub fn room(&self) -> u64 {
        self.most.saturating_sub(self.given + self.in_flight())
    }

    /// Has VPP told again of a route, whatever it answered before. False if zebra wants no such route.
    pub fn again(&mut self, prefix: &Prefix) -> bool {
        match self.find(prefix) {
            Some(handle) if self.flags(handle) & WANTED != 0 => {
                self.enqueue(handle);
                true
            }
            _ => false,
        }
    }

    /// VPP has a route of this prefix whatever zebra says; `has` is whether zebra wants it.
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
