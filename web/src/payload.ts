// The data of a report: base64 of zlib in an element of the page, a JSON text and the bytes of its columns.

import { Columns } from "./columns";
import type { Report } from "./report";
import { unpack } from "./unpack";

export interface Payload {
    report: Report;
    columns: Columns;
}

/** Null where the page has no data: it is the bare template. */
export async function readPayload(): Promise<Payload | null> {
    const element = document.getElementById("gput-data");
    if (!element) return null;
    const bytes = await unpack(element);
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
