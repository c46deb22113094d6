//! The answers of the status socket.

use crate::feeder::Feeder;
use crate::lag::BUCKETS_MS;
use crate::pages;
use crate::counts::Counts;
use crate::json::Json;
use std::fs;
use std::time::Instant;

const PAGE_BYTES: u64 = 4096;
const DIFFERING_NAMED: usize = 64;

/// Everything that the feeder knows about itself.
pub fn status(feeder: &Feeder, now: Instant) -> String {
    let (v4, v6) = feeder.rib.counts();
    let since = |instant: Option<Instant>| {
        instant.map_or("null".to_string(), |instant| now.saturating_duration_since(instant).as_secs().to_string())
    };
    let zebra = Json::new()
        .raw("connected", flag(feeder.zebra.since.is_some()))
        .raw("connected_s", &since(feeder.zebra.since))
        .number("connections", feeder.zebra.connections)
        .number("received_bytes", feeder.zebra.bytes)
        .number("events", feeder.rib.events)
        .number("malformed", feeder.zebra.malformed)
        .number("strangers", feeder.zebra.strangers)
        .raw("unsupported", &unsupported(feeder))
        .raw("resync", flag(feeder.zebra.resync))
        .raw("kernel_routes_not_told", &feeder.resync.untold.map_or("null".to_string(), |count| count.to_string()))
        .number("swept", feeder.swept);
    let vpp = Json::new()
        .raw("connected", flag(feeder.vpp.is_some()))
        .raw("connected_s", &since(feeder.vpp_since))
        .number("connections", feeder.vpp_lives)
        .text("error", &feeder.vpp_error)
        .raw("sweep_due", flag(feeder.vpp.as_ref().map_or(false, |vpp| vpp.marked)))
        .number("given", feeder.answers.given)
        .number("taken", feeder.answers.taken)
        .number("refused", feeder.answers.refused)
        .raw("refusals", &refusals(feeder));
    let mirrors = feeder.mirrors.pairs().into_iter().map(|pair| {
        Json::new()
            .text("name", &pair.name)
            .number("ifindex", pair.ifindex.into())
            .number("sw_if_index", pair.sw_if_index.into())
            .end()
    });
    let mirrors: Vec<String> = mirrors.collect();
    Json::new()
        .number("uptime_s", now.saturating_duration_since(feeder.started).as_secs())
        .number("pending", feeder.rib.pending())
        .number("behind_ms", feeder.lag.behind(now).as_millis() as u64)
        .raw("ipv4", &counts(&v4))
        .raw("ipv6", &counts(&v6))
        .raw("most_routes", &most(feeder.rib.most))
        .number("next_hop_groups", feeder.rib.groups.len() as u64)
        .number("queued", feeder.rib.queued)
        .number("last_burst_routes", feeder.lag.burst.0)
        .number("last_burst_ms", feeder.lag.burst.1.as_millis() as u64)
        .raw("lag", &lag(feeder))
        .number("memory_bytes", memory_bytes())
        .raw("proof", &proof(feeder, now))
        .raw("zebra", &zebra.end())
        .raw("vpp", &vpp.end())
        .raw("mirrors", &format!("[{}]", mirrors.join(",")))
        .end()
}

/// The known state of VPP's routes beyond its answer to each.
fn proof(feeder: &Feeder, now: Instant) -> String {
    let last = feeder.proof.last.map(|pass| {
        Json::new()
            .number("routes", pass.routes)
            .number("took_ms", pass.took.as_millis() as u64)
            .number("ended_s", now.saturating_duration_since(pass.ended).as_secs())
            .end()
    });
    let differing: Vec<_> = feeder.proof.differing(&feeder.rib).collect();
    let named: Vec<String> = differing.iter().take(DIFFERING_NAMED).map(pages::named).collect();
    Json::new()
        .number("checked", feeder.proof.checked)
        .raw("last_pass", &last.unwrap_or_else(|| "null".to_string()))
        .number("told_again", feeder.proof.told_again)
        .number("differing", differing.len() as u64)
        .raw("named", &format!("[{}]", named.join(",")))
        .end()
}

/// The answer of a barrier.
pub fn barrier(reached: bool, waited_ms: u64, pending: u64) -> String {
    Json::new().raw("reached", flag(reached)).number("waited_ms", waited_ms).number("pending", pending).end()
}

fn flag(value: bool) -> &'static str {
    if value {
        "true"
    } else {
        "false"
    }
}

fn counts(counts: &Counts) -> String {
    Json::new()
        .number("wanted", counts.wanted)
        .number("in_vpp", counts.given)
        .number("stale", counts.stale)
        .number("refused", counts.refused)
        .number("waiting", counts.waiting)
        .number("held_back", counts.held)
        .end()
}

/// How many routes VPP may have; null without a limit.
pub fn most(routes: u64) -> String {
    if routes == u64::MAX { "null".to_string() } else { routes.to_string() }
}

/// Whether zebra wants the route that is given to VPP again.
pub fn again(wanted: bool) -> String {
    Json::new().raw("wanted", if wanted { "true" } else { "false" }).end()
}

fn unsupported(feeder: &Feeder) -> String {
    let all = feeder.rib.unsupported.iter();
    all.fold(Json::new(), |json, (what, count)| json.number(what, *count)).end()
}

fn refusals(feeder: &Feeder) -> String {
    let all = feeder.answers.refusals.iter();
    all.fold(Json::new(), |json, (retval, count)| json.number(&retval.to_string(), *count)).end()
}

fn lag(feeder: &Feeder) -> String {
    let bounds: Vec<String> = BUCKETS_MS.iter().map(|bound| bound.to_string()).collect();
    let counts: Vec<String> = feeder.lag.counts.iter().map(|count| count.to_string()).collect();
    Json::new()
        .raw("bounds_ms", &format!("[{}]", bounds.join(",")))
        .raw("counts", &format!("[{}]", counts.join(",")))
        .number("sum_ms", feeder.lag.sum_ms)
        .end()
}

/// Resident memory, from /proc/self/statm in pages.
fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * PAGE_BYTES)
}
