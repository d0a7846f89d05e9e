// Several runs of each thing, compared: a row a figure, its mean of the runs, its change, and whether that is more than chance.

import { element } from "./dom";
import type { Runs } from "./names";
import type { Session } from "./report";
import { type MainFigure, mainFigures, signedPercent } from "./sessions";
import { studentQuantile } from "./student";
import { makeTable } from "./tables";
import { figure } from "./units";

interface Mean {
    value: number;
    /** Of the mean, not of a run. NaN: one run. */
    variance: number;
    runs: number;
}

function meanOf(values: number[]): Mean {
    const runs = values.length;
    const value = values.reduce((sum, one) => sum + one, 0) / runs;
    const squares = values.reduce((sum, one) => sum + (one - value) ** 2, 0);
    return { value, variance: runs > 1 ? squares / (runs - 1) / runs : NaN, runs };
}

/** "2.19 s ± 1.4 %" */
function meanText(mean: Mean, unit: string): string {
    const text = figure(mean.value, unit);
    if (mean.runs < 2) return `${text}, one run`;
    if (mean.variance === 0) return `${text} in all runs`;
    const half = (studentQuantile(mean.runs - 1) * Math.sqrt(mean.variance)) / Math.abs(mean.value);
    // What cannot be negative has no such interval.
    return half < 1 ? `${text} ± ${figure(half * 100, "percent")}` : `${text}, runs differ widely`;
}

/** Change against the first and its interval; "not distinguishable" where the spread of the runs explains it. */
function changeText(first: Mean, other: Mean): string {
    if (first.value === 0) return other.value === 0 ? "the same" : "from 0";
    const change = (other.value / first.value - 1) * 100;
    const variance = first.variance + other.variance;
    if (Number.isNaN(variance)) return `${signedPercent(change)}; needs two runs of each`;
    if (variance === 0) return change === 0 ? "the same" : `${signedPercent(change)}, in all runs`;
    const freedom = variance ** 2 / (first.variance ** 2 / (first.runs - 1) + other.variance ** 2 / (other.runs - 1));
    const quantile = studentQuantile(freedom);
    const isNoise = Math.abs(other.value - first.value) <= quantile * Math.sqrt(variance);
    // Of a quotient: the variances of both, as shares.
    const half = quantile * Math.sqrt(other.variance + first.variance * (other.value / first.value) ** 2) / Math.abs(first.value) * 100;
    return isNoise ? `not distinguishable (${signedPercent(change)} ± ${figure(half, "percent")})` : `${signedPercent(change)} ± ${figure(half, "percent")}`;
}

export function runsTable(runs: Runs[], sessions: Session[]): HTMLElement {
    const means = ({ of }: MainFigure): (Mean | null)[] =>
        runs.map((one) => {
            const values = one.sessions.map((place) => of(sessions[place]!));
            return values.every((value): value is number => typeof value === "number") ? meanOf(values) : null;
        });
    const rows = mainFigures(sessions).map((one) => {
        const [first, ...others] = means(one);
        const text = (mean: Mean | null | undefined): string | null => (mean ? meanText(mean, one.unit) : null);
        return [one.label, text(first), ...others.flatMap((mean) => [text(mean), first && mean ? changeText(first, mean) : null])];
    });
    const [first, ...others] = runs;
    const number = (name: string): { name: string; type: "number" } => ({ name, type: "number" });
    const table = makeTable({ title: "Means of the runs, and their change against the first", columns: [{ name: "Figure" }, number(first!.name), ...others.flatMap(({ name }) => [number(name), number("Change")])], rows });
    return element("div", {}, table, element("p", { class: "hint" }, "± is the half of the 95 % interval of a mean (Student) or of a change (Welch). Not distinguishable: the spread of the runs explains the difference."));
}
