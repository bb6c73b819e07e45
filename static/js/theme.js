// Theme: system, light or dark. Kept in a cookie so that the server paints the right one at once.
const ONE_YEAR_SECONDS = 31536000;
const root = document.documentElement;
const current = () => root.dataset.theme ?? "system";

function choose(theme) {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  const age = theme === "system" ? 0 : ONE_YEAR_SECONDS;
  document.cookie = `theme=${theme}; path=/; max-age=${age}; samesite=lax`;
}

for (const group of document.querySelectorAll("[data-theme-switch]")) {
  const buttons = [...group.querySelectorAll("[data-theme-value]")];
  const mark = () => {
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.dataset.themeValue === current()));
    }
  };
  group.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-value]");
    if (!button) return;
    choose(button.dataset.themeValue);
    mark();
  });
  mark();
  group.hidden = false;
}
