// The data of a report: base64 of zlib in an element of the page, a JSON text and the bytes of its columns.

import { Columns } from "./columns";
import type { Report } from "./report";

export interface Payload {
    report: Report;
    columns: Columns;
}

/** Null where the page has no data: it is the bare template. */
export async function readPayload(): Promise<Payload | null> {
    const element = document.getElementById("gput-data");
    if (!element) return null;
    const bytes = await inflate(bytesOfBase64(element.textContent ?? ""));
    // The text is not needed again, and can be tens of megabytes.
    element.remove();
    return parsePayload(bytes);
}

function parsePayload(bytes: Uint8Array): Payload {
    if (bytes.length < 4) throw new Error("the data is truncated");
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    if (4 + length > bytes.length) throw new Error("the data is truncated");
    const text = new TextDecoder().decode(bytes.subarray(4, 4 + length));
    // A name such as "__proto__" becomes a plain key of its object; no object is merged into another.
    const report = JSON.parse(text) as Report;
    if (report.format !== 1) throw new Error(`format ${String(report.format)} is not known to this page`);
    if (!Array.isArray(report.sessions)) throw new Error("the data has no sessions");
    return { report, columns: new Columns(bytes.subarray(4 + length)) };
}

/** Browsers of 2025 on do it themselves. */
const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;

/** In pieces: one string of all bytes would need several times the memory. */
function bytesOfBase64(text: string): Uint8Array[] {
    const clean = text.trim();
    if (native) return [native(clean)];
    const pieces: Uint8Array[] = [];
    const step = 1 << 20;
    for (let at = 0; at < clean.length; at += step) {
        const binary = atob(clean.slice(at, at + step));
        const piece = new Uint8Array(binary.length);
        for (let i = 0; i < piece.length; i++) piece[i] = binary.charCodeAt(i);
        pieces.push(piece);
    }
    return pieces;
}

async function inflate(pieces: Uint8Array[]): Promise<Uint8Array> {
    const stream = new Blob(pieces as BlobPart[]).stream().pipeThrough(new DecompressionStream("deflate"));
    try {
        return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
        // Browsers say "Failed to fetch".
        throw new Error("the data is damaged");
    }
}
