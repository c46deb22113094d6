// Live numbers in the page: <span data-live="rx_bps" data-interface="wan0">, <td data-acl="lan-in" data-rule="10">.
import { onCounters } from "./counters.js";
import { bits, grouped, packets, rateBetween, scaled } from "./rates.js";
import { Spark } from "./spark.js";

const sparks = new WeakMap();
const FORMATS = { rx_bps: bits, tx_bps: bits, rx_pps: packets, tx_pps: packets };

function showInterfaces(sample, rate) {
  for (const element of document.querySelectorAll("[data-live][data-interface]")) {
    const { live, interface: name } = element.dataset;
    const value = live in FORMATS ? rate?.interfaces[name]?.[live] : sample.interfaces?.[name]?.[live];
    if (value === undefined) continue;
    element.textContent = live in FORMATS ? FORMATS[live](value) : grouped(value);
    const cell = element.closest("td");
    if (cell) cell.dataset.value = String(value ?? 0);
  }
}

function showSparks(rate) {
  for (const canvas of document.querySelectorAll("canvas[data-spark]")) {
    const now = rate.interfaces[canvas.dataset.spark];
    if (!now) continue;
    if (!sparks.has(canvas)) sparks.set(canvas, new Spark(canvas));
    sparks.get(canvas).add(now.rx_bps, now.tx_bps);
  }
}

// The past of the sparklines, so that they do not begin empty.
async function seedSparks() {
  const canvases = [...document.querySelectorAll("canvas[data-spark]")];
  if (!canvases.length) return;
  const response = await fetch("/api/v1/counters/history?range=5m", { headers: { Accept: "application/json" } }).catch(() => null);
  if (!response?.ok) return;
  const history = await response.json();
  for (const canvas of canvases) {
    const series = history.interfaces?.[canvas.dataset.spark];
    if (!series) continue;
    const spark = new Spark(canvas);
    spark.seed((history.time ?? []).map((_time, index) => [series.rx_bps?.[index] ?? 0, series.tx_bps?.[index] ?? 0]));
    sparks.set(canvas, spark);
  }
}

function showAcls(sample, previous) {
  for (const element of document.querySelectorAll("[data-acl][data-rule]")) {
    const { acl, rule } = element.dataset;
    const now = sample.acls?.[acl]?.[rule];
    if (!now) continue;
    const then = previous?.acls?.[acl]?.[rule];
    const seconds = previous ? sample.time - previous.time : 0;
    const rate = then && seconds > 0 ? Math.max(0, now.packets - then.packets) / seconds : null;
    for (const part of element.querySelectorAll("[data-hits]")) {
      const kind = part.dataset.hits;
      part.textContent =
        kind === "packets" ? grouped(now.packets) : kind === "bytes" ? scaled(now.bytes, "B") : rate === null ? "" : packets(rate);
    }
  }
}

function showWorkers(sample) {
  for (const row of document.querySelectorAll("[data-worker]")) {
    const worker = sample.workers?.find((one) => one.name === row.dataset.worker);
    if (!worker) continue;
    const load = row.querySelector("[data-load]");
    if (load) load.textContent = `${(worker.load * 100).toFixed(0)} %`;
    const bar = row.querySelector("progress");
    if (bar) bar.value = worker.load;
    const vectors = row.querySelector("[data-vectors]");
    if (vectors) vectors.textContent = Number(worker.vectors_per_call).toFixed(1);
  }
}

onCounters((sample, previous) => {
  const rate = previous ? rateBetween(previous, sample) : null;
  showInterfaces(sample, rate);
  if (rate) showSparks(rate);
  showAcls(sample, previous);
  showWorkers(sample);
});

seedSparks();
