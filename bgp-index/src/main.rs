//! millrace-bgp-index: searches the routes of FRRouting's bgpd by their attributes.
//!
//! It reads them from bgpd's BMP listener (RFC 7854), only while somebody asks, and answers over a Unix socket.

mod as_path;
mod attributes;
mod bgpd;
mod bmp;
mod clients;
#[cfg(test)]
mod fuzz_tests;
mod index;
#[path = "../../feeder/src/json.rs"]
mod json;
mod matching;
mod open;
mod ordered;
mod peers;
#[path = "../../feeder/src/owner.rs"]
mod owner;
#[path = "../../feeder/src/poll.rs"]
mod poll;
mod prefix;
mod question;
#[cfg(test)]
mod question_tests;
#[cfg(test)]
mod random;
mod reader;
mod rows;
mod search;
mod sets;
mod table;
#[cfg(test)]
mod table_tests;
mod update;
#[cfg(test)]
mod wire;

use index::Index;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::exit;
use std::time::Duration;

const USAGE: &str = "usage: millrace-bgp-index [--bmp ADDRESS:PORT] [--bmp-user USER] [--socket SOCKET] [--idle SECONDS] \
                     [--most ROUTES] [--most-mib MIB]

  --bmp ADDRESS:PORT  bgpd's BMP listener (127.0.0.1:2630)
  --bmp-user USER     who has to listen there, by name or number; without it anybody
  --socket SOCKET     where to answer (/run/millrace/bgp-index.sock)
  --idle SECONDS      how long after the last search everything is given back (900)
  --most ROUTES       how many routes of neighbors are held (4000000)
  --most-mib MIB      how much memory they may take (512)";

pub struct Options {
    pub bmp: SocketAddr,
    /// Who bgpd has to be; None for anybody.
    pub bmp_user: Option<u32>,
    pub socket: PathBuf,
    pub idle: Duration,
    pub most: usize,
    pub most_bytes: usize,
}

fn main() {
    let options = match read_options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("millrace-bgp-index: {}\n{}", message, USAGE);
            exit(2);
        }
    };
    if let Err(error) = Index::new(options).and_then(|mut index| index.run()) {
        eprintln!("millrace-bgp-index: {}", error);
        exit(1);
    }
}

fn read_options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        bmp: ([127, 0, 0, 1], 2630).into(),
        bmp_user: None,
        socket: PathBuf::from("/run/millrace/bgp-index.sock"),
        idle: Duration::from_secs(900),
        most: 4_000_000,
        most_bytes: 512 << 20,
    };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{} needs a value", word))?;
        match word.as_str() {
            "--bmp" => options.bmp = value.parse().map_err(|_| format!("{} is no ADDRESS:PORT", value))?,
            "--bmp-user" => options.bmp_user = Some(owner::user(&value)?),
            "--socket" => options.socket = PathBuf::from(value),
            "--idle" => options.idle = Duration::from_secs(within(&value, 1, 86_400, "number of seconds")?),
            "--most" => options.most = within(&value, 1, 100_000_000, "number of routes")? as usize,
            "--most-mib" => options.most_bytes = (within(&value, 1, 65_536, "number of MiB")? as usize) << 20,
            _ => return Err(format!("there is no option {}", word)),
        }
    }
    Ok(options)
}

fn within(value: &str, least: u64, most: u64, what: &str) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("{} is no {} from {} to {}", value, what, least, most))
}
