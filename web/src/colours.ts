// Colours that people with any colour vision distinguish (after Okabe and Ito); page.css has them, light and dark.
// A colour never carries meaning alone: lines have dashes and labels, bars have texts.

import { isDark } from "./theme";

export const DASHES: number[][] = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
export const COLOUR_COUNT = 8;
export const GREY = COLOUR_COUNT - 1;

/** Of the many that only make the background for a few. */
export const FAINT = -1;

/** What time went to. */
const CAUSES: Record<string, number> = { computing: 0, cpu_wait: 1, communication: 1, gpu: 2, socket: 2, storage: 3, quota: 4, child: 4, pipe: 5, paging: 6, lock: 6, poll: GREY, idle: GREY };

export const causeColour = (cause: string): number => CAUSES[cause] ?? FAINT;

function nameOf(index: number): string {
    return index === FAINT ? "faint" : `c${index % COLOUR_COUNT}`;
}

export function lineColour(index: number): string {
    return themeColour(nameOf(index));
}

/** For elements, which follow the theme. */
export function colourVariable(index: number): string {
    return `var(--${nameOf(index)})`;
}

const kept = new Map<string, string>();

/** What a theme names: "ink", "muted", "line"… Kept, since asking the browser costs more than a line. */
export function themeColour(name: string): string {
    const key = `${isDark()} ${name}`;
    let value = kept.get(key);
    if (value === undefined) {
        value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
        kept.set(key, value);
    }
    return value;
}

/** One hue from nearly the page's colour to the strongest: the same order to people with and without colour blindness. */
const LIGHT_SCALE: [number, number, number][] = [[238, 242, 247], [178, 208, 238], [96, 156, 214], [26, 98, 178], [6, 44, 98]];
const DARK_SCALE: [number, number, number][] = [[31, 38, 46], [28, 66, 108], [40, 110, 178], [96, 168, 236], [206, 232, 255]];

/** A colour for a share between 0 and 1. On a light page more is darker, on a dark one brighter. */
export function scaleColour(share: number): string {
    const scale = isDark() ? DARK_SCALE : LIGHT_SCALE;
    const at = Math.min(1, Math.max(0, share)) * (scale.length - 1);
    const low = scale[Math.floor(at)]!;
    const high = scale[Math.ceil(at)]!;
    const part = at - Math.floor(at);
    return `rgb(${low.map((value, i) => Math.round(value + (high[i]! - value) * part)).join(",")})`;
}
