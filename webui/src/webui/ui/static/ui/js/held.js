// A part that lives above a form keeps the height it came with: what arrives later moves no button below it, and scrolls in
// its place. Only another width gives it another height.
export function startHeld() {
  for (const element of document.querySelectorAll("[data-held]")) {
    let width = 0;
    new ResizeObserver(() => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      element.style.height = "";
      element.style.height = `${element.offsetHeight}px`;
    }).observe(element);
  }
}
