// Makes reports as docs/report-format.md describes them, from plain arrays: the other side of src/payload.ts.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";

/** Bytes of columns, and what the report says of each. */
export class Encoder {
    #pieces = [];
    #length = 0;

    #add(bytes) {
        const offset = this.#length;
        const padded = Buffer.alloc(Math.ceil(bytes.length / 8) * 8);
        bytes.copy(padded);
        this.#pieces.push(padded);
        this.#length += padded.length;
        return { offset, bytes: bytes.length };
    }

    /** Integers times a scale, as differences; NaN is missing. */
    delta(values, scale = 1) {
        const bytes = Buffer.alloc(values.length * 10);
        const missing = Buffer.alloc(Math.ceil(values.length / 8));
        let at = 0;
        let last = 0;
        let anyMissing = false;
        for (let i = 0; i < values.length; i++) {
            let integer = Math.round(values[i] / scale);
            if (Number.isNaN(values[i])) {
                integer = last;
                missing[i >> 3] |= 1 << (i & 7);
                anyMissing = true;
            }
            const difference = integer - last;
            let zigzag = difference < 0 ? -2 * difference - 1 : 2 * difference;
            for (; zigzag > 127; zigzag = Math.floor(zigzag / 128)) bytes[at++] = (zigzag % 128) + 128;
            bytes[at++] = zigzag;
            last = integer;
        }
        const column = { encoding: "delta", count: values.length, ...this.#add(bytes.subarray(0, at)) };
        if (scale !== 1) column.scale = scale;
        if (anyMissing) column.missing = this.#add(missing);
        return column;
    }

    /** Several columns of one length as one, their rows in turn. */
    interleaved(lists, scale) {
        const all = this.delta(lists[0].flatMap((_, i) => lists.map((list) => list[i])), scale);
        return lists.map((list, at) => ({ ...all, count: list.length, every: lists.length, at }));
    }

    f64(values) {
        return { encoding: "f64", count: values.length, ...this.#add(Buffer.from(Float64Array.from(values).buffer)) };
    }

    constant(value, count) {
        return { encoding: "constant", count, value };
    }

    get bytes() {
        return Buffer.concat(this.#pieces);
    }
}

export function encodePayload(report, encoder) {
    let json = Buffer.from(JSON.stringify(report));
    const padding = (8 - ((4 + json.length) % 8)) % 8;
    json = Buffer.concat([json, Buffer.alloc(padding, " ")]);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(json.length);
    return Buffer.concat([length, json, encoder.bytes]);
}

const escaped = (text) => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);

/** With what gpu-tracker finds in the sessions, unless the report says something else. */
function completed(report) {
    const curves = ({ series = [] }) => series.map(({ group, scope, unit, values: { count, value } }) => ({ group, scope, unit, values: { count, value } }));
    const sessions = report.sessions.map((session) => ({ name: session.name, identity: session.identity ?? {}, cards: session.cards, gpus: session.gpus, series: curves(session) }));
    const program = join(process.env.GPUT_BUILD ?? "build", "tests", "report-findings");
    const { sessions: found, findings } = JSON.parse(execFileSync(program, { input: JSON.stringify({ sessions }) }));
    const seriesOf = (session, i) => session.series?.map((series, k) => ({ ...series, is_main: found[i].series[k].is_main }));
    return { ...report, sessions: report.sessions.map((session, i) => ({ ...session, ending: found[i].ending, series: seriesOf(session, i) })), findings: { ...findings, ...report.findings } };
}

/** The page with a report in it. */
export function fillPage(template, made, encoder) {
    const report = completed(made);
    const data = deflateSync(encodePayload(report, encoder)).toString("base64");
    return readFileSync(template, "utf8")
        .replace("<!--gput-title-->", () => escaped(report.title || "report"))
        .replace("<!--gput-data-->", () => `<script type="application/octet-stream" id="gput-data">${data}</script>`);
}
