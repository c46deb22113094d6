//! poll(2), which std does not have.

use std::io;
use std::os::unix::io::RawFd;

pub const POLLIN: i16 = 0x001;
pub const POLLOUT: i16 = 0x004;
pub const POLLERR: i16 = 0x008;
pub const POLLHUP: i16 = 0x010;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PollFd {
    pub fd: RawFd,
    pub events: i16,
    pub revents: i16,
}

extern "C" {
    fn poll(fds: *mut PollFd, count: u64, timeout_ms: i32) -> i32;
}

/// Waits until one of `fds` is ready or the time is over.
pub fn wait(fds: &mut [PollFd], timeout_ms: i32) -> io::Result<()> {
    // SAFETY: the pointer and the count describe one live slice of a repr(C) struct.
    let ready = unsafe { poll(fds.as_mut_ptr(), fds.len() as u64, timeout_ms) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(())
}
