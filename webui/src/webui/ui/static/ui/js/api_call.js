// "Show me the API call": copies a line to the clipboard.
import { toast } from "./toasts.js";

export function startApiCalls() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = document.getElementById(button.dataset.copy)?.textContent ?? "";
    try {
      await navigator.clipboard.writeText(text.trim());
      toast("Copied.");
    } catch {
      toast("The browser does not allow copying here: select the text instead.", "warning");
    }
  });
}
