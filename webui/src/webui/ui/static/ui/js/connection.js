// Says when the web server does not answer, and when it does again. The header's poll and the counter
// stream both report here.
const failing = new Set();

export function report(source, works) {
  const before = failing.size > 0;
  if (works) failing.delete(source);
  else failing.add(source);
  const banner = document.getElementById("connection");
  if (!banner) return;
  banner.querySelector("[data-connection-text]").textContent = failing.has("busy")
    ? "The router's web server is busy. Trying again."
    : "Connection to the router lost. Trying again.";
  if (before === failing.size > 0) return;
  banner.hidden = failing.size === 0;
  document.body.classList.toggle("offline", failing.size > 0);
  if (failing.size === 0) document.dispatchEvent(new CustomEvent("millrace:reconnected"));
}

function isStatus(event) {
  return event.detail?.elt?.id === "status";
}

// A session that ended: the page itself is asked for, which leads to the login and back. What was typed is kept.
function onEnded(event) {
  if (event.detail.xhr?.status === 401) window.location.reload();
}

export function startConnection() {
  document.body.addEventListener("htmx:responseError", onEnded);
  document.body.addEventListener("htmx:sendError", (event) => isStatus(event) && report("status", false));
  document.body.addEventListener("htmx:timeout", (event) => isStatus(event) && report("status", false));
  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (!isStatus(event) || !event.detail.xhr?.status) return;
    const status = event.detail.xhr.status;
    const busy = status === 503 && Boolean(event.detail.xhr.getResponseHeader("Retry-After"));
    report("busy", !busy);
    report("status", status < 500 || busy);
  });
  window.addEventListener("offline", () => report("network", false));
  window.addEventListener("online", () => report("network", true));
}
