// A part that asks for itself every few seconds is not exchanged while the pointer is down in it: the browser would see the
// press on one button and the release on another, and there would be no click.
export function startPressed() {
  let pressed = null;
  const release = () => setTimeout(() => (pressed = null));
  document.addEventListener("pointerdown", (event) => (pressed = event.target), true);
  document.addEventListener("pointerup", release, true);
  document.addEventListener("pointercancel", release, true);
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    const target = event.detail.target;
    const comesAgain = target.getAttribute("hx-trigger")?.includes("every ");
    if (pressed && comesAgain && target.contains(pressed)) event.detail.shouldSwap = false;
  });
}
