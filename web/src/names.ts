// What sessions are called, and which of them are ranks of one job or runs of one thing.

import type { Session } from "./report";

/** When it ended, on the clock of its curves; NaN: not known. */
export function endOf({ identity }: Session): number {
    return identity?.end_s ?? identity?.seconds ?? NaN;
}

export function sessionName(session: Session, index: number): string {
    return session.name || session.identity?.command || session.file || `session ${index + 1}`;
}

export function rankLabel(session: Session, index: number): string {
    const rank = session.identity?.rank;
    return rank === null || rank === undefined ? sessionName(session, index) : `rank ${rank}`;
}

/** Of one job: all have a rank, and no two the same. Another session among them, or a second run of the job, is in no sum. */
export function areRanks(sessions: Session[]): boolean {
    const ranks = new Set(sessions.map((session) => session.identity?.rank).filter((rank) => typeof rank === "number"));
    return sessions.length > 1 && ranks.size === sessions.length;
}

export interface Runs {
    name: string;
    /** Places of its sessions in the report. */
    sessions: number[];
}

/** Sessions of one name are runs of one thing. Null: each has a name of its own. */
export function runsOf(sessions: Session[]): Runs[] | null {
    if (areRanks(sessions)) return null;
    const runs = new Map<string, Runs>();
    sessions.forEach((session, index) => {
        const name = sessionName(session, index);
        const known = runs.get(name);
        if (known) known.sessions.push(index);
        else runs.set(name, { name, sessions: [index] });
    });
    return runs.size < sessions.length ? [...runs.values()] : null;
}

/** What distinguishes each session from the others: "rank 3", "before, run 2", or its name. */
export function sessionLabels(sessions: Session[]): string[] {
    const names = sessions.map(sessionName);
    const labels = areRanks(sessions) ? sessions.map((session, i) => (typeof session.identity?.rank === "number" ? `rank ${session.identity.rank}` : names[i]!)) : [...names];
    for (const { name, sessions: places } of runsOf(sessions) ?? []) if (places.length > 1) places.forEach((place, run) => (labels[place] = `${name}, run ${run + 1}`));
    return new Set(labels).size === labels.length ? labels : names;
}

/** "lists, arrays" of runs, "solve, 8 ranks" of ranks; null: what the file says. */
export function titleOf(sessions: Session[]): string | null {
    const runs = runsOf(sessions);
    if (runs) return runs.length > 4 ? `${runs.slice(0, 3).map(({ name }) => name).join(", ")} and ${runs.length - 3} others` : runs.map(({ name }) => name).join(", ");
    if (!areRanks(sessions)) return null;
    const names = sessions.map(sessionName);
    let length = 0;
    while (length < names[0]!.length && names.every((name) => name[length] === names[0]![length])) length++;
    const common = names[0]!.slice(0, length).replace(/[^\p{L}\p{N}]*(r|rank)?[^\p{L}\p{N}]*$/u, "");
    return [common, `${sessions.length} ranks`].filter(Boolean).join(", ");
}
