// Light or dark theme: the system's setting until the user selects one.

function apply() {
    const theme = localStorage.getItem("nagz.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
}
apply();

export function toggleTheme() {
    const chosen = document.documentElement.dataset.theme;
    const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    localStorage.setItem("nagz.theme", isDark ? "light" : "dark");
    apply();
}
