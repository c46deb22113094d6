//! millrace-feeder: brings the routes of FRRouting's zebra into the FIB of VPP.
//!
//! zebra's module dplane_fpm_nl connects to it; it connects to VPP's API socket and asks linux-cp which interface
//! mirrors which. It stores the routes that zebra wants, so that a restarted VPP gets everything at once, and a
//! restarted zebra finds its routes still forwarding.

mod addresses;
mod counts;
mod feeder;
mod fpm;
#[cfg(test)]
mod fuzz_tests;
mod held_stream;
mod json;
mod kernel;
mod lag;
mod lanes;
mod listing;
mod lives;
mod mark;
mod mirrors;
mod netlink;
mod nexthop;
mod orders;
mod owner;
mod pages;
mod path_cache;
mod pins;
mod poll;
mod proof;
mod question;
mod questions;
mod regroup;
mod report;
mod resync;
mod rib;
#[cfg(test)]
mod rib_tests;
mod room;
mod status;
mod sys;
mod table;
mod vpp_connection;
mod vpp_messages;
#[cfg(test)]
mod wire_tests;

use feeder::{Feeder, Options};
use std::path::PathBuf;
use std::process::exit;

const USAGE: &str = "usage: millrace-feeder [--fpm ADDRESS:PORT] [--fpm-user USER] [--vpp SOCKET] [--status SOCKET] \
                     [--netns NAME] [--lanes COUNT] [--most-routes COUNT]

  --fpm ADDRESS:PORT  where zebra's dplane_fpm_nl connects (127.0.0.1:2620)
  --fpm-user USER     whose connections are taken there, by name or number; without it anybody's
  --vpp SOCKET        VPP's API socket (/run/vpp/api.sock)
  --status SOCKET     where to answer status, barrier and vacate (/run/millrace/feeder.sock)
  --netns NAME        only mirrors in this network namespace, by linux-cp's name of it; the feeder runs in it
  --lanes COUNT       connections to VPP for routes (4)
  --most-routes COUNT how many routes VPP has room for; without it there is no limit until the agent tells one";

fn main() {
    let options = match read_options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("millrace-feeder: {}\n{}", message, USAGE);
            exit(2);
        }
    };
    let outcome = Feeder::new(options).and_then(|mut feeder| feeder.run());
    if let Err(error) = outcome {
        eprintln!("millrace-feeder: {}", error);
        exit(1);
    }
}

fn read_options() -> Result<Options, String> {
    let mut options = Options {
        fpm: ([127, 0, 0, 1], 2620).into(),
        fpm_user: None,
        vpp: PathBuf::from("/run/vpp/api.sock"),
        status: PathBuf::from("/run/millrace/feeder.sock"),
        namespace: None,
        lanes: 4,
        most_routes: u64::MAX,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{} needs a value", word))?;
        match word.as_str() {
            "--fpm" => options.fpm = value.parse().map_err(|_| format!("{} is no ADDRESS:PORT", value))?,
            "--fpm-user" => options.fpm_user = Some(owner::user(&value)?),
            "--vpp" => options.vpp = PathBuf::from(value),
            "--status" => options.status = PathBuf::from(value),
            "--most-routes" => {
                options.most_routes = value.parse().map_err(|_| format!("{} is no number of routes", value))?;
            }
            "--netns" => options.namespace = Some(value),
            "--lanes" => {
                options.lanes = value
                    .parse()
                    .ok()
                    .filter(|count| (1..=8).contains(count))
                    .ok_or_else(|| format!("{} is no number of connections from 1 to 8", value))?;
            }
            _ => return Err(format!("there is no option {}", word)),
        }
    }
    Ok(options)
}
