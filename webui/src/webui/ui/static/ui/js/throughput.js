// The throughput charts of a page. <div data-charts data-history="URL"> holds one
// <div class="chart" data-chart="INTERFACE"> each, the unit and range buttons, and legends.
import { Chart } from "./chart.js";
import { onCounters } from "./counters.js";
import { bits, packets, rateBetween } from "./rates.js";
import { readJson } from "./retrying.js";

const LIVE_SECONDS = 300;
const FIELDS = ["rx_bps", "tx_bps", "rx_pps", "tx_pps"];
const RANGES = { "5m": 300, "1h": 3600, "24h": 86400, "30d": 2592000 };

class Board {
  constructor(root) {
    this.root = root;
    this.unit = remembered("unit", ["bits", "packets"]);
    this.range = "5m";
    this.live = [];
    this.stored = null;
    this.charts = new Map();
    for (const element of root.querySelectorAll("[data-chart]")) {
      this.charts.set(element.dataset.chart, new Chart(element, this.unit));
    }
    root.addEventListener("click", (event) => this.onClick(event));
    this.press();
    this.fill();
    onCounters((sample, previous) => this.onSample(sample, previous), () => this.drawn());
    document.addEventListener("millrace:reconnected", () => this.fill());
  }

  drawn() {
    const fields = this.charts.size ? ["rx_bytes", "tx_bytes", "rx_packets", "tx_packets"] : [];
    return { fields, interfaces: [...this.charts.keys()] };
  }

  onClick(event) {
    const button = event.target.closest("[data-unit], [data-range]");
    if (!button) return;
    if (button.dataset.unit) {
      this.unit = button.dataset.unit;
      window.localStorage.setItem("millrace.unit", this.unit);
      for (const chart of this.charts.values()) chart.setUnit(this.unit);
    } else {
      this.range = button.dataset.range;
      this.fill();
    }
    this.press();
    this.draw();
  }

  press() {
    for (const button of this.root.querySelectorAll("[data-unit]")) {
      button.setAttribute("aria-pressed", String(button.dataset.unit === this.unit));
    }
    for (const button of this.root.querySelectorAll("[data-range]")) {
      button.setAttribute("aria-pressed", String(button.dataset.range === this.range));
    }
  }

  async fill() {
    const range = this.range;
    this.stored = null;
    const query = new URLSearchParams({ range, fields: FIELDS.join(",") });
    if (this.charts.size) query.set("interfaces", [...this.charts.keys()].join(","));
    const answer = await readJson(`${this.root.dataset.history}?${query}`);
    if (!answer || range !== this.range) return;
    const rates = ratesOf(answer);
    if (range === "5m") {
      const from = rates.at(-1)?.time ?? 0;
      this.live = [...rates, ...this.live.filter((rate) => rate.time > from)];
    } else {
      this.stored = rates;
    }
    this.draw();
  }

  onSample(sample, previous) {
    const rate = previous ? rateBetween(previous, sample) : null;
    if (!rate) return;
    this.live.push(rate);
    const from = sample.time - LIVE_SECONDS - 5;
    while (this.live.length && this.live[0].time < from) this.live.shift();
    this.showLegends(rate);
    if (this.range === "5m") this.draw();
  }

  showLegends(rate) {
    const format = this.unit === "bits" ? bits : packets;
    const suffix = this.unit === "bits" ? "bps" : "pps";
    for (const element of this.root.querySelectorAll("[data-now]")) {
      const value = rate.interfaces[element.dataset.of]?.[`${element.dataset.now}_${suffix}`];
      element.textContent = format(value);
    }
  }

  draw() {
    const suffix = this.unit === "bits" ? "bps" : "pps";
    const rates = this.range === "5m" ? this.live : (this.stored ?? []);
    const end = rates.at(-1)?.time ?? Date.now() / 1000;
    const range = [end - RANGES[this.range], end];
    const shown = rates.filter((rate) => rate.time >= range[0]);
    for (const [name, chart] of this.charts) {
      const times = shown.map((rate) => rate.time);
      const incoming = shown.map((rate) => rate.interfaces[name]?.[`rx_${suffix}`] ?? null);
      const outgoing = shown.map((rate) => rate.interfaces[name]?.[`tx_${suffix}`] ?? null);
      chart.set([times, incoming, outgoing], range);
    }
    if (shown.length) this.showLegends(shown.at(-1));
  }
}

// From columns, {time: [...], interfaces: {name: {rx_bps: [...]}}}, to rates as rateBetween gives them.
function ratesOf(columns) {
  return (columns.time ?? []).map((time, index) => {
    const interfaces = {};
    for (const [name, series] of Object.entries(columns.interfaces ?? {})) {
      interfaces[name] = Object.fromEntries(FIELDS.map((field) => [field, series[field]?.[index] ?? null]));
    }
    return { time, interfaces };
  });
}

function remembered(name, allowed) {
  try {
    const value = window.localStorage.getItem(`millrace.${name}`);
    return allowed.includes(value) ? value : allowed[0];
  } catch {
    return allowed[0];
  }
}

for (const root of document.querySelectorAll("[data-charts]")) new Board(root);
