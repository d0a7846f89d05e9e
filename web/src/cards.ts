// Numbers first: a card for each main figure, with its bounds, its limit, how it was measured and its curve in small.

import { element, svg } from "./dom";
import type { Line } from "./line";
import type { Panel } from "./panels";
import type { Card, Session } from "./report";
import { sparkline } from "./sparkline";
import { figure } from "./units";

/** Which chart a card's figure comes from, by words in its id; the first that fits. */
const CHARTS: [RegExp, string][] = [
    [/gpu.*(ram|memory)/, "gpu_ram:"],
    [/power|energy|joule|watt/, "power:"],
    [/gpu/, "gpu:"],
    [/ram|memory|rss/, "ram:"],
    [/cpu/, "cpu:"],
    [/thread/, "threads:"],
    [/process/, "processes:"],
    [/read|write|written|^io$|i\/o/, "io:"],
];

const MAX_PER_ROW = 6;

const STATES: Record<string, string> = {
    exact: "counted by the kernel or the device",
    sampled: "the highest or mean of what was sampled",
    unavailable: "not available here",
};

/** Of a trace with GPU events: how long each GPU computed, waited and communicated, from the table that says more. */
export function traceCards(session: Session): Card[] {
    const table = session.tables?.find(({ id }) => id === "trace_breakdown");
    const place = (name: string): number => table?.columns.findIndex((column) => column.name === name) ?? -1;
    if (!table || table.rows.length > 2) return [];
    const figures: [string, string, string][] = [["compute_%", "computes", "gpu_compute"], ["idle_%", "idle", "gpu_idle"], ["communication_us", "communicates", "gpu_communication"], ["communication_overlap_%", "communication hidden behind computing", "gpu_overlap"]];
    return table.rows.flatMap((row) =>
        figures.flatMap(([name, words, id]) => {
            const value = row[place(name)];
            const unit = table.columns[place(name)]?.unit;
            return typeof value === "number" ? [{ id: `${id}_${String(row[place("gpu")])}`, label: `GPU ${String(row[place("gpu")])}: ${words}`, value, unit }] : [];
        }),
    );
}

export function makeCards(cards: Card[], panels: Panel[], session: number): HTMLElement {
    const node = element("div", { class: "cards", role: "list", "aria-label": "Main figures" }, ...cards.map((card) => makeCard(card, curveOf(card, panels, session))));
    // Rows of nearly the same length: eight cards are four and four, not six and two.
    const rows = Math.ceil(cards.length / MAX_PER_ROW);
    node.style.setProperty("--per-row", String(Math.ceil(cards.length / rows)));
    return node;
}

function curveOf(card: Card, panels: Panel[], session: number): Line | null {
    // What of the CPU time samples saw has no curve.
    if (card.id.includes("captured")) return null;
    const prefix = CHARTS.find(([words]) => words.test(card.id.toLowerCase()))?.[1];
    const panel = prefix ? panels.find((candidate) => candidate.id.startsWith(prefix)) : undefined;
    const lines = panel?.lines.filter((line) => line.session === session) ?? [];
    const ofScope = lines.find((line) => line.scope === card.id) ?? lines.find((line) => line.scope !== "" && card.id.includes(line.scope));
    // "RAM" is in "RAM peak of main" too: the scope counts before the label.
    return ofScope ?? lines.find((line) => card.label.includes(line.label)) ?? lines.find((line) => line.scope === "combined") ?? lines.find((line) => line.shownAtFirst) ?? null;
}

function cardValue(card: Card): string {
    if (typeof card.value === "string") return card.value;
    return card.state === "unavailable" || card.value === null ? "n/a" : figure(card.value, card.unit);
}

function makeCard(card: Card, curve: Line | null): HTMLElement {
    const missing = cardValue(card) === "n/a";
    return element(
        "div",
        { class: missing ? "card missing" : "card", role: "listitem", "data-card": card.id },
        element("div", { class: "card-head" }, element("span", { class: "label" }, card.label), card.state && card.state !== "unavailable" && element("span", { class: "state", title: [STATES[card.state], card.reason].filter(Boolean).join("; ") }, card.state)),
        element("div", { class: "number" }, missing ? "not available" : cardValue(card)),
        missing ? element("div", { class: "note" }, card.reason ?? "no source had it") : element("div", { class: "note" }, boundsText(card)),
        limitMeter(card),
        curve && !missing && sparkline(curve),
    );
}

function boundsText(card: Card): string {
    const { at_least: low, at_most: high } = card;
    const known = (value: number | null | undefined): value is number => typeof value === "number" && Number.isFinite(value);
    if (known(low) && known(high) && figure(low, card.unit) !== figure(high, card.unit)) return `between ${figure(low, card.unit)} and ${figure(high, card.unit)}`;
    if (known(low) && !known(high) && "at_most" in card) return `at least ${figure(low, card.unit)}`;
    if (known(high) && high !== card.value && !known(low)) return `at most ${figure(high, card.unit)}`;
    return "";
}

/** How near the limit the figure came, as a bar and in words. */
function limitMeter(card: Card): HTMLElement | null {
    if (typeof card.value !== "number" || !card.limit) return null;
    const share = card.value / card.limit;
    const near = share >= 0.9;
    const bar = svg("svg", { class: near ? "meter near" : "meter", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "whole", width: 100, height: 4 }), svg("rect", { class: "part", width: Math.min(100, share * 100), height: 4 }));
    const words = `${figure(share * 100, "percent")} of ${figure(card.limit, card.unit)}${near ? ", near the limit" : ""}`;
    return element("div", { class: "limit" }, bar as unknown as Node, element("span", {}, words));
}
