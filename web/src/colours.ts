// Colours that people with any colour vision tell apart (after Okabe and Ito), in a light and a dark set.
// A colour never carries meaning alone: lines have dashes and labels, bars have texts.

import { isDark } from "./theme";

const LIGHT = ["#0b65c2", "#c8500a", "#0a8560", "#a8457f", "#8a6d00", "#2f7fb3", "#6a4fc0", "#5d6672"];
const DARK = ["#5aa9f5", "#f08a4b", "#3fc79a", "#e08fc0", "#d9b83a", "#8fd0f5", "#a997f2", "#a3adba"];

export const DASHES: number[][] = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
export const COLOUR_COUNT = LIGHT.length;
export const GREY = LIGHT.length - 1;

export function lineColour(index: number): string {
    const set = isDark() ? DARK : LIGHT;
    return set[index % set.length]!;
}

/** What a theme names: "ink", "muted", "hairline"… */
export function themeColour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The same name has the same colour in every lane and session. */
export function nameColour(name: string): number {
    let hash = 0x811c9dc5;
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
    // Grey is for what was merged.
    return ((hash ^ (hash >>> 15)) >>> 0) % (COLOUR_COUNT - 1);
}

/** Cividis: evenly brighter, the same to people with and without colour blindness. */
const SCALE: [number, number, number][] = [
    [0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115],
    [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56],
];

/** A colour for a share between 0 and 1. On a light page more is darker, on a dark one brighter. */
export function scaleColour(share: number): string {
    const clamped = Math.min(1, Math.max(0, share));
    const at = (isDark() ? clamped : 1 - clamped) * (SCALE.length - 1);
    const low = SCALE[Math.floor(at)]!;
    const high = SCALE[Math.ceil(at)]!;
    const part = at - Math.floor(at);
    const mixed = low.map((value, i) => Math.round(value + (high[i]! - value) * part));
    return `rgb(${mixed.join(",")})`;
}
