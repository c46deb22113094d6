// Forms: rows that are added and removed, groups that open, names offered below lists, drafts that survive a
// reload, and the first error in view.
import { startDrafts } from "./drafts.js";

function addRow(button) {
  const rows = button.closest("[data-rows]");
  const list = rows.querySelector("[data-rows-list]");
  const used = [...list.querySelectorAll(":scope > [data-row] > input[type=hidden]")].map((input) => Number(input.value));
  const index = String(Math.max(-1, ...used.filter(Number.isFinite)) + 1);
  const fragment = rows.querySelector("template").content.cloneNode(true);
  for (const element of fragment.querySelectorAll("*")) {
    for (const attribute of [...element.attributes]) {
      if (attribute.value.includes("__row__")) attribute.value = attribute.value.replaceAll("__row__", index);
    }
  }
  list.append(fragment);
  const row = list.lastElementChild;
  suggestSequence(list, row);
  row.querySelector("input:not([type=hidden]), select, textarea")?.focus();
  row.dispatchEvent(new Event("input", { bubbles: true }));
}

function suggestSequence(list, row) {
  const input = row.querySelector("[data-next-sequence]");
  if (!input) return;
  const used = [...list.querySelectorAll("[data-next-sequence]")].map((other) => Number(other.value) || 0);
  input.value = String((Math.floor(Math.max(0, ...used) / 10) + 1) * 10);
}

function removeRow(button) {
  const row = button.closest("[data-row]");
  const rows = row.closest("[data-rows]");
  row.remove();
  rows.dispatchEvent(new Event("input", { bubbles: true }));
  rows.querySelector("[data-add-row]").focus();
}

function toggleWord(button) {
  const area = document.getElementById(button.closest("[data-suggest]").dataset.suggest);
  const words = area.value.split(/[\s,]+/).filter(Boolean);
  const word = button.dataset.word;
  area.value = (words.includes(word) ? words.filter((other) => other !== word) : [...words, word]).join("\n");
  area.rows = Math.max(2, area.value.split("\n").length);
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

function takeTheirs(button) {
  const field = document.getElementById(button.dataset.for);
  if (field.type === "checkbox") field.checked = button.dataset.take === "yes";
  else field.value = button.dataset.take;
  field.removeAttribute("aria-invalid");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
  button.closest(".field-error").remove();
}

function openGroup(box) {
  document.getElementById(box.dataset.opens).toggleAttribute("data-closed", !box.checked);
}

function onSubmit(event) {
  const form = event.target;
  const question = form.dataset.confirm ?? event.submitter?.dataset.confirm;
  if (question && !window.confirm(question)) {
    event.preventDefault();
    return;
  }
  if (form.method === "post" && !form.hasAttribute("hx-post")) {
    if (form.dataset.submitted) {
      event.preventDefault();
      return;
    }
    form.dataset.submitted = "1";
    window.setTimeout(() => {
      for (const button of form.querySelectorAll("button[type=submit]")) button.disabled = true;
      if (event.submitter?.dataset.busy) event.submitter.textContent = event.submitter.dataset.busy;
    });
  }
}

// A link to a problem names the field: the nearest one that is shown is marked and gets the focus.
function markField() {
  let pointer = new URLSearchParams(window.location.search).get("at");
  while (pointer) {
    const field = document.querySelector(`form [data-pointer="${CSS.escape(pointer)}"]`);
    if (field) {
      field.classList.add("field-marked");
      field.querySelector("input:not([type=hidden]), select, textarea")?.focus({ preventScroll: true });
      field.scrollIntoView({ block: "center" });
      return;
    }
    pointer = pointer.slice(0, Math.max(0, pointer.lastIndexOf("/")));
  }
}

export function startForms() {
  markField();
  document.addEventListener("click", (event) => {
    const add = event.target.closest("[data-add-row]");
    if (add) addRow(add);
    const remove = event.target.closest("[data-remove-row]");
    if (remove) removeRow(remove);
    const take = event.target.closest("[data-take]");
    if (take) takeTheirs(take);
    const word = event.target.closest("[data-suggest] [data-word]");
    if (word) toggleWord(word);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-opens]")) openGroup(event.target);
    if (event.target.matches("[data-submit-on-change]")) event.target.form.requestSubmit();
  });
  document.addEventListener("submit", onSubmit);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload();
  });
  startDrafts();
  const bad = document.querySelector("[aria-invalid=true]");
  if (bad) {
    bad.focus({ preventScroll: true });
    bad.scrollIntoView({ block: "center" });
  } else if (document.activeElement === document.body) {
    focusForm();
  }
}

// A new object is named at once; in the form of one that exists the first Tab goes to its first field, past the menu.
function focusForm() {
  const form = document.querySelector(".object-form form[data-object-form]");
  if (!form) return;
  const name = form.querySelector('input[name="@key"]:not([type=hidden])');
  (name ?? document.getElementById("content")).focus({ preventScroll: true });
}
