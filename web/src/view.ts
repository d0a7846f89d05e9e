// The part of the time axis that all charts and lanes show, and the moment under the cursor.

export interface Range {
    from: number;
    to: number;
}

/** Ranges that follow each other faster are a movement; after it all is drawn once more, as it is at rest. */
const MOVEMENT_MS = 150;

/** A range that is shorter than the whole by less than this share of it is the whole: sums of its ends round. */
const ROUNDING = 1e-9;

type Listener = () => void;

export class View {
    readonly full: Range;
    #from: number;
    #to: number;
    #cursor: number | null = null;
    readonly #rangeListeners = new Set<Listener>();
    readonly #cursorListeners = new Set<Listener>();
    #rangeChanged = false;
    #frame = 0;
    #shownAt = -Infinity;
    #rest: ReturnType<typeof setTimeout> | undefined;
    #isMoving = false;
    /** Ranges that leaps left behind, the latest last. */
    readonly #left: Range[] = [];

    constructor(full: Range) {
        this.full = full.to > full.from ? full : { from: full.from, to: full.from + 1 };
        this.#from = this.full.from;
        this.#to = this.full.to;
    }

    get from(): number {
        return this.#from;
    }

    get to(): number {
        return this.#to;
    }

    get span(): number {
        return this.#to - this.#from;
    }

    get cursor(): number | null {
        return this.#cursor;
    }

    get isMoving(): boolean {
        return this.#isMoving;
    }

    get isFull(): boolean {
        return this.#from === this.full.from && this.#to === this.full.to;
    }

    /** Shows a range, kept inside the whole and no narrower than doubles can distinguish. */
    show(from: number, to: number): void {
        const whole = this.full.to - this.full.from;
        const span = Math.min(whole, Math.max(to - from, whole * 1e-8, 1e-9));
        const middle = (from + to) / 2;
        let start = Math.max(this.full.from, to - from >= span ? from : middle - span / 2);
        let end = start + span;
        if (to - from > whole * (1 - ROUNDING)) {
            start = this.full.from;
            end = this.full.to;
        } else if (end > this.full.to) {
            end = this.full.to;
            start = Math.max(this.full.from, end - span);
        }
        if (!Number.isFinite(start) || !Number.isFinite(end)) return;
        this.#from = start;
        this.#to = end;
        this.#rangeChanged = true;
        this.#noteMovement();
        this.#schedule();
    }

    #noteMovement(): void {
        const now = performance.now();
        this.#isMoving = now - this.#shownAt < MOVEMENT_MS;
        this.#shownAt = now;
        clearTimeout(this.#rest);
        if (!this.#isMoving) return;
        this.#rest = setTimeout(() => {
            this.#isMoving = false;
            this.#rangeChanged = true;
            this.#schedule();
        }, MOVEMENT_MS);
    }

    /** Shows another part, to which back() brings this one again. */
    leap(from: number, to: number): void {
        const before = { from: this.#from, to: this.#to };
        this.show(from, to);
        if (before.from === this.#from && before.to === this.#to) return;
        this.#left.push(before);
        if (this.#left.length > 100) this.#left.shift();
    }

    reset(): void {
        this.leap(this.full.from, this.full.to);
    }

    get canGoBack(): boolean {
        return this.#left.length > 0;
    }

    back(): void {
        const before = this.#left.pop();
        if (before) this.show(before.from, before.to);
    }

    /** Zooms by a factor (below 1: in) and keeps a moment where it is. */
    zoom(factor: number, around = (this.#from + this.#to) / 2): void {
        const span = Math.min(this.span * factor, this.full.to - this.full.from);
        const share = (around - this.#from) / this.span;
        this.show(around - share * span, around - share * span + span);
    }

    /** Moves by a share of what is shown. */
    pan(share: number): void {
        const by = Math.min(this.full.to - this.#to, Math.max(this.full.from - this.#from, this.span * share));
        this.show(this.#from + by, this.#to + by);
    }

    moveCursor(moment: number | null): void {
        if (moment === this.#cursor) return;
        this.#cursor = moment;
        this.#schedule();
    }

    /** Both are called at most once a frame. */
    onRange(listener: Listener): void {
        this.#rangeListeners.add(listener);
    }

    onCursor(listener: Listener): void {
        this.#cursorListeners.add(listener);
    }

    #schedule(): void {
        this.#frame ||= requestAnimationFrame(() => {
            this.#frame = 0;
            const range = this.#rangeChanged;
            this.#rangeChanged = false;
            if (range) this.#rangeListeners.forEach((listener) => listener());
            // A cursor stands elsewhere in the new range.
            this.#cursorListeners.forEach((listener) => listener());
        });
    }
}
