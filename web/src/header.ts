// The head of the page: what ran, where, when, for how long, and how it ended.

import { button, element, type Child } from "./dom";
import { titleOf } from "./names";
import type { Ending, Report, Session } from "./report";
import { calendar, figure } from "./units";

const KINDS: Record<string, string> = { tracking: "tracking file", results: "results", power: "recording of power", profile: "training profile", trace: "trace", python: "profile of Python" };

/** In 1980: what comes before is not a date of a session. */
const FIRST_DAY = 10 * 365.25 * 86400;

interface HeaderActions {
    theme: () => void;
    help: () => void;
    copyLink: () => void;
}

export function makeHeader(report: Report, actions: HeaderActions): HTMLElement {
    const { sessions } = report;
    const one = sessions.length === 1 ? sessions[0]! : null;
    // What a killed session left has a hidden file.
    const process = one?.name?.[0] === "." && one.identity?.program ? `${one.identity.program}, pid ${one.identity.pid}` : "";
    // A program alone says less than the name of the file.
    const script = `${one?.identity?.program}`.includes(" ") && `${one!.identity!.program}`;
    const title = one?.identity?.command || process || script || one?.name || one?.file || headingOf(report);
    return element(
        "header",
        { class: "page-head" },
        element(
            "div",
            { class: "page-top" },
            element("p", { class: "eyebrow" }, one?.kind ? `gpu-tracker report · ${KINDS[one.kind] ?? one.kind}` : "gpu-tracker report"),
            element("div", { class: "page-actions no-print" }, location.protocol !== "about:" && button("Copy link", actions.copyLink, { class: "plain", id: "link", title: "A link to what is in sight" }), button("Dark or light", actions.theme, { class: "plain", id: "theme" }), button("Keys", actions.help, { class: "plain", id: "keys" })),
        ),
        element("h1", { class: one?.identity?.command ? "command" : undefined, tabindex: -1 }, element("bdi", {}, title)),
        one && element("p", { class: "facts-line" }, ...sessionFacts(one)),
    );
}

/** Of several sessions. What the command made of their names ends in its own; any other title was given, as that of a job. */
function headingOf({ title = "", sessions }: Report): string {
    const names = title.replace(/ - gpu-tracker$/, "");
    return (names === title && title) || titleOf(sessions) || names || `${sessions.length} sessions`;
}

export function sessionFacts(session: Session): Child[] {
    const identity = session.identity ?? {};
    const facts: Child[] = [];
    const add = (label: string, value: Child): void => void (value && facts.push(element("span", { class: "fact" }, element("span", { class: "fact-name" }, label), " ", value)));
    add("took", typeof identity.seconds === "number" ? element("strong", {}, figure(identity.seconds, "seconds")) : null);
    add("", endingBadge(session.ending));
    // Clocks of traces may count from when the machine was started.
    add("started", typeof identity.start_timestamp === "number" && identity.start_timestamp > FIRST_DAY ? calendar(identity.start_timestamp) : null);
    add("on", identity.host ? element("bdi", {}, identity.host) : null);
    add("pid", typeof identity.pid === "number" ? String(identity.pid) : null);
    const text = (key: string): Child => (typeof identity[key] === "string" && identity[key] ? element("bdi", {}, identity[key] as string) : null);
    if (!identity.command) add("program", text("program"));
    add("by", text("user"));
    add("job", text("job_id"));
    const ranks = typeof identity.world_size === "number" ? ` of ${identity.world_size}` : "";
    add(typeof identity.rank === "number" ? "rank" : "ranks", typeof identity.rank === "number" ? `${identity.rank}${ranks}` : text("ranks"));
    add("node", identity.node !== identity.host ? text("node") : null);
    add("clock", text("clock_note"));
    add("container", text("container"));
    add("file", session.file ? element("bdi", { class: "file" }, session.file) : null);
    return facts;
}

/** The mark says it too, not the colour alone. */
function endingBadge(ending?: Ending): HTMLElement | null {
    return ending ? element("span", { class: ending.is_good ? "badge good" : "badge bad" }, `${ending.is_good ? "✓" : "✗"} ${ending.text}`) : null;
}
