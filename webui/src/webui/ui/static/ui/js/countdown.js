// <span data-countdown="SECONDS_LEFT"> counts down from when it appeared; at zero the page asks what happened.
const ends = new WeakMap();

function clock(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

function tick() {
  for (const element of document.querySelectorAll("[data-countdown]")) {
    if (!ends.has(element)) ends.set(element, performance.now() + Number(element.dataset.countdown) * 1000);
    const left = Math.max(0, Math.ceil((ends.get(element) - performance.now()) / 1000));
    element.textContent = clock(left);
    if (left === 0 && !element.dataset.done) {
      element.dataset.done = "1";
      window.setTimeout(() => {
        if (element.dataset.then === "reload") window.location.reload();
        else document.body.dispatchEvent(new CustomEvent("statusChanged"));
      }, 1500);
    }
  }
}

export function startCountdowns() {
  tick();
  window.setInterval(tick, 250);
}
