// Reading JSON from the API: a web server that is busy (503) is asked again when it says so, a few times.
const TRIES = 6;

const wait = (ms) => new Promise((resolve) => window.setTimeout(resolve, ms));

// The answer, or null when there is none to be had.
export async function readJson(url) {
  for (let left = TRIES; left > 0; left -= 1) {
    const response = await fetch(url, { headers: { Accept: "application/json" } }).catch(() => null);
    if (response?.ok) return response.json().catch(() => null);
    if (response?.status !== 503) return null;
    const seconds = Number(response.headers.get("Retry-After")) || 2;
    // Spread, so that pages that were sent away together do not come back together.
    await wait(seconds * 1000 * (1 + Math.random()));
  }
  return null;
}
