// Rules of an access list: Alt+Up and Alt+Down move the rule the focus is in; after a move the focus follows it.
document.addEventListener("keydown", (event) => {
  if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
  const row = event.target.closest("tr[data-rule]");
  if (!row) return;
  event.preventDefault();
  const button = row.querySelector(`[data-move="${event.key === "ArrowUp" ? "up" : "down"}"]`);
  if (button && !button.disabled) button.form.requestSubmit(button);
});

const moved = window.location.hash.startsWith("#rule-") && document.getElementById(window.location.hash.slice(1));
if (moved) {
  moved.querySelector("a, button:not(:disabled)")?.focus();
  moved.scrollIntoView({ block: "nearest" });
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
}
