// Live hits of an access list: <table data-hits-of="URL"> with <tr data-rule="SEQUENCE"> and [data-hits] in it.
// They are asked for every few seconds, by the pages that show them alone.
import { readJson } from "./retrying.js";
import { grouped, packets, scaled } from "./rates.js";

const EVERY_MS = 2000;

function showSince(cleared) {
  for (const element of document.querySelectorAll("[data-hits-since]")) {
    const at = cleared?.at.slice(0, 19).replace("T", " ");
    const text = cleared ? `Hits since ${at} UTC, cleared by ${cleared.by}.` : "";
    if (element.textContent !== text) element.textContent = text;
  }
}

function show(table, now, then) {
  showSince(now.cleared);
  const seconds = then ? now.time - then.time : 0;
  for (const row of table.querySelectorAll("[data-rule]")) {
    const hits = now.rules[row.dataset.rule];
    if (!hits) continue;
    const base = now.cleared?.rules[row.dataset.rule] ?? { packets: 0, bytes: 0 };
    const shown = { packets: Math.max(0, hits.packets - base.packets), bytes: Math.max(0, hits.bytes - base.bytes) };
    const before = then?.rules[row.dataset.rule];
    const rate = before && seconds > 0 ? Math.max(0, hits.packets - before.packets) / seconds : null;
    for (const part of row.querySelectorAll("[data-hits]")) {
      const kind = part.dataset.hits;
      part.textContent =
        kind === "packets" ? grouped(shown.packets) : kind === "bytes" ? scaled(shown.bytes, "B") : rate === null ? "" : packets(rate);
    }
  }
}

async function follow(table) {
  let then = null;
  while (table.isConnected) {
    if (!document.hidden) {
      const now = await readJson(table.dataset.hitsOf);
      if (now && now.time !== then?.time) {
        show(table, now, then);
        then = now;
      }
    }
    await new Promise((resolve) => window.setTimeout(resolve, EVERY_MS));
  }
}

const followed = new WeakSet();

function start() {
  for (const table of document.querySelectorAll("[data-hits-of]")) {
    if (followed.has(table)) continue;
    followed.add(table);
    follow(table);
  }
}

start();
// A search puts another table in its place.
document.body.addEventListener("htmx:afterSwap", start);
