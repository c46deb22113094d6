// Short messages in the corner; errors stay until they are dismissed.
const STAY_MS = 7000;

export function toast(text, level = "info") {
  const note = document.createElement("div");
  note.className = `toast-note toast-${level}`;
  note.dataset.toast = "";
  const words = document.createElement("span");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "icon-button";
  close.dataset.dismiss = "";
  close.setAttribute("aria-label", "Dismiss");
  close.textContent = "×";
  note.append(words, close);
  document.getElementById("toasts")?.append(note);
  schedule(note);
}

function schedule(note) {
  if (!note.classList.contains("toast-error")) window.setTimeout(() => note.remove(), STAY_MS);
}

export function startToasts() {
  document.querySelectorAll("[data-toast]").forEach(schedule);
  document.addEventListener("click", (event) => {
    event.target.closest("[data-dismiss]")?.closest("[data-toast]")?.remove();
  });
  document.body.addEventListener("toast", (event) => toast(event.detail.text ?? "", event.detail.level ?? "info"));
}
