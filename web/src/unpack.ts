// What the page carries packed, its script and its data: base64 of zlib in elements of their own.

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

/** The bytes that an element of the page holds as base64 of zlib. */
export async function unpack(element: Element): Promise<Uint8Array> {
    const stream = new Blob(bytesOfBase64(element.textContent ?? "") as BlobPart[]).stream().pipeThrough(new DecompressionStream("deflate"));
    try {
        return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
        // Browsers say "Failed to fetch".
        throw new Error("the data is damaged");
    }
}
