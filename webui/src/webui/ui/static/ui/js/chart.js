// One throughput chart: in as an area, out as a line, drawn by uPlot.
import { bits, packets } from "./rates.js";

// Steps between two time labels, in seconds. uPlot's own go from 1 to 5 minutes, which leaves a narrow chart of 5 minutes
// with a single label.
const TIME_STEPS_S = [
  1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 43200,
  ...[1, 2, 3, 5, 7, 10, 15].map((days) => days * 86400),
];

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axisText(format) {
  return (_chart, values) => values.map((value) => (value === 0 ? "0" : format(value)));
}

function options(element, format) {
  const axis = { stroke: css("--mr-quiet"), grid: { stroke: css("--mr-grid"), width: 1 }, ticks: { show: false }, font: `11px ${css("--mr-font")}` };
  return {
    width: Math.max(160, element.clientWidth),
    height: element.clientHeight,
    padding: [8, 6, 0, 0],
    legend: { show: false },
    tzDate: (seconds) => window.uPlot.tzDate(new Date(seconds * 1000), "UTC"),
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_chart, _low, high) => [0, Math.max(high * 1.12, 10)] } },
    axes: [
      { ...axis, space: 56, size: 26, incrs: TIME_STEPS_S, values: (chart, values) => timeLabels(chart, values) },
      { ...axis, space: 34, size: 72, values: axisText(format) },
    ],
    series: [
      {},
      { label: "in", stroke: css("--mr-series-in"), fill: css("--mr-series-in-soft"), width: 1.6, points: { show: false }, spanGaps: false },
      { label: "out", stroke: css("--mr-series-out"), width: 1.6, points: { show: false }, spanGaps: false },
    ],
  };
}

// In UTC, as every time on the pages and in the logs.
function timeLabels(chart, values) {
  const span = chart.scales.x.max - chart.scales.x.min;
  const whole = values.every((value) => value % 60 === 0);
  const two = (number) => String(number).padStart(2, "0");
  return values.map((value) => {
    const date = new Date(value * 1000);
    if (span > 3 * 86400) return `${date.getUTCMonth() + 1}-${two(date.getUTCDate())}`;
    const clock = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
    return whole ? clock : `${clock}:${two(date.getUTCSeconds())}`;
  });
}

export class Chart {
  // element: the box; unit: "bits" or "packets".
  constructor(element, unit) {
    this.element = element;
    this.unit = unit;
    this.data = [[], [], []];
    this.window = null;
    this.plot = null;
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(element);
    window.addEventListener("millrace:theme", () => this.rebuild());
  }

  resize() {
    if (this.plot && this.element.clientWidth > 0) {
      this.plot.setSize({ width: Math.max(160, this.element.clientWidth), height: this.element.clientHeight });
    }
  }

  rebuild() {
    this.plot?.destroy();
    this.plot = null;
    this.draw();
  }

  setUnit(unit) {
    if (unit === this.unit) return;
    this.unit = unit;
    this.rebuild();
  }

  // data: [times in unix seconds, in, out]; window: [from, to] in unix seconds.
  set(data, range) {
    this.data = data;
    this.window = range;
    this.draw();
  }

  draw() {
    const empty = this.data[0].length === 0;
    const message = this.element.querySelector(".chart-message");
    if (message) message.hidden = !empty;
    if (empty) return;
    if (!this.plot) {
      this.plot = new window.uPlot(options(this.element, this.unit === "bits" ? bits : packets), this.data, this.element);
      this.plot.root.setAttribute("aria-hidden", "true");
    } else {
      this.plot.setData(this.data, false);
    }
    if (this.window) this.plot.setScale("x", { min: this.window[0], max: this.window[1] });
    this.element.dataset.points = String(this.data[0].length);
    this.element.dataset.lastTime = String(this.data[0].at(-1));
  }
}
