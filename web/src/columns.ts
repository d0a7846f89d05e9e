// Columns of figures, decoded when they are first asked for.

import type { Column } from "./report";

/** Missing values are NaN. */
export class Columns {
    readonly #bytes: Uint8Array;
    readonly #decoded = new WeakMap<Column, Float64Array>();

    constructor(bytes: Uint8Array) {
        this.#bytes = bytes;
    }

    /** All values of a column; the array is kept and must not be changed. An absent column has none. */
    values(column: Column | undefined): Float64Array {
        if (!column) return new Float64Array(0);
        let values = this.#decoded.get(column);
        if (!values) {
            values = this.#decode(column);
            this.#decoded.set(column, values);
        }
        return values;
    }

    #decode(column: Column): Float64Array {
        const raw = this.#range(column.offset ?? 0, column.bytes ?? 0);
        switch (column.encoding) {
            case "delta":
                return pick(this.#withoutMissing(decodeDelta(raw, column), column), column);
            case "f64":
                // Lowest byte first, as all processors have them that browsers run on.
                return new Float64Array(raw.slice().buffer);
            case "constant":
                return new Float64Array(column.count).fill(column.value ?? NaN);
            default:
                throw new Error(`unknown encoding of a column: ${String(column.encoding)}`);
        }
    }

    #range(offset: number, bytes: number): Uint8Array {
        if (offset < 0 || offset + bytes > this.#bytes.length) throw new Error("a column reaches past the end of the data");
        return this.#bytes.subarray(offset, offset + bytes);
    }

    #withoutMissing(values: Float64Array, column: Column): Float64Array {
        if (!column.missing) return values;
        const bits = this.#range(column.missing.offset, column.missing.bytes);
        for (let i = 0; i < values.length; i++) {
            if ((bits[i >> 3]! >> (i & 7)) & 1) values[i] = NaN;
        }
        return values;
    }
}

/** Of several columns in turn one. */
function pick(values: Float64Array, { every, at = 0 }: Column): Float64Array {
    return every ? values.filter((_, i) => i % every === at) : values;
}

/** Integers as differences in zigzag LEB128. */
function decodeDelta(raw: Uint8Array, column: Column): Float64Array {
    const values = new Float64Array(column.count * (column.every ?? 1));
    const scale = column.scale ?? 1;
    const count = values.length;
    let at = 0;
    let sum = 0;
    for (let i = 0; i < count; i++) {
        // Up to four bytes fit the integers that processors add; nearly all differences do.
        let byte = raw[at++]!;
        let zigzag = byte & 127;
        if (byte > 127) {
            byte = raw[at++]!;
            zigzag |= (byte & 127) << 7;
            if (byte > 127) {
                byte = raw[at++]!;
                zigzag |= (byte & 127) << 14;
                if (byte > 127) {
                    byte = raw[at++]!;
                    zigzag |= (byte & 127) << 21;
                }
            }
        }
        if (byte > 127) {
            // Plain arithmetic: more than the 32 bits that shifts keep.
            let large = zigzag;
            for (let place = 2 ** 28; byte > 127; place *= 128) {
                byte = raw[at++]!;
                large += (byte & 127) * place;
            }
            sum += large % 2 ? -(large + 1) / 2 : large / 2;
        } else {
            sum += (zigzag >>> 1) ^ -(zigzag & 1);
        }
        values[i] = sum * scale;
    }
    if (at > raw.length) throw new Error("a column ends too early");
    return values;
}
