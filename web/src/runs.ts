// Several runs of each thing, compared: a row a figure, its mean of the runs, its change, and whether that is more than chance.

import { element } from "./dom";
import type { Runs } from "./names";
import type { MainFigure, Mean } from "./report";
import { changesTable, signedPercent } from "./sessions";
import { figure } from "./units";

/** "2.19 s ± 1.4 %" */
function meanText({ value, runs, half }: Mean, unit: string): string {
    const text = figure(value, unit);
    if (half === null) return runs < 2 ? `${text}, one run` : `${text}, runs differ widely`;
    if (half === 0) return `${text} in all runs`;
    // What cannot be negative has no such interval.
    return half < 100 ? `${text} ± ${figure(half, "percent")}` : `${text}, runs differ widely`;
}

/** Change against the first and its interval; "not distinguishable" where the spread of the runs explains it. */
function changeText({ change }: Mean): string | null {
    if (!change) return null;
    const { percent, half, is_noise: isNoise } = change;
    if (percent === null) return "from 0";
    if (half === null) return `${signedPercent(percent)}; needs two runs of each`;
    if (half === 0) return percent === 0 ? "the same" : `${signedPercent(percent)}, in all runs`;
    const text = `${signedPercent(percent)} ± ${figure(half, "percent")}`;
    return isNoise ? `not distinguishable (${text})` : text;
}

export function runsTable(runs: Runs[], figures: MainFigure[], means: (Mean | null)[][]): HTMLElement {
    const rows = figures.map(({ label, unit }, i) => {
        const [first, ...others] = means[i]!.map((mean) => [mean && meanText(mean, unit), mean && changeText(mean)]);
        return [label, first![0]!, ...others.flat()];
    });
    const [first, ...others] = runs.map(({ name }) => name);
    const changes = means.map((row) => row.slice(1).map((mean) => (mean?.change && !mean.change.is_noise ? mean.change.percent : null)));
    const table = changesTable("Means of the runs, and their change against the first", first!, others, rows, changes);
    return element("div", {}, table, element("p", { class: "hint" }, "± is the half of the 95 % interval of a mean (Student) or of a change (Welch). Not distinguishable: the spread of the runs explains the difference."));
}
