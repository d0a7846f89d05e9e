// Figures in a unit that fits them, as gpu-tracker's summary prints them: "412 MB", "3 min 12 s", "96.5 %".

const PREFIXES = ["n", "µ", "m", "", "k", "M", "G", "T", "P"];
const NO_PREFIX = 3;

const SYMBOLS: Record<string, string> = {
    bytes: "B",
    bytes_per_second: "B/s",
    watts: "W",
    joules: "J",
    grams: "g",
    seconds: "s",
    hertz: "Hz",
    celsius: "°C",
};

/** Smallest prefix that makes sense: there is no half byte. */
const SMALLEST: Record<string, number> = { bytes: NO_PREFIX, bytes_per_second: NO_PREFIX, seconds: 0 };

/** Three significant digits, or of what is below 1 two places unless it is compared; without zeros at the end. */
function digits(value: number, isCompared = false): string {
    const size = Math.abs(value);
    const text = value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : isCompared && size < 0.9995 ? 3 : 2);
    if (Number(text) === 0) return "0";
    return (text.includes(".") ? text.replace(/\.?0+$/, "") : text).replace("-", "\u2212");
}

/** 1234567 as "1 234 567", with narrow spaces. */
function grouped(value: number, decimals = 0): string {
    const [whole = "", part] = Math.abs(value).toFixed(decimals).split(".");
    const sign = value < 0 && Number(value.toFixed(decimals)) !== 0 ? "\u2212" : "";
    return sign + whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") + (part ? `.${part}` : "");
}

function scaled(value: number, unit: string): string {
    const smallest = SMALLEST[unit] ?? 1;
    let prefix = NO_PREFIX;
    while (prefix > smallest && value !== 0 && Math.abs(value) < 0.9995) {
        value *= 1000;
        prefix--;
    }
    while (prefix < PREFIXES.length - 1 && Math.abs(value) >= 999.5) {
        value /= 1000;
        prefix++;
    }
    return `${digits(value)}\u00a0${PREFIXES[prefix]!}${SYMBOLS[unit]!}`;
}

const two = (value: number): string => String(value).padStart(2, "0");

/** "850 ms", "12.3 s", "3 min 12 s", "2 h 05 min", "3 d 04 h". */
function duration(seconds: number): string {
    if (Math.abs(seconds) < 59.95) return scaled(seconds, "seconds");
    if (seconds < 0) return `\u2212${duration(-seconds)}`;
    const whole = Math.round(seconds);
    const minutes = Math.round(seconds / 60);
    const hours = Math.round(seconds / 3600);
    if (whole < 3600) return `${Math.floor(whole / 60)}\u00a0min ${whole % 60}\u00a0s`;
    if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}\u00a0h ${two(minutes % 60)}\u00a0min`;
    return `${Math.floor(hours / 24)}\u00a0d ${two(hours % 24)}\u00a0h`;
}

/** Units of time that tables have, in seconds. */
const TIMES: Record<string, number> = { seconds: 1, s: 1, milliseconds: 1e-3, ms: 1e-3, microseconds: 1e-6, us: 1e-6, nanoseconds: 1e-9, ns: 1e-9, minutes: 60, hours: 3600 };

/** A figure with its unit; "n/a" where there is none. One that is compared has the digits that its change is of. */
export function figure(value: number | null | undefined, unit = "", isCompared = false): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return "n/a";
    if (TIMES[unit]) return duration(value * TIMES[unit]!);
    if (unit === "ratio") return figure(value * 100, "percent");
    if (unit === "percent" || unit === "%") return `${Math.abs(value) >= 999.5 ? grouped(value) : digits(value, isCompared)}\u00a0%`;
    if (unit === "cores") return `${value > 0 && value < (isCompared ? 5e-4 : 0.01) ? "<\u00a00.01" : digits(value, isCompared)}\u00a0cores`;
    if (SYMBOLS[unit]) return scaled(value, unit);
    const plain = plainNumber(value);
    return unit && unit !== "count" ? `${plain}\u00a0${unit}` : plain;
}

/** A number of no known unit: counts whole, others with the digits that matter. */
function plainNumber(value: number): string {
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return grouped(value);
    const size = Math.abs(value);
    if (size >= 1e6 || (size < 1e-3 && size > 0)) return value.toPrecision(4).replace("e+", "e");
    return size >= 1000 ? grouped(value, 1) : size >= 1 ? digits(value) : String(Number(value.toPrecision(3))).replace("-", "\u2212");
}

/** Labels of an axis: one unit for all of them, chosen by the largest. */
export function axisLabels(values: number[], unit: string): string[] {
    const largest = Math.max(...values.map(Math.abs), 0);
    if (unit === "seconds") return values.map((value) => figure(value, unit));
    if (unit === "ratio") return axisLabels(values.map((value) => value * 100), "percent");
    const symbol = SYMBOLS[unit];
    if (!symbol) return values.map((value) => (unit === "percent" ? `${plainNumber(value)}\u00a0%` : plainNumber(value)));
    let prefix = NO_PREFIX;
    let factor = 1;
    while (prefix < PREFIXES.length - 1 && largest / factor >= 1000) {
        factor *= 1000;
        prefix++;
    }
    while (prefix > (SMALLEST[unit] ?? 1) && largest > 0 && largest / factor < 1) {
        factor /= 1000;
        prefix--;
    }
    return values.map((value) => (value === 0 ? "0" : `${Number((value / factor).toPrecision(4))}\u00a0${PREFIXES[prefix]!}${symbol}`));
}

/** A moment of a session, as exact as `step` seconds ask for: "12.5 s", "3:20", "1:02:00". */
export function moment(seconds: number, step: number): string {
    let decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
    const size = Math.abs(seconds);
    // Just below 0 is not 0, but for what arithmetic left.
    const isBelow = seconds < -step / 1000;
    while (isBelow && decimals < 9 && !Number(size.toFixed(decimals))) decimals++;
    const sign = isBelow ? "\u2212" : "";
    if (size < 1 && decimals > 3) return `${sign}${Number((size * 1000).toFixed(decimals - 3))}\u00a0ms`;
    if (size < 60) return `${sign}${size.toFixed(decimals)}\u00a0s`;
    const rounded = Number(size.toFixed(decimals));
    if (rounded >= 86400) return sign + dayMoment(rounded, step);
    const hours = Math.floor(rounded / 3600);
    const minutes = Math.floor((rounded % 3600) / 60);
    const rest = (rounded % 60).toFixed(decimals).padStart(decimals ? decimals + 3 : 2, "0");
    return hours ? `${sign}${hours}:${two(minutes)}:${rest}` : `${sign}${minutes}:${rest}`;
}

/** "2 d", "2 d 06:00", "2 d 06:00:12". */
function dayMoment(seconds: number, step: number): string {
    const days = `${Math.floor(seconds / 86400)}\u00a0d`;
    const rest = Math.floor(seconds % 86400);
    if (step >= 86400) return days;
    const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor((rest % 3600) / 60))}`;
    return step >= 60 ? `${days} ${clock}` : `${days} ${clock}:${two(rest % 60)}`;
}

/** "2026-11-22 17:40:56", in the reader's time zone. */
export function calendar(unixSeconds: number): string {
    const date = new Date(unixSeconds * 1000);
    if (Number.isNaN(date.getTime())) return "n/a";
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
