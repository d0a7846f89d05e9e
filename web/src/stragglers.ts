// In words: ranks that ran or worked far longer than the others, and those that failed.

import { rankLabel } from "./names";
import { groupTitle } from "./panels";
import type { Report } from "./report";
import { figure } from "./units";

const MAX_NAMED = 8;

export interface Straggler {
    /** Its place; -1: none. */
    session: number;
    /** What it is. */
    word: "straggler" | "busiest";
    text: string;
}

function list(texts: string[]): string {
    return texts.slice(0, MAX_NAMED).join(", ") + (texts.length > MAX_NAMED ? " \u2026" : "");
}

export function stragglerOf({ sessions, findings = { figures: [] } }: Report): Straggler | null {
    const { failed = [], stragglers, busiest } = findings;
    const label = (place: number): string => rankLabel(sessions[place]!, place);
    const times = (wall: number, cpu: number | null): string => figure(wall, "seconds") + (cpu === null ? "" : `, ${figure(cpu, "seconds")} of CPU time`);
    const texts: string[] = [];
    if (failed.length) texts.push(`${failed.length} of ${sessions.length} ranks failed: ${list(failed.map((place) => `${label(place)} (${sessions[place]!.ending?.text})`))}.`);
    if (stragglers) {
        const names = stragglers.ranks.map(({ session, seconds, cpu_seconds }) => `${label(session)}${sessions[session]!.identity?.host ? ` on ${sessions[session]!.identity!.host}` : ""} (${times(seconds, cpu_seconds)})`);
        texts.push(`${list(names)} ran or worked far longer than the others. Median: ${times(stragglers.median_seconds, stragglers.median_cpu_seconds)}.`);
    }
    if (texts.length) return { session: stragglers?.ranks[0]!.session ?? -1, word: "straggler", text: texts.join(" ") };
    if (!busiest) return null;
    const { session, group, mean, median } = busiest;
    return { session, word: "busiest", text: `${label(session)} was the busiest, ${groupTitle(group)} ${figure(mean, "percent")} against a median of ${figure(median, "percent")}: the others may wait for it.` };
}
