//! The main loop, in one thread: bgpd's stream into the table, and the clients' questions.
//!
//! A search occupies the loop until it ends (see docs/bgp-index.md). bgpd does not wait for it: it writes when the
//! socket has room, and stores only which prefixes changed.

use crate::bgpd::{Bgpd, Listener};
use crate::clients::{Client, Clients};
use crate::json::{list, Json};
use crate::poll::{wait, PollFd, POLLERR, POLLHUP, POLLIN};
use crate::question::{parse, Question, Search};
use crate::search;
use crate::table::{prefixes, Limits, Table};
use crate::Options;
use std::io;
use std::time::{Duration, Instant};

const LONGEST_SLEEP: Duration = Duration::from_secs(60);

pub struct Index {
    options: Options,
    limits: Limits,
    bgpd: Bgpd,
    clients: Clients,
    /// The last search.
    asked: Instant,
    /// The state, and since when.
    state: (&'static str, Instant),
}

impl Index {
    pub fn new(options: Options) -> io::Result<Index> {
        let now = Instant::now();
        Ok(Index {
            limits: Limits { paths: options.most, bytes: options.most_bytes },
            bgpd: Bgpd::Idle,
            clients: Clients::bind(&options.socket)?,
            asked: now,
            state: ("idle", now),
            options,
        })
    }

    /// Runs until the process ends.
    pub fn run(&mut self) -> io::Result<()> {
        loop {
            self.sleep()?;
            self.bgpd.read(self.options.bmp);
            self.clients.turn();
            let now = Instant::now();
            if self.bgpd.state() != "idle" {
                if now >= self.asked + self.options.idle {
                    self.bgpd.release();
                } else {
                    self.bgpd.connect(&self.listener(), self.limits, now);
                }
            }
            self.note_state(now);
            let mut clients = std::mem::take(&mut self.clients.clients);
            for client in &mut clients {
                self.serve(client, now);
            }
            self.clients.clients = clients;
            // One that ended when it had asked is not heard of again: it would stay until its time is over.
            self.clients.forget_finished(now);
        }
    }

    fn listener(&self) -> Listener {
        Listener { address: self.options.bmp, user: self.options.bmp_user }
    }

    fn note_state(&mut self, now: Instant) {
        if self.bgpd.state() != self.state.0 {
            self.state = (self.bgpd.state(), now);
        }
    }

    fn sleep(&mut self) -> io::Result<()> {
        let mut fds: Vec<PollFd> = Vec::with_capacity(8);
        let bgpd = self.bgpd.fd().map(|fd| (fd, POLLIN));
        fds.extend(bgpd.into_iter().chain(self.clients.fds()).map(|(fd, events)| PollFd { fd, events, revents: 0 }));
        let now = Instant::now();
        let idle = Some(self.asked + self.options.idle).filter(|_| self.bgpd.state() != "idle");
        let deadlines = [self.bgpd.next_deadline(), self.clients.next_deadline(), idle];
        let until = deadlines.into_iter().flatten().min().unwrap_or(now + LONGEST_SLEEP);
        let left = until.saturating_duration_since(now).min(LONGEST_SLEEP);
        // Rounded up: waking a millisecond too early would be a wasted turn.
        let left_ms = left.as_millis() as i32 + i32::from(left.subsec_nanos() % 1_000_000 != 0);
        wait(&mut fds, left_ms)?;
        for ended in fds.iter().filter(|fd| fd.revents & (POLLHUP | POLLERR) != 0) {
            self.clients.hung_up(ended.fd);
        }
        Ok(())
    }

    /// Answers the questions that can be answered.
    fn serve(&mut self, client: &mut Client, now: Instant) {
        loop {
            if let Some((asked, until)) = &client.search {
                if self.bgpd.state() == "reading" && now < *until {
                    return;
                }
                client.answer(&self.search(asked, now));
            }
            match client.next_line() {
                None => return,
                Some(None) => client.answer(&error("ask: a question of 2047 bytes at most")),
                Some(Some(line)) => match parse(&line) {
                    Err(message) => client.answer(&error(&message)),
                    Ok(Question::Status) => client.answer(&self.status(now)),
                    Ok(Question::Release) => {
                        self.bgpd.release();
                        self.note_state(now);
                        client.answer(&self.status(now));
                    }
                    Ok(Question::Search(search)) => {
                        self.asked = now;
                        if self.bgpd.state() == "idle" {
                            self.bgpd.connect(&self.listener(), self.limits, now);
                            self.note_state(now);
                        }
                        let until = now + search.wait;
                        client.search = Some((search, until));
                    }
                },
            }
        }
    }

    fn search(&self, search: &Search, now: Instant) -> String {
        let json = self.state_json();
        match self.bgpd.table() {
            Some(table) => {
                let complete = self.bgpd.state() == "ready" && !table.truncated;
                let json = json
                    .raw("truncated", flag(table.truncated))
                    .number("read", table.paths() as u64)
                    .raw("complete", flag(complete));
                search::answer(table, search, now, json).end()
            }
            None => {
                let json = json.raw("truncated", "false").number("read", 0).raw("complete", "false");
                json.number("matching", 0).raw("rows", "[]").end()
            }
        }
    }

    fn state_json(&self) -> Json {
        let why = self.bgpd.why().map_or("null".to_string(), crate::json::quoted);
        Json::new().text("state", self.bgpd.state()).raw("why", &why).text("vrf", "default")
    }

    fn status(&self, now: Instant) -> String {
        let idle_s = (self.asked + self.options.idle).saturating_duration_since(now).as_secs().to_string();
        let none = Table::new(self.limits);
        let table = self.bgpd.table().unwrap_or(&none);
        let family = |routes: usize, paths: usize| {
            Json::new().number("routes", routes as u64).number("paths", paths as u64).end()
        };
        let neighbors: Vec<String> = table
            .peers
            .all()
            .iter()
            .map(|peer| {
                Json::new()
                    .text("address", &peer.name())
                    .number("as", table.peers.asn(peer).into())
                    .raw("up", flag(peer.up))
                    .number("ipv4", peer.paths[0] as u64)
                    .number("ipv6", peer.paths[1] as u64)
                    .end()
            })
            .collect();
        self.state_json()
            .raw("since_s", &format!("{:.3}", now.saturating_duration_since(self.state.1).as_secs_f64()))
            .raw("idle_s", if self.bgpd.state() == "idle" { "null" } else { &idle_s })
            .raw("ipv4", &family(prefixes(&table.v4), table.v4.len()))
            .raw("ipv6", &family(prefixes(&table.v6), table.v6.len()))
            .number("attributes", table.sets.len() as u64)
            .number("memory_bytes", table.memory_bytes() as u64)
            .raw("truncated", flag(table.truncated))
            .number("malformed", table.malformed)
            .raw("neighbors", &list(&neighbors))
            .end()
    }
}

fn flag(value: bool) -> &'static str {
    match value {
        true => "true",
        false => "false",
    }
}

fn error(message: &str) -> String {
    Json::new().text("error", message).end()
}
