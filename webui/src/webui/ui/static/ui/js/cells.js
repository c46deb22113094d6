// Live numbers in the page: <span data-live="rx_bps" data-interface="wan0">.
import { onCounters } from "./counters.js";
import { bits, grouped, packets, rateBetween } from "./rates.js";
import { readJson } from "./retrying.js";
import { Spark } from "./spark.js";

const sparks = new WeakMap();
const SOURCES = { rx_bps: "rx_bytes", tx_bps: "tx_bytes", rx_pps: "rx_packets", tx_pps: "tx_packets" };
const FORMATS = { rx_bps: bits, tx_bps: bits, rx_pps: packets, tx_pps: packets };

// Counters only grow: what was cleared is taken off here.
function sinceCleared(sample, name, counter) {
  const value = sample.interfaces?.[name]?.[counter];
  return value === undefined ? undefined : Math.max(0, value - (sample.cleared?.[name]?.base[counter] ?? 0));
}

function since(cleared) {
  if (!cleared) return "Since the interface was created";
  return `Since ${cleared.at.slice(0, 19).replace("T", " ")} UTC, cleared by ${cleared.by}`;
}

function showSince(sample) {
  for (const element of document.querySelectorAll("[data-since]")) {
    const text = since(sample.cleared?.[element.dataset.since]);
    if (element.textContent !== text) element.textContent = text;
  }
}

function showInterfaces(sample, rate) {
  showSince(sample);
  for (const element of document.querySelectorAll("[data-live][data-interface]")) {
    const { live, interface: name } = element.dataset;
    const value = live in FORMATS ? rate?.interfaces[name]?.[live] : sinceCleared(sample, name, live);
    if (value === undefined) continue;
    element.textContent = live in FORMATS ? FORMATS[live](value) : grouped(value);
    const cell = element.closest("td");
    if (cell) cell.dataset.value = String(value ?? 0);
    if (!(live in FORMATS) && cell) cell.title = since(sample.cleared?.[name]);
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
  const query = new URLSearchParams({ range: "5m", fields: "rx_bps,tx_bps" });
  if (canvases.length <= 40) query.set("interfaces", canvases.map((canvas) => canvas.dataset.spark).join(","));
  const history = await readJson(`/api/v1/counters/history?${query}`);
  if (!history) return;
  for (const canvas of canvases) {
    const series = history.interfaces?.[canvas.dataset.spark];
    if (!series) continue;
    const spark = new Spark(canvas);
    spark.seed((history.time ?? []).map((_time, index) => [series.rx_bps?.[index] ?? 0, series.tx_bps?.[index] ?? 0]));
    sparks.set(canvas, spark);
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

function drawn() {
  const fields = [];
  const interfaces = [];
  for (const element of document.querySelectorAll("[data-live][data-interface]")) {
    fields.push(SOURCES[element.dataset.live] ?? element.dataset.live);
    if (!(element.dataset.live in FORMATS)) fields.push("cleared");
    interfaces.push(element.dataset.interface);
  }
  for (const canvas of document.querySelectorAll("canvas[data-spark]")) {
    fields.push("rx_bytes", "tx_bytes");
    interfaces.push(canvas.dataset.spark);
  }
  if (document.querySelector("[data-worker]")) fields.push("workers");
  return { fields, interfaces };
}

onCounters((sample, previous) => {
  const rate = previous ? rateBetween(previous, sample) : null;
  showInterfaces(sample, rate);
  if (rate) showSparks(rate);
  showWorkers(sample);
}, drawn);

seedSparks();
