// Dark or light: the system's choice, unless the reader made one.

type Theme = "system" | "light" | "dark";

const KEY = "gpu-tracker-theme";

/** Storage is refused on some file:// pages and in frames: then the choice lasts as long as the page. */
export function rememberedTheme(): Theme {
    try {
        const value = localStorage.getItem(KEY);
        return value === "light" || value === "dark" ? value : "system";
    } catch {
        return "system";
    }
}

export function rememberTheme(theme: Theme): void {
    try {
        if (theme === "system") localStorage.removeItem(KEY);
        else localStorage.setItem(KEY, theme);
    } catch {
        // See rememberedTheme.
    }
}

export function applyTheme(theme: Theme): void {
    const root = document.documentElement;
    if (theme === "system") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
}

let onScreen: string | null | undefined;

/** Ink on paper is dark. Said twice before it is taken back, it is said once. */
export function lightenForPaper(): void {
    const root = document.documentElement;
    if (onScreen === undefined) onScreen = root.getAttribute("data-theme");
    root.setAttribute("data-theme", "light");
}

export function returnToScreen(): void {
    if (onScreen) document.documentElement.setAttribute("data-theme", onScreen);
    else if (onScreen === null) document.documentElement.removeAttribute("data-theme");
    onScreen = undefined;
}

// Asked for every colour of a frame: a new query each time is slow.
const darkQuery = matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
    const chosen = document.documentElement.getAttribute("data-theme");
    return chosen ? chosen === "dark" : darkQuery.matches;
}
