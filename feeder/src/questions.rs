//! Answers to clients of the status socket, each when its condition has come true.

use crate::feeder::Feeder;
use crate::mark::Mark;
use crate::pages;
use crate::report;
use crate::json::Json;
use crate::listing::by_protocol;
use crate::question::Question;
use crate::status::Client;
use std::io;
use std::time::Instant;

const BUSY: &str = "{\"error\":\"too many views of the routes at once: ask again\"}";

impl Feeder {
    /// Answers the questions that can be answered. An error is VPP's: the connection to it is lost.
    pub fn answer(&mut self, now: Instant) -> io::Result<()> {
        self.status.read();
        self.listing.forget_unused(now);
        if self.status.clients.is_empty() {
            return Ok(());
        }
        let next_view = self.status.next_view();
        let mut clients = std::mem::take(&mut self.status.clients);
        let mut outcome = Ok(());
        if let Some(client) = next_view.and_then(|at| clients.get_mut(at)) {
            self.view(client, now);
        }
        for client in clients.iter_mut().filter(|client| client.waits()) {
            outcome = outcome.and(self.answer_one(client, now));
        }
        self.status.clients = clients;
        let done = self.status.forget_answered();
        for ifindex in std::mem::take(&mut self.given_back).into_iter().chain(done) {
            // Another client may have asked for it in the meantime.
            if !self.status.keeps(ifindex) {
                self.mirrors.readmit(ifindex);
            }
        }
        outcome
    }

    fn answer_one(&mut self, client: &mut Client, now: Instant) -> io::Result<()> {
        if self.zebra.empty {
            client.empty_turns += 1;
        }
        let reached = match &client.question {
            None => return Ok(()),
            Some(Question::Status) => {
                client.answer(&report::status(self, now));
                return Ok(());
            }
            Some(Question::Again(prefix)) => {
                let wanted = self.rib.again(prefix);
                client.answer(&report::again(wanted));
                return Ok(());
            }
            Some(Question::Most(count)) => {
                self.rib.most = *count;
                client.answer(&Json::new().raw("most_routes", &report::most(*count)).end());
                return Ok(());
            }
            Some(Question::Routes(_) | Question::Protocols(_)) => {
                if now >= client.until {
                    client.answer(BUSY);
                }
                return Ok(());
            }
            // The turn in which a question arrived may have read zebra before it.
            Some(Question::Barrier) => client.empty_turns > 1 && self.passed(client),
            Some(Question::Vacate(name)) => {
                let name = name.clone();
                self.vacate(client, &name)? && self.passed(client)
            }
        };
        if reached || now >= client.until {
            let waited = now.saturating_duration_since(client.asked).as_millis() as u64;
            client.answer(&report::barrier(reached, waited, self.rib.pending()));
            if !reached {
                // The client gave up waiting: routes use the mirror again.
                self.given_back.extend(client.vacated.take());
            }
        }
        Ok(())
    }

    /// One slice of a client's view: routes are carried between two of them.
    fn view(&mut self, client: &mut Client, now: Instant) {
        client.served = now;
        let answer = match &client.question {
            Some(Question::Routes(wanted)) => {
                let page = self.listing.page(&self.rib, wanted, &mut client.progress, now);
                page.map(|page| pages::routes(&self.rib, &self.mirrors, &page))
            }
            Some(Question::Protocols(table)) => {
                by_protocol(&self.rib, *table, &mut client.progress).map(|counts| pages::protocols(&counts))
            }
            _ => None,
        };
        if let Some(answer) = answer {
            client.answer(&answer);
        }
    }

    /// Whether VPP has everything that was queued when this was first asked for the client.
    fn passed(&mut self, client: &mut Client) -> bool {
        let vpp = match &self.vpp {
            Some(vpp) => vpp,
            None => return false,
        };
        let rib = &self.rib;
        let mark = client.mark.get_or_insert_with(|| Mark::here(rib, self.vpp_lives));
        mark.passed(rib, self.vpp_lives, vpp.oldest_unanswered())
    }

    /// Keeps routes off the mirror, from the first call on; in a new VPP it has another index. False while VPP holds
    /// routes of an earlier feeder, whose paths are unknown.
    fn vacate(&mut self, client: &mut Client, name: &str) -> io::Result<bool> {
        let vpp = match &mut self.vpp {
            Some(vpp) => vpp,
            None => return Ok(false),
        };
        if client.prepared != Some(self.vpp_lives) {
            client.prepared = Some(self.vpp_lives);
            vpp.refresh(&mut self.mirrors, &mut self.rib)?;
            self.given_back.extend(client.vacated.take());
            client.vacated = self.mirrors.vacate(name);
            vpp.pin(&self.mirrors, &mut self.rib)?;
            vpp.repath(&self.mirrors, &mut self.rib);
        }
        Ok(!vpp.marked)
    }
}
