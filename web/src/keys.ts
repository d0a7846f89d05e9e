// What every key does, and the list of keys that "?" shows.

import { button, element, listen } from "./dom";
import type { View } from "./view";

interface KeyActions {
    theme: () => void;
    clear: () => void;
    say: (text: string) => void;
    /** What is under the cursor, in words. */
    describe: () => string;
}

const KEYS: [string, string][] = [
    ["← →", "move along the time axis"],
    ["Shift ← →", "move the cursor, and read out its figures"],
    ["+ −", "zoom in, zoom out"],
    ["W S A D", "zoom in, zoom out, move"],
    ["0, Home, double click", "show the whole session"],
    ["Backspace", "back to what was shown before"],
    ["Drag", "zoom to a stretch"],
    ["Shift drag", "move along"],
    ["Ctrl wheel", "zoom around the pointer; over the overview the wheel alone"],
    ["Tab, Enter", "reach and use every control; in lanes the arrow keys go from bar to bar and Enter zooms"],
    ["T", "dark or light"],
    ["Esc", "clear cursor and selection"],
    ["?", "this list"],
];

/** A dialog that closes by Esc, as all dialogs of browsers do. */
export function keyHelp(): HTMLDialogElement {
    const dialog = element("dialog", { class: "help", "aria-label": "Keys" });
    const close = button("Close", () => dialog.close(), { class: "plain" });
    const list = element("dl", {}, ...KEYS.flatMap(([key, meaning]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, meaning)]));
    dialog.append(element("h2", {}, "Keys and pointer"), list, close);
    return dialog;
}

/** Whether a key means something to what has the focus: letters where somebody types, ways to go where there is more than is in sight. */
function isTaken(key: string, focused: Element, stage: HTMLElement): boolean {
    if (focused.closest("input, select, textarea, [contenteditable]")) return true;
    const place = focused.closest('[tabindex="0"]');
    if (!place || place === stage) return false;
    return /^Arrow|Home/.test(key) && (place.scrollHeight > place.clientHeight || place.scrollWidth > place.clientWidth);
}

/** Keys count wherever the focus is, but for what has it itself. */
export function listenToKeys(stage: () => HTMLElement, view: () => View, help: HTMLDialogElement, actions: KeyActions): void {
    listen(document, "keydown", (event) => {
        if (event.key === "Escape" && !help.open) return actions.clear();
        if (event.ctrlKey || event.metaKey || event.altKey || help.open || isTaken(event.key, event.target as Element, stage())) return;
        const action = keyAction(event, view(), help, actions);
        if (!action) return;
        event.preventDefault();
        action();
    });
}

function keyAction(event: KeyboardEvent, view: View, help: HTMLDialogElement, actions: KeyActions): (() => void) | null {
    const direction = event.key === "ArrowLeft" ? -1 : 1;
    switch (event.key) {
        case "ArrowLeft":
        case "ArrowRight":
            return event.shiftKey ? () => stepCursor(view, direction, actions) : () => view.pan(0.1 * direction);
        case "a":
        case "d":
            return () => view.pan(event.key === "a" ? -0.1 : 0.1);
        case "+":
        case "=":
        case "w":
            return () => view.zoom(1 / 1.5, view.cursor ?? undefined);
        case "-":
        case "_":
        case "s":
            return () => view.zoom(1.5, view.cursor ?? undefined);
        case "0":
        case "Home":
            return () => view.reset();
        case "Backspace":
            return () => view.back();
        case "t":
        case "T":
            return actions.theme;
        case "?":
            return () => help.showModal();
        default:
            return null;
    }
}

function stepCursor(view: View, direction: number, actions: KeyActions): void {
    const from = view.cursor ?? (direction > 0 ? view.from : view.to);
    view.moveCursor(Math.min(view.to, Math.max(view.from, from + (direction * view.span) / 100)));
    actions.say(actions.describe());
}
