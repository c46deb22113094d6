// What was typed and not saved survives a reload: kept in this tab's sessionStorage, by address. A form that is opened again
// later, as that of the next new object is, is not filled with it: it is offered there. Secrets are never kept.
import { setPicked } from "./pickers.js";

const PREFIX = "millrace.draft:";
const SENT = "millrace.sent";
const LOGGED_IN = "millrace.logged-in";

function key(form) {
  return PREFIX + (form.dataset.draft || window.location.pathname + window.location.search);
}

function entries(form) {
  return [...new FormData(form)].filter(
    ([name, value]) => typeof value === "string" && name !== "csrfmiddlewaretoken" && !isSecret(form, name),
  );
}

function isSecret(form, name) {
  return form.elements.namedItem(name)?.dataset?.secret !== undefined;
}

function restore(form, draft) {
  const values = new Map();
  for (const [name, value] of draft) values.set(name, [...(values.get(name) ?? []), value]);
  for (const rows of form.querySelectorAll("[data-rows]")) {
    const list = rows.querySelector("[data-rows-list]");
    const marker = rows.querySelector("template")?.content.querySelector("input[type=hidden]")?.name;
    const wanted = values.get(marker)?.length ?? 0;
    while (list.children.length < wanted) rows.querySelector("[data-add-row]").click();
    while (list.children.length > wanted) list.lastElementChild.remove();
    [...list.children].forEach((row, position) => reindex(row, marker, values.get(marker)[position]));
  }
  const base = form.querySelector("[data-base]");
  if (base && values.has(base.name)) base.value = values.get(base.name)[0];
  for (const list of form.querySelectorAll("[data-picker-list]")) {
    setPicked(list, values.get(list.querySelector("[data-picker-add]").dataset.pickerAdd) ?? []);
  }
  for (const element of form.elements) {
    if (!element.name || element.type === "hidden" || element.dataset.secret !== undefined) continue;
    const given = values.get(element.name);
    if (element.type === "checkbox" || element.type === "radio") {
      element.checked = given?.includes(element.value) ?? false;
      element.dispatchEvent(new Event("change", { bubbles: true }));
    } else if (given) {
      element.value = given[0];
    }
  }
}

function reindex(row, marker, index) {
  const hidden = row.querySelector("input[type=hidden]");
  const from = marker.replace("@rows", `${hidden.value}/`);
  const to = marker.replace("@rows", `${index}/`);
  hidden.value = index;
  for (const element of row.querySelectorAll("[name]")) {
    if (element !== hidden && element.name.startsWith(from)) element.name = to + element.name.slice(from.length);
  }
}

// Why a draft is back, or that it is only offered: one sentence of the note is shown.
function say(form, why) {
  const note = form.querySelector("[data-draft-note]");
  if (!note) return;
  note.hidden = false;
  for (const said of note.querySelectorAll("[data-draft-said]")) said.hidden = said.dataset.draftSaid !== why;
  note.querySelector("[data-draft-restore]").hidden = why !== "offered";
}

// Whether this page shows again what the tab showed before: then what was typed belongs into it.
function shownAgain() {
  return ["reload", "back_forward"].includes(window.performance.getEntriesByType("navigation")[0]?.type);
}

// What was sent is forgotten once a page follows that is not the login; after a login it is back.
function settle() {
  if (document.querySelector("[data-login]")) {
    window.sessionStorage.setItem(LOGGED_IN, "1");
    return "";
  }
  const sent = window.sessionStorage.getItem(SENT);
  const loggedIn = window.sessionStorage.getItem(LOGGED_IN);
  if (sent && !loggedIn) window.sessionStorage.removeItem(sent);
  window.sessionStorage.removeItem(SENT);
  window.sessionStorage.removeItem(LOGGED_IN);
  if (loggedIn) return "signed-in";
  return shownAgain() ? "reloaded" : "offered";
}

export function startDrafts() {
  const why = settle();
  for (const form of document.querySelectorAll("form[data-object-form]")) {
    const before = JSON.stringify(entries(form));
    const stored = window.sessionStorage.getItem(key(form));
    const rejected = form.hasAttribute("data-rejected");
    if (stored && stored !== before && !rejected) {
      if (why !== "offered") restore(form, JSON.parse(stored));
      say(form, why);
    }
    const save = () => {
      const now = JSON.stringify(entries(form));
      if (now === before && !rejected) window.sessionStorage.removeItem(key(form));
      else window.sessionStorage.setItem(key(form), now);
    };
    form.addEventListener("input", save);
    form.addEventListener("change", save);
    // Sent is not saved yet: the session may have ended. The page that follows decides (see `settle`).
    form.addEventListener("submit", () => window.sessionStorage.setItem(SENT, key(form)));
    form.querySelector("[data-draft-restore]")?.addEventListener("click", () => {
      restore(form, JSON.parse(stored));
      save();
      say(form, "restored");
    });
    form.querySelector("[data-draft-discard]")?.addEventListener("click", () => {
      window.sessionStorage.removeItem(key(form));
      const note = form.querySelector("[data-draft-note]");
      // What was only offered is not in the form: what was typed there since stays.
      if (note.querySelector("[data-draft-restore]").hidden) window.location.reload();
      else note.hidden = true;
    });
    form.querySelector("[data-draft-cancel]")?.addEventListener("click", () => window.sessionStorage.removeItem(key(form)));
  }
}
