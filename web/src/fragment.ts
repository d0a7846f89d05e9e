// The view in the page's address, after "#": a copied link shows what its sender saw.

export interface Place {
    /** Seconds from, to. */
    range: [number, number] | null;
    cursor: number | null;
    /** Curves that are shown or hidden otherwise than at first, by panel and curve. */
    toggled: string[];
    /** Kind and index: "calls:12". */
    selected: string | null;
    session: number;
    alignment: string | null;
}

export function parsePlace(fragment: string): Place {
    const parameters = new URLSearchParams(fragment.replace(/^#/, ""));
    const numbers = (parameters.get("t") ?? "").split("_").map(Number);
    const range = numbers.length === 2 && numbers.every(Number.isFinite) && numbers[1]! > numbers[0]! ? ([numbers[0]!, numbers[1]!] as [number, number]) : null;
    const cursor = parameters.has("c") ? Number(parameters.get("c")) : NaN;
    const session = Number(parameters.get("s") ?? 0);
    return {
        range,
        cursor: Number.isFinite(cursor) ? cursor : null,
        toggled: parameters.getAll("l"),
        selected: parameters.get("sel"),
        session: Number.isInteger(session) && session >= 0 ? session : 0,
        alignment: parameters.get("align"),
    };
}

function formatPlace(place: Place): string {
    const parameters = new URLSearchParams();
    if (place.range) parameters.set("t", place.range.map((value) => String(Number(value.toPrecision(9)))).join("_"));
    if (place.cursor !== null) parameters.set("c", String(Number(place.cursor.toPrecision(9))));
    for (const id of place.toggled) parameters.append("l", id);
    if (place.selected) parameters.set("sel", place.selected);
    if (place.session) parameters.set("s", String(place.session));
    if (place.alignment) parameters.set("align", place.alignment);
    const text = parameters.toString();
    return text ? `#${text}` : "";
}

/** Not more often than browsers allow. */
export class PlaceKeeper {
    readonly #read: () => Place;
    #timer: ReturnType<typeof setTimeout> | undefined;
    #written = location.hash;

    constructor(read: () => Place, changed: (place: Place) => void) {
        this.#read = read;
        addEventListener("hashchange", () => {
            if (location.hash === this.#written) return;
            this.#written = location.hash;
            changed(parsePlace(location.hash));
        });
    }

    keep(): void {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.write(), 200);
    }

    write(): void {
        const fragment = formatPlace(this.#read());
        // What was entered just now goes first: its event is still to come.
        if (fragment === location.hash || location.hash !== this.#written) return;
        try {
            history.replaceState(null, "", fragment || location.href.split("#")[0]);
            this.#written = location.hash;
        } catch {
            // Frames without an address of their own (notebooks) have no link to keep.
        }
    }
}
