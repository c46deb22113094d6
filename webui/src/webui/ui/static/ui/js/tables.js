// Tables: filter box, sorting by a column, a click anywhere in a row opens it.
// <table data-table> with <th data-sort="text|number"> and <td data-value="..."> where the text does not sort.
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function cellValue(row, index) {
  const cell = row.cells[index];
  return cell?.dataset.value ?? cell?.textContent.trim() ?? "";
}

function compare(kind, a, b) {
  if (kind !== "number") return collator.compare(a, b);
  const [x, y] = [Number.parseFloat(a), Number.parseFloat(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
  return x - y;
}

function sortBy(table, index, direction) {
  const header = table.tHead.rows[0].cells[index];
  const kind = header.dataset.sort;
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => direction * compare(kind, cellValue(a, index), cellValue(b, index)));
  body.append(...rows);
}

function prepare(table) {
  for (const cell of table.tHead?.rows[0]?.cells ?? []) {
    if (!cell.dataset.sort || cell.querySelector("button")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...cell.childNodes);
    cell.append(button);
  }
}

function onSort(button) {
  const cell = button.closest("th");
  const table = button.closest("table");
  const direction = cell.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  table.dataset.sorted = `${cell.cellIndex}:${direction}`;
  sortBy(table, cell.cellIndex, direction);
}

function keepSorted(table) {
  if (!table.dataset.sorted) return;
  const [index, direction] = table.dataset.sorted.split(":").map(Number);
  sortBy(table, index, direction);
}

function applyFilter(input) {
  const table = document.getElementById(input.dataset.filterInput);
  if (!table) return;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    if (!row.hidden) shown += 1;
  }
  const nothing = document.querySelector(`[data-filter-empty="${CSS.escape(table.id)}"]`);
  if (nothing) nothing.hidden = shown > 0 || table.tBodies[0].rows.length === 0;
}

export function startTables() {
  document.querySelectorAll("table[data-table]").forEach(prepare);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.sort");
    if (button) onSort(button);
    const row = event.target.closest("tr[data-href]");
    if (row && !event.target.closest("a, button, input, label, select, summary") && !window.getSelection().toString()) {
      window.location.assign(row.dataset.href);
    }
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter-input]")) applyFilter(event.target);
  });
  document.body.addEventListener("htmx:afterSwap", (event) => {
    for (const table of event.detail.target.querySelectorAll("table[data-table]")) prepare(table);
    const around = event.detail.target.closest("table[data-table]");
    if (around) keepSorted(around);
    document.querySelectorAll("[data-filter-input]").forEach(applyFilter);
  });
}
