// Numbers first: a card for each main figure, with its bounds, its limit, how it was measured and its curve in small.

import { type Child, element, svg } from "./dom";
import { withoutMode } from "./lane";
import type { Line } from "./line";
import type { Panel } from "./panels";
import type { Card, Session, TimeWent } from "./report";
import { sparkline } from "./sparkline";
import { timeWentBar } from "./time-went";
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
    sampled: "the highest or mean of what was sampled",
};

/** Of sessions whose figures are in tables: the figures that say most. */
export function cardsOfTables(session: Session): Card[] {
    const cards = profileCards(session);
    // Those of many GPUs or nodes are a table's.
    return cards.length <= 2 * MAX_PER_ROW ? cards : [];
}

/** Rows of a table by the names of its columns. */
function rowsOf(session: Session, id: string): ((column: string) => string | number | boolean | null | undefined)[] {
    const table = session.tables?.find((candidate) => candidate.id === id);
    return (table?.rows ?? []).map((row) => (column) => row[table!.columns.findIndex(({ name }) => name === column)]);
}

/** "GPUMemoryUtilization" of a GPU is "GPU memory utilization", "I/OWaitPercentage" of a CPU "CPU I/O wait". */
export function wordsOf(resource: string, dimension: string): string {
    const name = dimension.replace(/(Percent(age)?)$/, "").replace(new RegExp(`^${resource}`, "i"), "");
    const words = name.replace(/([a-z])(?=[A-Z])/g, "$1 ").replace("OWait", "O wait").replace(/\b[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase()).trim();
    return `${/^(cpu|gpu|i\/o)$/.test(resource) ? resource.toUpperCase() : resource} ${words || "utilization"}`;
}

/** Of a training profile: the loop, a step of each phase, how busy the devices were. */
function profileCards(session: Session): Card[] {
    const cards: Card[] = [];
    const add = (id: string, label: string, value: unknown, unit: string, rest: Partial<Card> = {}): void => void (typeof value === "number" && cards.push({ id, label, value, unit, ...rest }));
    const number = (value: unknown): number | null => (typeof value === "number" ? value : null);
    for (const job of rowsOf(session, "profile_job")) {
        add("loop", "Training loop", job("training_loop_duration"), "seconds", { note: `${figure(number(job("training_loop_%")), "percent")} of ${figure(number(job("job_duration")), "seconds")}` });
    }
    for (const steps of rowsOf(session, "profile_steps")) {
        const phase = String(steps("training_phase"));
        add(`step_${phase}`, `Median step, ${withoutMode(phase)}`, steps("duration_p50_us"), "us", { note: `95th percentile ${figure(number(steps("duration_p95_us")), "us")}` });
    }
    const rows = rowsOf(session, "profile_utilization");
    const severalNodes = new Set(rows.map((row) => row("nodeID"))).size > 1;
    for (const row of rows) {
        const [resource, node, dimension] = [String(row("Resource")), String(row("nodeID")), String(row("dimension") ?? "")];
        if (resource === "network") continue; // bytes
        add(`${resource}_mean_${node}_${dimension}`, `Mean ${wordsOf(resource, dimension)}${severalNodes ? `, ${node}` : ""}`, row("utilization_mean"), "percent", { note: `median ${figure(number(row("utilization_p50")), "percent")}` });
    }
    return cards;
}

/** The main figures as tiles, all others as a list; where none is a main one, each is a small tile. */
export function makeCards(all: Card[], panels: Panel[], session: number, timeWent: TimeWent[] = []): HTMLElement {
    const cards = withNotes(all.filter((card) => cardValue(card) !== "n/a"));
    const missing = all.filter((card) => cardValue(card) === "n/a");
    const main = cards.filter((card) => card.is_main);
    const tiles = main.length ? main : cards;
    const others = cards.filter((card) => !tiles.includes(card));
    const node = element("div", { class: main.length ? "cards main" : "cards", role: "list", "aria-label": "Main figures" }, ...tiles.map((card) => makeCard(card, card.id === "wall" && timeWent.length ? timeWentBar(timeWent) : sparklineOf(card, panels, session))));
    // Rows of nearly the same length: eight cards are four and four, not six and two.
    const rows = Math.ceil(tiles.length / MAX_PER_ROW);
    node.style.setProperty("--per-row", String(Math.ceil(tiles.length / Math.max(1, rows))));
    return element(
        "div",
        {},
        cards.length > 0 && node,
        others.length > 0 && element("div", { class: "more-figures", role: "list", "aria-label": "More figures" }, ...others.map(makeFigure)),
        ...missing.map((card) => element("p", { class: "hint missing", "data-card": card.id }, `${card.label}: not available, ${card.reason ?? "no source had it"}`)),
    );
}

/** Samples that saw nearly all of the CPU time need no word. */
const SEEN_PERCENT = 99;

/** One tile has the CPU time, the cores that it makes, and how much of it samples saw. */
function withNotes(cards: Card[]): Card[] {
    const [seen, cpu, cores] = ["cpu_captured", "cpu", "cores"].map((id) => cards.find((card) => card.id === id));
    if (!cpu) return cards;
    const note = seen && Number(seen.value) < SEEN_PERCENT ? `${cardValue(seen)} of it seen in samples` : undefined;
    return cards.filter((card) => card !== seen && (card !== cores || !cpu.is_main)).map((card) => (card === cpu ? { ...card, note, limited: cpu.is_main ? cores : undefined } : card));
}

/** A figure of the list: label, value, and what is to be said of it. */
function makeFigure(card: Card): HTMLElement {
    const share = typeof card.value === "number" && card.limit ? `${figure((card.value / card.limit) * 100, "percent")} of ${figure(card.limit, card.unit)}` : "";
    const note = [card.note ?? boundsText(card), share].filter(Boolean).join(", ");
    return element("div", { class: "figure", role: "listitem", "data-card": card.id }, element("span", { class: "label" }, card.label), " ", element("span", { class: "number" }, cardValue(card)), " ", note ? element("span", { class: "note" }, note) : stateOf(card));
}

/** Nothing is said of what was counted: it is what it says. */
function stateOf({ state, reason }: Card): Child {
    return state && state !== "exact" ? element("span", { class: "state", title: [STATES[state], reason].filter(Boolean).join("; ") }, state) : null;
}

function sparklineOf(card: Card, panels: Panel[], session: number): Child {
    const curve = curveOf(card, panels, session);
    return curve && (sparkline(curve) as unknown as Node | null);
}

function curveOf(card: Card, panels: Panel[], session: number): Line | null {
    // These have no curve: what of the CPU time samples saw, sums and means of several devices, and what is of all steps.
    if (/captured|_machine$|_mean_|^step_|^loop$/.test(card.id)) return null;
    const prefix = CHARTS.find(([words]) => words.test(card.id.toLowerCase()))?.[1];
    const panel = prefix ? panels.find((candidate) => candidate.id.startsWith(prefix)) : undefined;
    const lines = panel?.lines.filter((line) => line.session === session) ?? [];
    const ofScope = lines.find((line) => line.series === card.id.replace("_ram", "_combined_ram") || line.scope === card.id) ?? lines.find((line) => line.scope !== "" && card.id.includes(line.scope));
    // "RAM" is in "RAM peak of main" too: the scope counts before the label.
    return ofScope ?? lines.find((line) => card.label.includes(line.label)) ?? lines.find((line) => line.scope === "combined") ?? lines.find((line) => line.shownAtFirst) ?? null;
}

function cardValue(card: Card): string {
    if (typeof card.value === "string") return card.value;
    return card.state === "unavailable" || card.value === null ? "n/a" : figure(card.value, card.unit);
}

function makeCard(card: Card, picture: Child): HTMLElement {
    return element(
        "div",
        { class: "card", role: "listitem", "data-card": card.id },
        element("div", { class: "card-head" }, element("span", { class: "label" }, card.label), stateOf(card)),
        element("div", { class: "number" }, cardValue(card)),
        element("div", { class: "note" }, card.note ?? boundsText(card)),
        limitMeter(card.limited ?? card),
        picture,
    );
}

function boundsText(card: Card): string {
    const { at_least: low, at_most: high } = card;
    const known = (value: number | null | undefined): value is number => typeof value === "number" && Number.isFinite(value);
    if (known(low) && known(high) && figure(low, card.unit) !== figure(high, card.unit)) return `between ${figure(low, card.unit)} and ${figure(high, card.unit)}`;
    if (known(low) && !known(high) && "at_most" in card) return "at least this";
    if (known(high) && high !== card.value && !known(low)) return `at most ${figure(high, card.unit)}`;
    return "";
}

/** How near the limit the figure came, as a bar and in words. All cores in use is as it should be, all RAM is not. */
function limitMeter({ value, limit, unit }: Card): HTMLElement | null {
    if (typeof value !== "number" || !limit) return null;
    const share = value / limit;
    const near = share >= 0.9 && unit === "bytes";
    const bar = svg("svg", { class: near ? "meter near" : "meter", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "whole", width: 100, height: 4 }), svg("rect", { class: "part", width: Math.min(100, share * 100), height: 4 }));
    const words = unit === "cores" ? `${figure(value, unit).replace(/\s*cores/, "")} of ${figure(limit, unit)}` : `${figure(share * 100, "percent")} of ${figure(limit, unit)}${near ? ", near the limit" : ""}`;
    return element("div", { class: "limit" }, bar as unknown as Node, element("span", {}, words));
}
