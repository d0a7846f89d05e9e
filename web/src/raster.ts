// Columns of pixels, filled here and put on a canvas as one picture: thousands of rectangles a frame cost the canvas ten
// times as much as all of a chart's pixels do.

/** Red, green, blue from 0 to 255. */
type Rgb = [number, number, number];

/** "#0b65c2" in numbers. */
export function rgbOf(colour: string): Rgb {
    const number = parseInt(colour.slice(1), 16);
    return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

export class Raster {
    readonly width: number;
    readonly height: number;
    readonly #image: ImageData;
    readonly #bytes: Uint8ClampedArray;
    /** The same, a number a pixel: what covers a pixel as a whole is one assignment. */
    readonly #pixels: Uint32Array;

    constructor(width: number, height: number) {
        this.width = width;
        this.height = height;
        this.#image = new ImageData(width, height);
        this.#bytes = this.#image.data;
        this.#pixels = new Uint32Array(this.#bytes.buffer);
    }

    clear(): void {
        this.#pixels.fill(0);
    }

    /** From one height to another, in pixels from the top; pixels that are covered in part get a part of the colour. */
    fillColumn(x: number, from: number, to: number, colour: Rgb): void {
        const top = Math.max(0, from);
        const bottom = Math.min(this.height, to);
        if (!(bottom > top) || x < 0 || x >= this.width) return;
        const first = Math.floor(top);
        const last = Math.ceil(bottom) - 1;
        if (first === last) return this.#blend(x, first, colour, bottom - top);
        this.#blend(x, first, colour, first + 1 - top);
        const packed = packedOf(colour, 1);
        const { width } = this;
        const end = last * width + x;
        for (let at = (first + 1) * width + x; at < end; at += width) this.#pixels[at] = packed;
        this.#blend(x, last, colour, bottom - last);
    }

    /**
     * Whole pixels from the top of each column down to one base, except where the colour itself is. Row by row, as pixels
     * are in memory: most of a chart is such an area.
     */
    fillArea(tops: Float32Array, base: number, colour: Rgb, alpha: number): void {
        const opaque = packedOf(colour, 1);
        const packed = packedOf(colour, alpha);
        const pixels = this.#pixels;
        const { width } = this;
        const end = Math.min(this.height, Math.round(base));
        const first = Math.max(0, Math.floor(tops.reduce((least, top) => Math.min(least, top), end)));
        for (let y = first, at = first * width; y < end; y++) {
            for (let x = 0; x < width; x++, at++) {
                if (tops[x]! > y || pixels[at] === opaque) continue;
                if (pixels[at] === 0) pixels[at] = packed;
                else this.#blendAt(at * 4, colour, alpha);
            }
        }
    }

    /** Whole pixels alone. */
    fillRow(y: number, colour: Rgb): void {
        if (y >= 0 && y < this.height) this.#pixels.fill(packedOf(colour, 1), y * this.width, (y + 1) * this.width);
    }

    #blend(x: number, y: number, colour: Rgb, alpha: number): void {
        this.#blendAt((y * this.width + x) * 4, colour, alpha);
    }

    /** A colour over what is there. */
    #blendAt(at: number, colour: Rgb, alpha: number): void {
        const bytes = this.#bytes;
        const kept = (bytes[at + 3]! / 255) * (1 - alpha);
        const sum = alpha + kept;
        if (!(sum > 0)) return;
        for (let i = 0; i < 3; i++) bytes[at + i] = (colour[i]! * alpha + bytes[at + i]! * kept) / sum;
        bytes[at + 3] = sum * 255;
    }

    /** In the place of what a canvas has there; the place counts in pixels of the canvas. */
    putOn(context: CanvasRenderingContext2D, x: number, y: number): void {
        context.putImageData(this.#image, x, y);
    }

    /** Over what a canvas has there; likewise, whatever the measure of the canvas. */
    drawOn(context: CanvasRenderingContext2D, x: number, y: number): void {
        const canvas = sharedCanvas(this.width, this.height);
        canvas.getContext("2d", { willReadFrequently: true })!.putImageData(this.#image, 0, 0);
        context.save();
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.drawImage(canvas, x, y);
        context.restore();
    }
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function packedOf([red, green, blue]: Rgb, alpha: number): number {
    const opacity = Math.round(alpha * 255);
    return (isLittleEndian ? (opacity << 24) | (blue << 16) | (green << 8) | red : (red << 24) | (green << 16) | (blue << 8) | opacity) >>> 0;
}

const canvases = new Map<string, HTMLCanvasElement>();

/** One of each size: what is on it is drawn at once. */
function sharedCanvas(width: number, height: number): HTMLCanvasElement {
    const key = `${width} ${height}`;
    let canvas = canvases.get(key);
    if (!canvas) {
        canvas = document.createElement("canvas");
        canvas.width = width;
        canvas.height = height;
        if (canvases.size >= 4) canvases.clear();
        canvases.set(key, canvas);
    }
    return canvas;
}

let kept: Raster | null = null;

/** An empty raster of that size; valid until the next call. */
export function emptyRaster(width: number, height: number): Raster {
    if (kept?.width !== width || kept.height !== height) kept = new Raster(width, height);
    else kept.clear();
    return kept;
}
