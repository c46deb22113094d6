// Runs before the first paint (a classic script in the head), so that a dark page never flashes white.
// The choice is "light", "dark" or "auto" in localStorage; auto follows the system.
(function () {
  "use strict";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const stored = function () {
    try {
      const value = window.localStorage.getItem("millrace.theme");
      return value === "light" || value === "dark" ? value : "auto";
    } catch {
      return "auto";
    }
  };
  const apply = function () {
    const choice = stored();
    const shown = choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
    document.documentElement.dataset.bsTheme = shown;
    document.documentElement.dataset.themeChoice = choice;
    window.dispatchEvent(new CustomEvent("millrace:theme", { detail: shown }));
  };
  apply();
  dark.addEventListener("change", apply);
  window.addEventListener("storage", apply);
  window.millraceTheme = {
    next: function () {
      const order = ["auto", "light", "dark"];
      const choice = order[(order.indexOf(stored()) + 1) % order.length];
      try {
        window.localStorage.setItem("millrace.theme", choice);
      } catch {
        document.documentElement.dataset.themeChoice = choice;
      }
      apply();
      return choice;
    },
  };
})();
