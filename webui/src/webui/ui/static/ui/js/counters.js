// The counter stream: one EventSource per page, samples once a second, handed to whoever listens.
// It reconnects by itself; a silence of SILENCE_MS counts as lost.
import { report } from "./connection.js";

const SILENCE_MS = 8000;
const listeners = new Set();
let source = null;
let watchdog = 0;
let previous = null;

function open(url) {
  source = new EventSource(url);
  const onSample = (event) => {
    report("stream", true);
    armWatchdog(url);
    let sample;
    try {
      sample = JSON.parse(event.data);
    } catch {
      return;
    }
    for (const listener of listeners) listener(sample, previous);
    previous = sample;
  };
  source.addEventListener("message", onSample);
  source.addEventListener("sample", onSample);
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) armWatchdog(url, 3000);
  });
  armWatchdog(url);
}

function armWatchdog(url, after = SILENCE_MS) {
  window.clearTimeout(watchdog);
  watchdog = window.setTimeout(() => {
    report("stream", false);
    source?.close();
    open(url);
  }, after);
}

// Calls listener(sample, previousSample or null) for each sample.
export function onCounters(listener) {
  listeners.add(listener);
  const url = document.querySelector("meta[name=millrace-counters]")?.content;
  if (!source && url) {
    open(url);
    window.addEventListener("pagehide", () => {
      window.clearTimeout(watchdog);
      source.close();
    });
    window.addEventListener("pageshow", (event) => event.persisted && open(url));
  }
}
