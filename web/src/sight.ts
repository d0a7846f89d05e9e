// Draws at once what is in sight, and the rest when the page has been still for a moment: zooming costs what is seen, and a picture of
// the whole page has all of it.

const STILL_MS = 250;

/** Drawings out of sight that have changed. */
const waiting = new Set<() => void>();
let timer = 0;

const whenIdle = (act: () => void): void => void ("requestIdleCallback" in window ? requestIdleCallback(act) : setTimeout(act));

function drawNext(): void {
    const next = waiting.values().next();
    if (next.done || timer) return;
    waiting.delete(next.value);
    next.value();
    whenIdle(drawNext);
}

function drawWhenStill(draw: () => void): void {
    waiting.add(draw);
    clearTimeout(timer);
    timer = window.setTimeout(() => {
        timer = 0;
        whenIdle(drawNext);
    }, STILL_MS);
}

/** Whether one drawing is in sight. `draw` does nothing where nothing has changed. */
export class Sight {
    readonly #draw: () => void;
    #isIn = false;

    constructor(node: Element, draw: () => void) {
        this.#draw = draw;
        const observe = (rootMargin: string, seen: (isIn: boolean) => void): void =>
            new IntersectionObserver((entries) => seen(entries.at(-1)!.isIntersecting), { rootMargin }).observe(node);
        observe("0px", (isIn) => (this.#isIn = isIn) && draw());
        observe("200px", (isIn) => isIn && draw());
    }

    get isIn(): boolean {
        return this.#isIn;
    }

    /** The drawing has to be made anew. */
    changed(): void {
        if (this.#isIn) this.#draw();
        else drawWhenStill(this.#draw);
    }
}
