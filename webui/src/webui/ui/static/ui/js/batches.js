// Tables of many rows: choosing rows, the bar that acts on them, and polls that leave a choice alone.
function frameOf(element) {
  return element.closest("[data-table-frame]");
}

function boxes(frame) {
  return [...frame.querySelectorAll("[data-choose]")];
}

function showChoice(frame) {
  const all = boxes(frame);
  const chosen = all.filter((box) => box.checked).length;
  const bar = frame.querySelector("[data-batch-bar]");
  if (bar) {
    bar.hidden = chosen === 0;
    bar.querySelector("[data-batch-count]").textContent = String(chosen);
  }
  const whole = frame.querySelector("[data-choose-all]");
  if (whole) {
    whole.checked = chosen > 0 && chosen === all.length;
    whole.indeterminate = chosen > 0 && chosen < all.length;
  }
}

export function startBatches() {
  document.addEventListener("change", (event) => {
    const frame = frameOf(event.target);
    if (!frame) return;
    if (event.target.matches("[data-choose-all]")) {
      for (const box of boxes(frame)) box.checked = event.target.checked;
    }
    if (event.target.matches("[data-choose], [data-choose-all]")) showChoice(frame);
  });
  document.addEventListener("keydown", (event) => {
    // "x" chooses the row that has the focus, as "j" and "k" walk rows.
    if (event.key !== "x" || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    const box = document.activeElement?.closest("tr")?.querySelector("[data-choose]");
    if (!box) return;
    box.checked = !box.checked;
    showChoice(frameOf(box));
  });
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    const frame = event.target;
    // A poll must not undo what the user is choosing.
    if (frame.matches?.("[data-table-frame]") && boxes(frame).some((box) => box.checked)) event.preventDefault();
  });
  document.querySelectorAll("[data-table-frame]").forEach(showChoice);
}
