// The keyboard: "g" and a letter goes to a page, "/" filters, j and k walk rows, "?" explains.
import { nextTheme } from "./shell.js";

const WAIT_MS = 1200;
let goingUntil = 0;

function typing(target) {
  return target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]") !== null;
}

function going(on) {
  goingUntil = on ? performance.now() + WAIT_MS : 0;
  document.getElementById("sidebar")?.classList.toggle("going", on);
  if (on) window.setTimeout(() => performance.now() >= goingUntil && going(false), WAIT_MS + 20);
}

function press(selector) {
  const element = document.querySelector(selector);
  if (!element) return false;
  element.focus();
  element.click();
  return true;
}

function walkRows(step) {
  const rows = [...document.querySelectorAll("tr[data-row-link]")].filter((row) => row.offsetParent !== null);
  if (!rows.length) return;
  const here = rows.indexOf(document.activeElement?.closest("tr[data-row-link]"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, here < 0 ? (step > 0 ? 0 : rows.length - 1) : here + step))];
  const target = next.querySelector("a, button") ?? next;
  target.focus();
  next.scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey) {
    const form = event.target.closest("form[data-object-form]");
    if (event.key === "Enter" && form) {
      event.preventDefault();
      form.requestSubmit();
    }
    return;
  }
  if (event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && typing(event.target)) event.target.blur();
  if (typing(event.target)) return;
  if (performance.now() < goingUntil) {
    going(false);
    const target = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    if (target) {
      event.preventDefault();
      window.location.assign(target.dataset.url);
    }
    return;
  }
  switch (event.key) {
    case "g":
      going(true);
      return;
    case "/":
      if (focusFilter()) event.preventDefault();
      return;
    case "?":
      document.getElementById("shortcuts")?.showModal();
      return;
    case "j":
      walkRows(1);
      return;
    case "k":
      walkRows(-1);
      return;
    case "c":
      if (!press("#comment")) window.location.assign(`${document.querySelector("[data-go=c]").dataset.url}#commit`);
      return;
    case "t":
      nextTheme();
      return;
    case "n":
      if (press("[data-key='n']")) event.preventDefault();
      return;
    case "e":
      if (press("[data-key='e']")) event.preventDefault();
      return;
    default:
  }
}

function focusFilter() {
  const input = document.querySelector("[data-filter-input], [data-search-input]");
  input?.focus();
  input?.select();
  return Boolean(input);
}

export function startShortcuts() {
  if (window.location.hash === "#commit") press("#comment");
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-shortcuts]")) document.getElementById("shortcuts")?.showModal();
  });
}
