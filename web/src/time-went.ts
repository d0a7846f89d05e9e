// Where the time went: one stacked bar with its legend, and all shares as a table.

import { causeColour, colourVariable } from "./colours";
import { element } from "./dom";
import type { Table, TimeWent } from "./report";
import { foldedTable, headings, makeTable } from "./tables";
import { figure } from "./units";

/** Shares below this are in the table alone. */
const SHOWN_PERCENT = 0.5;

/** A bar of parts next to each other, each with its share of the whole in percent, and their legend. */
export function stackedBar(parts: { label: string; percent: number; colour: number }[]): HTMLElement[] {
    const bar = element("div", { class: "stacked", "aria-hidden": "true" });
    for (const { label, percent, colour } of parts) {
        const part = element("span", { title: `${label} ${figure(percent, "percent")}` });
        part.style.flexGrow = String(percent);
        part.style.background = colourVariable(colour);
        bar.append(part);
    }
    const legend = element("ul", { class: "stacked-legend" }, ...parts.map(({ label, percent, colour }) => {
        const swatch = element("i", { "aria-hidden": "true" });
        swatch.style.background = colourVariable(colour);
        return element("li", {}, swatch, element("strong", {}, figure(percent, "percent")), ` ${label}`);
    }));
    return [bar, legend];
}

function barOf({ shares }: TimeWent): HTMLElement[] {
    return stackedBar(shares.filter(({ percent }) => percent >= SHOWN_PERCENT).map(({ cause, label, percent }) => ({ label, percent, colour: causeColour(cause) })));
}

/** The account of the command; folded, those of its threads. */
export function timeWentBar(accounts: TimeWent[]): HTMLElement {
    const rows = accounts.flatMap(({ title, seconds, shares }) => shares.map((share) => [title, share.label, share.percent, share.seconds, share.half_width ? `sampled, ± ${figure(share.half_width)} points of ${figure(seconds, "seconds")}` : "counted"]));
    const columns = [...headings("Of|Cause"), ...headings("Share", 0, "percent"), ...headings("Time", 0, "seconds"), { name: "How it is known" }];
    return element("div", { class: "time-went" }, ...barOf(accounts[0]!), foldedTable("where the time went", makeTable({ title: "Where the time went", columns, rows }, { titleHidden: true, unsearched: true, rowsShown: 60 })));
}

/** A bar for each GPU of a trace. */
export function gpuBars(accounts: TimeWent[], table?: Table): HTMLElement {
    const bars = accounts.map((account) => element("div", { class: "account" }, element("h3", {}, `${account.title}, ${figure(account.seconds, "seconds")}`), ...barOf(account), account.note && element("p", { class: "hint" }, account.note)));
    return element("section", { class: "card gpus", "aria-label": "What each GPU did" }, ...bars, table && foldedTable(table.title, makeTable(table, { titleHidden: true })));
}
