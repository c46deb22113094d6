// Sends an upgrade file in parts, each to where the last one ended; a part that gets lost is sent again.
const TRIES = 5;
const PAUSE_MS = 2000;

function wait(ms) {
  return new Promise((resolve) => window.setTimeout(resolve, ms));
}

class Refused extends Error {}

async function sendPart(part, offset, size, token, signal) {
  const response = await fetch(`/api/v1/upgrade/file?offset=${offset}&size=${size}`, {
    method: "PUT",
    headers: { "Content-Type": "application/octet-stream", "X-CSRFToken": token },
    body: part,
    signal,
  });
  if (response.ok) return;
  if (response.status >= 500) throw new Error(`the router answered ${response.status}`);
  const problem = await response.json().catch(() => ({}));
  throw new Refused(problem.errors?.[0]?.detail ?? problem.detail ?? `The router answered ${response.status}.`);
}

async function sendFile(file, partBytes, token, signal, told) {
  for (let offset = 0; offset < file.size; offset += partBytes) {
    for (let left = TRIES; ; left -= 1) {
      try {
        await sendPart(file.slice(offset, offset + partBytes), offset, file.size, token, signal);
        break;
      } catch (error) {
        if (error instanceof Refused || signal.aborted || left <= 1) throw error;
        await wait(PAUSE_MS);
      }
    }
    told(Math.min(file.size, offset + partBytes));
  }
}

function start(form) {
  const input = form.querySelector("#upgrade-file");
  const stop = form.querySelector("#upgrade-stop");
  const sending = form.querySelector("#upgrade-sending");
  const refused = form.querySelector("#upgrade-refused");
  const button = form.querySelector("button[type=submit]");

  function refuse(text) {
    refused.querySelector("div").textContent = text;
    refused.hidden = false;
    sending.hidden = true;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const file = input.files[0];
    if (!file) return;
    refused.hidden = true;
    if (file.size === 0 || file.size > Number(form.dataset.mostBytes)) {
      refuse("That is no upgrade file: it is empty or too large.");
      return;
    }
    const abort = new AbortController();
    const onStop = () => abort.abort();
    stop.addEventListener("click", onStop);
    button.disabled = input.disabled = true;
    stop.hidden = sending.hidden = false;
    const bar = sending.querySelector("progress");
    const words = sending.querySelector("span");
    const show = (sent) => {
      bar.value = (100 * sent) / file.size;
      words.textContent = `${Math.round(sent / 1e6)} of ${Math.round(file.size / 1e6)} MB`;
    };
    show(0);
    const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
    try {
      await sendFile(file, Number(form.dataset.partBytes), token, abort.signal, show);
      window.location.reload();
    } catch (error) {
      refuse(abort.signal.aborted ? "Stopped." : error.message);
    } finally {
      stop.removeEventListener("click", onStop);
      button.disabled = input.disabled = false;
      stop.hidden = true;
    }
  });
}

const form = document.getElementById("upgrade-form");
if (form) start(form);
