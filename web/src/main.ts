// The page of a report: reads the data that the page carries and lays it out.

import { App } from "./app";
import { element, replaceChildren } from "./dom";
import { readPayload } from "./payload";

declare global {
    interface Window {
        /** Read-only: what was drawn. */
        gputReport?: object;
    }
}

function notice(text: string): HTMLElement {
    return element("p", { class: "notice", role: "alert" }, text);
}

/** A frame in a notebook is below the main figures, and shows the charts first. It gets its size late, and it may change. */
function beginWithCharts(): void {
    const charts = document.querySelector<HTMLElement>(".over-time");
    if (!charts) return;
    const observer = new ResizeObserver(() => scrollTo(0, charts.offsetTop));
    observer.observe(document.documentElement);
    // From then on the reader scrolls.
    for (const kind of ["wheel", "pointerdown", "keydown"]) addEventListener(kind, () => observer.disconnect(), { once: true, capture: true });
}

async function start(): Promise<void> {
    const place = document.getElementById("report")!;
    try {
        const payload = await readPayload();
        if (!payload?.report.sessions.length) return replaceChildren(place, notice("This page holds no session: gpu-tracker report fills it in."));
        // The stage measures itself: it has to be in the page first.
        replaceChildren(place);
        const app = new App(payload);
        place.append(app.node);
        window.gputReport = Object.freeze(app.debug);
        if (window.name === "charts") beginWithCharts();
    } catch (error) {
        replaceChildren(place, notice(`This report cannot be read: ${error instanceof Error ? error.message : String(error)}.`));
        throw error;
    }
}

void start();
