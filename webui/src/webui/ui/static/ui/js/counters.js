// The counter stream: one EventSource per page, samples once a second, handed to whoever listens.
// It asks for nothing but what the page draws, reconnects by itself, and counts a silence of SILENCE_MS as lost.
import { report } from "./connection.js";

const SILENCE_MS = 8000;
// Beyond so many interfaces the stream asks for all: an address has to stay short.
const MOST_INTERFACES = 40;
// listener -> () => ({ fields: [...], interfaces: [...] }): what it draws on the page as it is now.
const listeners = new Map();
let source = null;
let opened = "";
let watchdog = 0;
let previous = null;

function address() {
  const base = document.querySelector("meta[name=millrace-counters]")?.content;
  const fields = new Set();
  const interfaces = new Set();
  for (const wants of listeners.values()) {
    const wanted = wants();
    wanted.fields.forEach((field) => fields.add(field));
    wanted.interfaces.forEach((name) => interfaces.add(name));
  }
  if (!base || !fields.size) return "";
  const query = new URLSearchParams({ fields: [...fields].sort().join(",") });
  if (interfaces.size && interfaces.size <= MOST_INTERFACES) query.set("interfaces", [...interfaces].sort().join(","));
  return `${base}?${query}`;
}

function close() {
  window.clearTimeout(watchdog);
  source?.close();
  source = null;
  opened = "";
}

function open() {
  close();
  opened = address();
  if (!opened) return;
  const mine = new EventSource(opened);
  source = mine;
  mine.addEventListener("sample", (event) => {
    report("stream", true);
    armWatchdog();
    let sample;
    try {
      sample = JSON.parse(event.data);
    } catch {
      return;
    }
    for (const listener of listeners.keys()) listener(sample, previous);
    previous = sample;
  });
  mine.addEventListener("error", () => {
    if (mine.readyState === EventSource.CLOSED && mine === source) armWatchdog(3000);
  });
  armWatchdog();
}

function armWatchdog(after = SILENCE_MS) {
  window.clearTimeout(watchdog);
  watchdog = window.setTimeout(() => {
    report("stream", false);
    open();
  }, after);
}

// What is drawn may have changed: a part of the page was replaced, or another module listens.
function renew() {
  if (address() !== opened) open();
}

// Calls listener(sample, previousSample or null) for each sample. `wants` says what it draws:
// fields of the API's `fields`, and names of interfaces.
export function onCounters(listener, wants) {
  listeners.set(listener, wants);
  if (listeners.size > 1) return;
  // Once all modules of the page have said what they draw.
  if (document.readyState === "complete") window.setTimeout(renew);
  else window.addEventListener("load", renew);
  document.body.addEventListener("htmx:afterSwap", renew);
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => event.persisted && open());
}
