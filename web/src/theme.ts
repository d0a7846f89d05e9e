// Dark or light: the system's choice, unless the reader made one.

const KEY = "gpu-tracker-theme";
const root = document.documentElement;

/** The reader's choice; storage is refused on some file:// pages and in frames: then it lasts as long as the page. */
let chosen: string | null = null;
try {
    chosen = localStorage.getItem(KEY);
} catch {
    // See above.
}

const darkQuery = matchMedia("(prefers-color-scheme: dark)");

export function applyTheme(): void {
    root.dataset.theme = chosen ?? (darkQuery.matches ? "dark" : "light");
}

export function switchTheme(): void {
    chosen = isDark() ? "light" : "dark";
    applyTheme();
    try {
        localStorage.setItem(KEY, chosen);
    } catch {
        // See above.
    }
}

/** The system's choice has changed. */
export function onSystemTheme(changed: () => void): void {
    darkQuery.addEventListener("change", () => {
        applyTheme();
        changed();
    });
}

/** Ink on paper is dark. */
export function lightenForPaper(): void {
    root.dataset.theme = "light";
}

export function isDark(): boolean {
    return root.dataset.theme === "dark";
}
