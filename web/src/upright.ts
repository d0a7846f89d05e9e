// Texts from files, which may hold anything, as they are shown.

/** With control characters, and with what turns the direction of all that follows (overrides, isolates), as "?", as on a terminal. */
export function upright(text: string): string {
    return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "?");
}
