// The head of the page: what ran, where, when, for how long, and how it ended.

import { button, element, type Child } from "./dom";
import type { Report, Session } from "./report";
import { calendar, figure } from "./units";

const KINDS: Record<string, string> = { tracking: "tracking file", results: "results", power: "recording of power", profile: "training profile", trace: "trace" };

export interface HeaderActions {
    theme: () => void;
    help: () => void;
}

export function makeHeader(report: Report, actions: HeaderActions): HTMLElement {
    const { sessions } = report;
    const one = sessions.length === 1 ? sessions[0]! : null;
    const title = one?.identity?.command || one?.name || one?.file || (report.title ?? "").replace(/ - gpu-tracker$/, "") || `${sessions.length} sessions`;
    return element(
        "header",
        { class: "page-head" },
        element(
            "div",
            { class: "page-top" },
            element("p", { class: "eyebrow" }, one?.kind ? `gpu-tracker report · ${KINDS[one.kind] ?? one.kind}` : "gpu-tracker report"),
            element("div", { class: "page-actions no-print" }, button("Dark or light", actions.theme, { class: "plain", id: "theme" }), button("Keys", actions.help, { class: "plain", id: "keys" })),
        ),
        element("h1", { class: one?.identity?.command ? "command" : undefined, tabindex: -1 }, element("bdi", {}, title)),
        one && element("p", { class: "facts-line" }, ...sessionFacts(one)),
    );
}

export function sessionFacts(session: Session): Child[] {
    const identity = session.identity ?? {};
    const facts: Child[] = [];
    const add = (label: string, value: Child): void => void (value && facts.push(element("span", { class: "fact" }, element("span", { class: "fact-name" }, label), " ", value)));
    add("took", typeof identity.wall_s === "number" ? element("strong", {}, figure(identity.wall_s, "seconds")) : null);
    add("", exitBadge(identity.exit));
    add("started", typeof identity.start_unix_s === "number" ? calendar(identity.start_unix_s) : null);
    add("on", identity.host ? element("bdi", {}, identity.host) : null);
    add("pid", typeof identity.pid === "number" ? String(identity.pid) : null);
    add("rank", typeof identity.rank === "number" ? String(identity.rank) : null);
    add("file", session.file ? element("bdi", { class: "file" }, session.file) : null);
    return facts;
}

/** The mark says it too, not the colour alone. */
function exitBadge(exit: number | string | null | undefined): HTMLElement | null {
    if (exit === null || exit === undefined || exit === "") return null;
    const good = exit === 0 || exit === "0" || exit === "exit status 0";
    const words = typeof exit === "number" ? `exit status ${exit}` : exit;
    return element("span", { class: good ? "badge good" : "badge bad" }, `${good ? "✓" : "✗"} ${words}`);
}
