//! How far VPP is behind zebra, in time: when the oldest change that VPP does not have yet arrived.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Upper bounds of the histogram's buckets, in milliseconds; a last one holds the rest.
pub const BUCKETS_MS: [u64; 12] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

pub struct Lag {
    /// The number of changes that had arrived, and when, in order.
    marks: VecDeque<(u64, Instant)>,
    last: u64,
    pub counts: [u64; BUCKETS_MS.len() + 1],
    pub sum_ms: u64,
    /// The last time VPP was behind: how many changes, and the time from the first one until it had them all.
    pub burst: (u64, Duration),
    burst_start: Option<(u64, Instant)>,
}

impl Lag {
    pub fn new() -> Lag {
        Lag {
            marks: VecDeque::new(),
            last: 0,
            counts: [0; BUCKETS_MS.len() + 1],
            sum_ms: 0,
            burst: (0, Duration::default()),
            burst_start: None,
        }
    }

    /// `queued` changes arrived so far; all but `pending` of them are in VPP.
    pub fn observe(&mut self, now: Instant, queued: u64, pending: u64) {
        if queued > self.last {
            if self.burst_start.is_none() {
                self.burst_start = Some((self.last, now));
            }
            self.marks.push_back((queued, now));
            self.last = queued;
        }
        let done = queued - pending.min(queued);
        let mut before = None;
        while let Some((count, since)) = self.marks.front().copied() {
            if count > done {
                break;
            }
            self.marks.pop_front();
            let age = now.duration_since(since).as_millis() as u64;
            let bucket = BUCKETS_MS.iter().position(|bound| age <= *bound).unwrap_or(BUCKETS_MS.len());
            self.counts[bucket] += 1;
            self.sum_ms += age;
            before = Some(count);
        }
        if let (Some(_), Some((first, since)), 0) = (before, self.burst_start, pending) {
            self.burst = (queued - first, now.duration_since(since));
            self.burst_start = None;
        }
    }

    pub fn behind(&self, now: Instant) -> Duration {
        self.marks.front().map_or(Duration::default(), |(_, since)| now.duration_since(*since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_behind_as_long_as_the_oldest_change_is_not_in_vpp() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut lag = Lag::new();
        lag.observe(at(0), 0, 0);
        assert_eq!(lag.behind(at(5)), Duration::default());
        lag.observe(at(10), 100, 100);
        lag.observe(at(30), 150, 60);
        assert_eq!(lag.behind(at(40)), Duration::from_millis(30));
        lag.observe(at(50), 150, 20);
        assert_eq!(lag.behind(at(60)), Duration::from_millis(30));
        lag.observe(at(90), 150, 0);
        assert_eq!(lag.behind(at(100)), Duration::default());
        assert_eq!(lag.burst, (150, Duration::from_millis(80)));
        assert_eq!(lag.counts.iter().sum::<u64>(), 2);
        assert_eq!(lag.sum_ms, 40 + 60);
    }

    #[test]
    fn a_vpp_that_is_gone_keeps_the_clock_running() {
        let start = Instant::now();
        let mut lag = Lag::new();
        lag.observe(start, 10, 10);
        for second in 1..5 {
            lag.observe(start + Duration::from_secs(second), 10, 10);
        }
        assert_eq!(lag.behind(start + Duration::from_secs(5)), Duration::from_secs(5));
    }
}
