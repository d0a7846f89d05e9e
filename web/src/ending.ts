// How commands and processes ended.

import type { Session } from "./report";

/** Of signals that end commands; others have their number alone. */
const SIGNALS: Record<number, string> = { 1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM" };

export interface Ending {
    text: string;
    good: boolean;
}

/** "ended by signal 9 (SIGKILL)" */
export function signalText(signal: number): string {
    return `ended by signal ${signal}${SIGNALS[signal] ? ` (${SIGNALS[signal]})` : ""}`;
}

/** Null: it is not known. */
export function endingOf({ identity }: Session): Ending | null {
    const signal = identity?.signal;
    if (typeof signal === "number" && signal > 0) return { text: signalText(signal), good: false };
    if (identity?.is_unfinished) return { text: "did not finish", good: false };
    const exit = identity?.exit_status;
    if (exit === null || exit === undefined || exit === "") return null;
    return { text: typeof exit === "number" ? `exit status ${exit}` : exit, good: exit === 0 || exit === "0" || exit === "exit status 0" };
}
