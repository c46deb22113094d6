// Lines of the logs as they come: <div data-log data-newest="CURSOR" data-url="/api/v1/logs?...&after=">.
// Text of a line is text: nothing in it is ever made into elements.
import { readJson } from "./retrying.js";

const EVERY_MS = 2000;
const MOST_LINES = 1000;

const wait = (ms) => new Promise((resolve) => window.setTimeout(resolve, ms));

function part(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.textContent = text;
  return element;
}

function row(line) {
  const element = part("div", `log-line${line.severity ? ` is-${line.severity}` : ""}`, "");
  element.append(
    part("time", "num", line.at ? line.at.slice(11, 23) : "–"),
    part("b", "", line.part),
    part("span", "log-severity", line.severity ?? "–"),
    part("span", "log-text", line.message),
  );
  return element;
}

function atEnd(list) {
  return list.scrollHeight - list.scrollTop - list.clientHeight < 40;
}

function show(list, lines) {
  const stays = atEnd(list);
  for (const line of lines) {
    const day = line.at ? `${line.at.slice(0, 10)} UTC` : "";
    const days = list.querySelectorAll("[data-day]");
    if (day && days[days.length - 1]?.textContent !== day) {
      const head = part("div", "log-day", day);
      head.dataset.day = "";
      list.append(head);
    }
    list.append(row(line));
  }
  while (list.childElementCount > MOST_LINES) list.firstElementChild.remove();
  if (lines.length) document.querySelector("[data-log-empty]")?.remove();
  // Who has scrolled up reads: the list stays where it is.
  if (stays) list.scrollTop = list.scrollHeight;
}

async function follow(list) {
  list.scrollTop = list.scrollHeight;
  let newest = list.dataset.newest;
  const wanted = document.querySelector("[data-follow]");
  while (list.isConnected) {
    let more = false;
    if (!document.hidden && wanted?.checked) {
      const page = await readJson(`${list.dataset.url}${encodeURIComponent(newest)}`);
      if (page) {
        newest = page.newest;
        more = page.more;
        show(list, page.lines);
      }
    }
    await wait(more ? 200 : EVERY_MS);
  }
}

for (const list of document.querySelectorAll("[data-log]")) follow(list);
