// A part that asks for itself every few seconds is not exchanged while the pointer is down in it: the browser would see the
// press on one button and the release on another, and there would be no click.
export function startPressed() {
  let pressed = null;
  const release = () => setTimeout(() => (pressed = null));
  document.addEventListener("pointerdown", (event) => (pressed = event.button === 0 ? event.target : null), true);
  for (const end of ["pointerup", "pointercancel", "contextmenu", "dragend"]) document.addEventListener(end, release, true);
  window.addEventListener("blur", release);
  // Where the release was never told of, the next move tells: else the part would stand still for good.
  document.addEventListener("pointermove", (event) => event.buttons || release(), true);
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    const target = event.detail.target;
    const comesAgain = target.getAttribute("hx-trigger")?.includes("every ");
    if (pressed && comesAgain && target.contains(pressed)) event.detail.shouldSwap = false;
  });
}
