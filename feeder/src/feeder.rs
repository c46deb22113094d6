//! The main loop: zebra's stream into the RIB, the RIB into VPP, and the clients' questions.

use crate::fpm::{read_frame, Deframer};
use crate::lag::Lag;
use crate::lanes::{Answers, Vpp};
use crate::listing::Listing;
use crate::mirrors::Mirrors;
use crate::owner;
use crate::poll::{wait, PollFd, POLLERR, POLLHUP, POLLIN};
use crate::proof::Proof;
use crate::resync::Resync;
use crate::rib::Rib;
use crate::status::StatusSocket;
use crate::sys::say;
use std::io::{self, ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::io::AsRawFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const READ_AT_ONCE: usize = 512 * 1024;
const VPP_RETRY: Duration = Duration::from_millis(100);
const REFRESH: Duration = Duration::from_secs(5);
/// Link events come in bursts; one reading of the pairs serves a burst.
const REFRESH_AT_MOST: Duration = Duration::from_millis(20);
const ROUTE_RETRY: Duration = Duration::from_secs(2);
const LONGEST_SLEEP_MS: i32 = 100;

pub struct Options {
    pub fpm: SocketAddr,
    /// Who may be zebra; None for anybody.
    pub fpm_user: Option<u32>,
    pub vpp: PathBuf,
    pub status: PathBuf,
    pub namespace: Option<String>,
    pub lanes: usize,
    pub most_routes: u64,
}

/// zebra's connection, and the data of it and of earlier ones.
pub struct Zebra {
    listener: TcpListener,
    user: Option<u32>,
    stream: Option<TcpStream>,
    deframer: Deframer,
    buffer: Vec<u8>,
    pub since: Option<Instant>,
    pub last_bytes: Instant,
    pub connections: u64,
    pub bytes: u64,
    pub malformed: u64,
    /// Connections that were not zebra's.
    pub strangers: u64,
    /// The last reading found no more data.
    pub empty: bool,
    /// Routes that zebra sent before this connection are still marked.
    pub resync: bool,
}

pub struct Feeder {
    pub options: Options,
    pub started: Instant,
    pub zebra: Zebra,
    pub rib: Rib,
    pub listing: Listing,
    pub proof: Proof,
    pub mirrors: Mirrors,
    pub vpp: Option<Vpp>,
    pub vpp_since: Option<Instant>,
    pub vpp_lives: u64,
    pub vpp_error: String,
    pub answers: Answers,
    pub lag: Lag,
    pub swept: u64,
    pub resync: Resync,
    /// Mirrors whose vacancy a client gave up.
    pub given_back: Vec<u32>,
    pub status: StatusSocket,
    next_vpp: Instant,
    next_refresh: Instant,
    earliest_refresh: Instant,
    next_retry: Instant,
}

impl Feeder {
    pub fn new(options: Options) -> io::Result<Feeder> {
        let listener = TcpListener::bind(options.fpm)?;
        listener.set_nonblocking(true)?;
        let now = Instant::now();
        Ok(Feeder {
            started: now,
            zebra: Zebra {
                listener,
                user: options.fpm_user,
                stream: None,
                deframer: Deframer::default(),
                buffer: vec![0; 256 * 1024],
                since: None,
                last_bytes: now,
                connections: 0,
                bytes: 0,
                malformed: 0,
                strangers: 0,
                empty: true,
                resync: true,
            },
            rib: Rib::holding(options.most_routes),
            listing: Listing::default(),
            proof: Proof::new(now),
            mirrors: Mirrors::open(options.namespace.clone())?,
            vpp: None,
            vpp_since: None,
            vpp_lives: 0,
            vpp_error: String::from("not connected yet"),
            answers: Answers::default(),
            lag: Lag::new(),
            swept: 0,
            resync: Resync::new(now),
            given_back: Vec::new(),
            status: StatusSocket::bind(&options.status)?,
            next_vpp: now,
            next_refresh: now,
            earliest_refresh: now,
            next_retry: now,
            options,
        })
    }

    /// Runs until the process ends. Routes in VPP stay there.
    pub fn run(&mut self) -> io::Result<()> {
        loop {
            let vpp_hung_up = self.sleep()?;
            self.zebra.accept(&mut self.rib);
            self.zebra.read(&mut self.rib);
            let regrouped = self.rib.settle();
            if let Some(vpp) = &mut self.vpp {
                vpp.regroup(&regrouped);
            }
            self.mirrors.hear();
            let now = Instant::now();
            let turned = if vpp_hung_up { Err(ErrorKind::ConnectionReset.into()) } else { self.turn_vpp(now) };
            if let Err(error) = turned {
                self.lose_vpp(now, &error);
            }
            if self.zebra.resync && self.resync.is_over(&self.zebra, &self.rib, now) {
                self.swept += self.rib.sweep();
                self.zebra.resync = false;
            }
            self.lag.observe(now, self.rib.queued, self.rib.pending());
            if let Err(error) = self.answer(now) {
                self.lose_vpp(now, &error);
            }
        }
    }

    /// Waits for work; true when VPP closed a connection.
    fn sleep(&mut self) -> io::Result<bool> {
        let mut fds: Vec<PollFd> = Vec::with_capacity(16);
        let mut add = |fd, events| fds.push(PollFd { fd, events, revents: 0 });
        add(self.zebra.listener.as_raw_fd(), POLLIN);
        add(self.mirrors.fd(), POLLIN);
        if let Some(stream) = &self.zebra.stream {
            add(stream.as_raw_fd(), POLLIN);
        }
        if let Some(fd) = self.resync.fd() {
            add(fd, POLLIN);
        }
        for (fd, events) in self.status.fds() {
            add(fd, events);
        }
        let mut timeout_ms = LONGEST_SLEEP_MS;
        if self.status.somebody_waits() || self.mirrors.changed {
            timeout_ms = 5;
        }
        if self.status.somebody_views() {
            timeout_ms = 1;
        }
        if let Some(vpp) = &self.vpp {
            if self.rib.pending() > self.rib.in_flight() && vpp.has_room() {
                timeout_ms = 0;
            } else if self.rib.in_flight() > 0 {
                // VPP answers each route with a system call of its own. Waking for each answer would cost both sides
                // more than the route does, so answers accumulate.
                timeout_ms = 1;
            }
        }
        if self.rib.pending() == 0 && self.vpp.as_ref().map_or(false, |vpp| !vpp.marked) {
            timeout_ms = timeout_ms.min(self.proof.idle(Instant::now()).as_millis() as i32 + 1);
        }
        let others = fds.len();
        if let Some(vpp) = &self.vpp {
            // Data is always left unread there: only the end of the stream is reported.
            fds.extend(vpp.fds().into_iter().map(|fd| PollFd { fd, events: 0, revents: 0 }));
        }
        wait(&mut fds, timeout_ms)?;
        Ok(fds[others..].iter().any(|fd| fd.revents & (POLLHUP | POLLERR) != 0))
    }

    fn turn_vpp(&mut self, now: Instant) -> io::Result<()> {
        if self.vpp.is_none() {
            if now < self.next_vpp {
                return Ok(());
            }
            self.next_vpp = now + VPP_RETRY;
            let vpp = Vpp::open(&self.options.vpp, self.options.lanes, &mut self.mirrors)?;
            self.vpp = Some(vpp);
            self.vpp_since = Some(now);
            self.vpp_lives += 1;
            self.vpp_error.clear();
            self.next_refresh = now + REFRESH;
            self.proof.begin_anew(now);
        }
        let vpp = match &mut self.vpp {
            Some(vpp) => vpp,
            None => return Ok(()),
        };
        vpp.receive(&mut self.rib, &mut self.answers)?;
        if (self.mirrors.changed && now >= self.earliest_refresh) || now >= self.next_refresh {
            vpp.refresh(&mut self.mirrors, &mut self.rib)?;
            self.earliest_refresh = now + REFRESH_AT_MOST;
            self.next_refresh = now + REFRESH;
        }
        if now >= self.next_retry {
            self.next_retry = now + ROUTE_RETRY;
            self.rib.retry();
        }
        vpp.pin(&self.mirrors, &mut self.rib)?;
        vpp.send(&mut self.rib, &self.mirrors)?;
        if vpp.marked && !self.zebra.resync && self.rib.pending() == 0 {
            vpp.sweep(&self.mirrors)?;
        }
        // Before the sweep, routes of an earlier feeder may substitute for those that were given.
        if !vpp.marked && self.rib.pending() == 0 {
            let due = self.proof.due(&self.rib, now);
            let same = vpp.compare(&self.rib, &self.mirrors, &due)?;
            for (handle, same) in due.into_iter().zip(same) {
                if self.proof.judge(handle, same, now) {
                    self.rib.enqueue(handle);
                }
            }
        }
        Ok(())
    }

    fn lose_vpp(&mut self, now: Instant, error: &io::Error) {
        if self.vpp.take().is_some() {
            say(&format!("VPP is gone: {}", error));
            self.vpp_since = None;
            self.rib.vpp_is_new();
        } else if self.vpp_error != error.to_string() {
            say(&format!("VPP at {}: {}", self.options.vpp.display(), error));
        }
        self.vpp_error = error.to_string();
        self.next_vpp = now + VPP_RETRY;
    }
}

impl Zebra {
    fn accept(&mut self, rib: &mut Rib) {
        while let Ok((stream, theirs)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            // Before the connection of zebra is given up for it.
            let known = stream.local_addr().and_then(|ours| owner::connects(ours, theirs, self.user));
            if let Err(error) = known {
                self.strangers += 1;
                if self.strangers.is_power_of_two() {
                    say(&format!("refused connection {} to FPM, from {}: {}", self.strangers, theirs, error));
                }
                continue;
            }
            if self.stream.is_some() {
                self.lose(rib);
            }
            let now = Instant::now();
            self.stream = Some(stream);
            self.since = Some(now);
            self.last_bytes = now;
            self.connections += 1;
            self.resync = true;
        }
    }

    fn lose(&mut self, rib: &mut Rib) {
        self.stream = None;
        self.since = None;
        self.deframer.clear();
        self.empty = true;
        rib.mark_stale();
    }

    fn read(&mut self, rib: &mut Rib) {
        let mut budget = READ_AT_ONCE;
        while let Some(stream) = &mut self.stream {
            match stream.read(&mut self.buffer) {
                Ok(0) => return self.lose(rib),
                Ok(length) => {
                    self.empty = false;
                    self.bytes += length as u64;
                    self.last_bytes = Instant::now();
                    self.deframer.push(&self.buffer[..length]);
                    if !self.take_frames(rib) {
                        say("what is connected does not speak FPM; giving it up");
                        return self.lose(rib);
                    }
                    budget = budget.saturating_sub(length);
                    if budget == 0 {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.empty = true;
                    return;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.lose(rib),
            }
        }
        self.empty = true;
    }

    fn take_frames(&mut self, rib: &mut Rib) -> bool {
        loop {
            match self.deframer.next_frame() {
                Ok(Some(frame)) => {
                    if !read_frame(frame, |event| rib.take(event)) {
                        self.malformed += 1;
                    }
                }
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }
}
