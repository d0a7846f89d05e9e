// Ranks that ran or worked far longer than the others, by the rule of `gpu-tracker job` (src/views/jobs/jobs_figures.c), so that both name the same.

import { endingOf } from "./ending";
import { areRanks, rankLabel } from "./names";
import { median } from "./order";
import type { Panel } from "./panels";
import type { Session } from "./report";
import { figure } from "./units";

const SLOW_FACTOR = 1.1;
const BUSY_FACTOR = 1.25;
const SLOW_SECONDS = 1;
const MAX_NAMED = 8;

export interface Straggler {
    /** Its place; -1: none. */
    session: number;
    /** What it is. */
    word: "straggler" | "busiest";
    text: string;
}

interface Rank {
    index: number;
    label: string;
    name: string;
    failed: boolean;
    wall: number;
    cpu: number;
}

function rankOf(session: Session, index: number): Rank {
    const { identity, cards } = session;
    const valueOf = (id: string): number => Number(cards?.find((card) => card.id === id)?.value ?? NaN);
    const wall = identity?.seconds ?? NaN;
    const label = rankLabel(session, index);
    return { index, label, name: `${label}${identity?.host ? ` on ${identity.host}` : ""}`, failed: hasFailed(session), wall, cpu: valueOf("cpu") || valueOf("cores") * wall };
}

/** Ray and Spark end all of their workers: that is not a failure, and neither is an end that is not known. */
function hasFailed({ identity }: Session): boolean {
    const { launcher, exit_status: exit, signal } = identity ?? {};
    if ((launcher === "Ray" && exit === 1) || (launcher === "Spark" && (exit === 143 || signal === 15))) return false;
    return Number(exit) > 0 || Number(signal) > 0;
}

function list(texts: string[]): string {
    return texts.slice(0, MAX_NAMED).join(", ") + (texts.length > MAX_NAMED ? " \u2026" : "");
}

/** Of the ranks that did not fail: these say what the work takes. */
function usualOf(ranks: Rank[], of: (rank: Rank) => number): number {
    return median(ranks.filter(({ failed }) => !failed).map(of).filter(Number.isFinite));
}

const isFar = (value: number, usual: number, factor: number): boolean => value > factor * usual && value > usual + SLOW_SECONDS;

/** All that stand out, and which one does so the most. */
function stragglerAmong(ranks: Rank[]): Straggler | null {
    const [wall, cpu] = [usualOf(ranks, (rank) => rank.wall), usualOf(ranks, (rank) => rank.cpu)];
    const times = (ofWall: number, ofCpu: number): string => figure(ofWall, "seconds") + (ofCpu >= 0 ? `, ${figure(ofCpu, "seconds")} of CPU time` : "");
    const excess = (rank: Rank): number => Math.max(rank.wall / wall, rank.cpu / cpu || 0);
    const found = ranks.filter((rank) => isFar(rank.wall, wall, SLOW_FACTOR) || isFar(rank.cpu, cpu, BUSY_FACTOR)).sort((a, b) => excess(b) - excess(a));
    if (!found.length) return null;
    const names = list(found.map((rank) => `${rank.name} (${times(rank.wall, rank.cpu)})`));
    return { session: found[0]!.index, word: "straggler", text: `${names} ran or worked far longer than the others. Median: ${times(wall, cpu)}.` };
}

/** Which ranks took far longer than the others, and which ones failed. Where none did, the one that the others may wait for. */
export function stragglerOf(sessions: Session[], panels: Panel[]): Straggler | null {
    if (!areRanks(sessions)) return null;
    const ranks = sessions.map(rankOf);
    const failed = ranks.filter((rank) => rank.failed);
    const straggler = failed.length < ranks.length ? stragglerAmong(ranks) : null;
    if (!failed.length) return straggler ?? busiestOf(sessions, panels);
    const names = list(failed.map(({ index, label }) => `${label} (${endingOf(sessions[index]!)!.text})`));
    return { session: straggler?.session ?? -1, word: "straggler", text: `${failed.length} of ${ranks.length} ranks failed: ${names}. ${straggler?.text ?? ""}`.trim() };
}

/** Ranks that wait for each other end together: the one that the others wait for works the most meanwhile. */
function busiestOf(sessions: Session[], panels: Panel[]): Straggler | null {
    for (const id of ["gpu:percent", "cpu:percent"]) {
        const panel = panels.find((candidate) => candidate.id === id);
        const lines = (panel?.lines ?? []).filter((line) => line.shownAtFirst && line.scope !== "sum");
        const means = lines.map((line) => ({ line, mean: line.mean(0, line.times.length) })).filter(({ mean }) => Number.isFinite(mean));
        if (means.length < sessions.length || means.length < 3) continue;
        const busiest = means.reduce((a, b) => (b.mean >= a.mean ? b : a));
        const usual = median(means.map(({ mean }) => mean));
        if (busiest.mean < usual * 1.15) continue;
        const { session, unit } = busiest.line;
        return { session, word: "busiest", text: `${rankLabel(sessions[session]!, session)} was the busiest, ${panel!.title} ${figure(busiest.mean, unit)} against a median of ${figure(usual, unit)}: the others may wait for it.` };
    }
    return null;
}
