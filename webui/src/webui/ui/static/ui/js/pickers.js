// Names of other objects: a list of picked names in order, and a search over the names there are.
export function pick(list, name) {
  const rows = list.querySelector("[data-picked]");
  if ([...rows.querySelectorAll("input")].some((input) => input.value === name)) return;
  const row = list.querySelector("template").content.cloneNode(true);
  row.querySelector("input").value = name;
  row.querySelector("[data-picked-name]").textContent = name;
  for (const button of row.querySelectorAll("button")) {
    button.setAttribute("aria-label", button.getAttribute("aria-label").replace("__name__", name));
  }
  rows.append(row);
}

export function setPicked(list, names) {
  list.querySelector("[data-picked]").replaceChildren();
  for (const name of names) pick(list, name);
}

function changed(list) {
  list.dispatchEvent(new Event("input", { bubbles: true }));
}

function search(input) {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const select = document.getElementById(input.dataset.pickerSearch);
  for (const option of select.options) {
    option.hidden = Boolean(option.value) && !words.every((word) => option.value.toLowerCase().includes(word));
  }
  const left = [...select.options].filter((option) => option.value && !option.hidden);
  if (left.length === 1 && select.matches("[data-picker]")) select.value = left[0].value;
}

export function startPickers() {
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-picker-add]") || !event.target.value) return;
    const list = event.target.closest("[data-picker-list]");
    pick(list, event.target.value);
    event.target.value = "";
    changed(list);
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-picked-up], [data-picked-remove]");
    if (!button) return;
    const list = button.closest("[data-picker-list]");
    const row = button.closest("li");
    if (button.matches("[data-picked-up]")) {
      row.previousElementSibling?.before(row);
      button.focus();
    } else {
      row.remove();
      list.querySelector("select").focus();
    }
    changed(list);
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-picker-search]")) search(event.target);
  });
}
