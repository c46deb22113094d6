// From absolute counters to rates, and from numbers to text.

// One rate sample between two counter samples: {time, interfaces: {name: {rx_bps, tx_bps, rx_pps, tx_pps}}}.
// null where they cannot be compared (time stands still, a counter went back after a restart).
export function rateBetween(before, after) {
  const seconds = after.time - before.time;
  if (!(seconds > 0)) return null;
  const interfaces = {};
  for (const [name, now] of Object.entries(after.interfaces ?? {})) {
    const then = before.interfaces?.[name];
    if (!then) continue;
    const per = (field, factor) => {
      // What the page does not draw is not in the sample.
      const change = now[field] - then[field];
      return change >= 0 ? (change * factor) / seconds : null;
    };
    interfaces[name] = {
      rx_bps: per("rx_bytes", 8),
      tx_bps: per("tx_bytes", 8),
      rx_pps: per("rx_packets", 1),
      tx_pps: per("tx_packets", 1),
    };
  }
  return { time: after.time, interfaces };
}

const PREFIXES = ["", "k", "M", "G", "T"];

// 12345678 -> "12.3 M": three significant digits, a thin constant width.
export function scaled(value, unit = "") {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  let step = 0;
  let number = Math.abs(value);
  while (number >= 999.5 && step < PREFIXES.length - 1) {
    number /= 1000;
    step += 1;
  }
  const digits = step === 0 ? (number < 10 && number % 1 >= 0.05 ? 1 : 0) : number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  const text = number.toFixed(digits);
  return `${text}${PREFIXES[step] || unit ? " " : ""}${PREFIXES[step]}${unit}`;
}

export const bits = (value) => scaled(value, "b/s");
export const packets = (value) => scaled(value, "p/s");

export function grouped(value) {
  return value === null || value === undefined ? "–" : Number(value).toLocaleString("en-US");
}
