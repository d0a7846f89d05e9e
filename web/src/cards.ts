// Numbers first: a card for each main figure, with its bounds, its limit, how it was measured and its curve in small.

import { element, svg } from "./dom";
import { withoutMode } from "./lane";
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
};

/** Of sessions whose figures are in tables: the figures that say most. */
export function cardsOfTables(session: Session): Card[] {
    const cards = [...profileCards(session), ...traceCards(session)];
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

/** Of a trace with GPU events: how long each GPU computed, waited and communicated. */
function traceCards(session: Session): Card[] {
    const figures: [string, string, string][] = [["compute_%", "computes", "gpu_compute"], ["idle_%", "idle", "gpu_idle"], ["communication_us", "communicates", "gpu_communication"], ["communication_overlap_%", "communication hidden behind computing", "gpu_overlap"]];
    const rows = rowsOf(session, "trace_breakdown");
    if (rows.length > 2) return [];
    return rows.flatMap((row) =>
        figures.flatMap(([name, words, id]) => {
            const value = row(name);
            const gpu = String(row("gpu"));
            return typeof value === "number" ? [{ id: `${id}_${gpu}`, label: `GPU ${gpu}: ${words}`, value, unit: name.endsWith("_us") ? "us" : "percent" }] : [];
        }),
    );
}

export function makeCards(all: Card[], panels: Panel[], session: number): HTMLElement {
    const cards = withNotes(all.filter((card) => cardValue(card) !== "n/a"));
    const missing = all.filter((card) => cardValue(card) === "n/a");
    const node = element("div", { class: "cards", role: "list", "aria-label": "Main figures" }, ...cards.map((card) => makeCard(card, curveOf(card, panels, session))));
    // Rows of nearly the same length: eight cards are four and four, not six and two.
    const rows = Math.ceil(cards.length / MAX_PER_ROW);
    node.style.setProperty("--per-row", String(Math.ceil(cards.length / Math.max(1, rows))));
    return element("div", {}, cards.length > 0 && node, ...missing.map((card) => element("p", { class: "hint missing", "data-card": card.id }, `${card.label}: not available, ${card.reason ?? "no source had it"}`)));
}

/** How much of the CPU time samples saw is said of that. */
function withNotes(cards: Card[]): Card[] {
    const seen = cards.find(({ id }) => id === "cpu_captured");
    const cpu = cards.find(({ id }) => id === "cpu");
    if (!seen || !cpu) return cards;
    return cards.filter((card) => card !== seen).map((card) => (card === cpu ? { ...card, note: `${cardValue(seen)} of it seen in samples` } : card));
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

function makeCard(card: Card, curve: Line | null): HTMLElement {
    return element(
        "div",
        { class: "card", role: "listitem", "data-card": card.id },
        element("div", { class: "card-head" }, element("span", { class: "label" }, card.label), card.state && element("span", { class: "state", title: [STATES[card.state], card.reason].filter(Boolean).join("; ") }, card.state)),
        element("div", { class: "number" }, cardValue(card)),
        element("div", { class: "note" }, card.note ?? boundsText(card)),
        limitMeter(card),
        curve && sparkline(curve),
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

/** How near the limit the figure came, as a bar and in words. */
function limitMeter(card: Card): HTMLElement | null {
    if (typeof card.value !== "number" || !card.limit) return null;
    const share = card.value / card.limit;
    const near = share >= 0.9;
    const bar = svg("svg", { class: near ? "meter near" : "meter", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "whole", width: 100, height: 4 }), svg("rect", { class: "part", width: Math.min(100, share * 100), height: 4 }));
    const words = `${figure(share * 100, "percent")} of ${figure(card.limit, card.unit)}${near ? ", near the limit" : ""}`;
    return element("div", { class: "limit" }, bar as unknown as Node, element("span", {}, words));
}
