// Sidebar on small screens, menus, and the theme button.
const LABELS = { auto: "Theme: automatic", light: "Theme: light", dark: "Theme: dark" };

function showThemeChoice() {
  const choice = document.documentElement.dataset.themeChoice ?? "auto";
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.setAttribute("aria-label", LABELS[choice]);
    for (const icon of button.querySelectorAll("[data-theme-icon]")) icon.hidden = icon.dataset.themeIcon !== choice;
  }
}

export function nextTheme() {
  window.millraceTheme.next();
  showThemeChoice();
}

function toggleSidebar() {
  const shown = document.body.classList.toggle("sidebar-shown");
  const opener = document.querySelector(".sidebar-open");
  opener?.setAttribute("aria-expanded", String(shown));
  if (shown) document.querySelector("#sidebar a")?.focus();
  else opener?.focus();
}

export function startShell() {
  showThemeChoice();
  window.addEventListener("millrace:theme", showThemeChoice);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) nextTheme();
    if (event.target.closest("[data-sidebar-toggle]")) toggleSidebar();
    for (const menu of document.querySelectorAll("details[data-menu][open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (document.body.classList.contains("sidebar-shown")) toggleSidebar();
    const menu = document.querySelector("details[data-menu][open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.body.addEventListener("htmx:afterSwap", () => {
    const total = document.querySelector("[data-change-total]");
    if (total) showChangeCount(Number(total.dataset.changeTotal));
  });
}

function showChangeCount(count) {
  for (const badge of document.querySelectorAll("[data-change-badge], [data-change-count]")) badge.hidden = count === 0;
  for (const text of document.querySelectorAll("[data-change-count]")) text.textContent = String(count);
  for (const text of document.querySelectorAll("[data-change-text]")) {
    text.textContent = `${count} change${count === 1 ? "" : "s"}`;
  }
}
