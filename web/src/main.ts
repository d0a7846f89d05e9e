// The page of a report: reads the data that the page carries and lays it out.

import { element, replaceChildren } from "./dom";
import { readPayload } from "./payload";

function notice(text: string): HTMLElement {
    return element("p", { class: "notice", role: "alert" }, text);
}

async function start(): Promise<void> {
    const place = document.getElementById("report")!;
    try {
        const payload = await readPayload();
        if (!payload) return replaceChildren(place, notice("This page holds no session: it is what gpu-tracker report fills in."));
        replaceChildren(place, ...payload.report.sessions.map((session) => element("h1", {}, session.identity?.command ?? session.name ?? "")));
    } catch (error) {
        replaceChildren(place, notice(`This report cannot be read: ${error instanceof Error ? error.message : String(error)}.`));
    }
}

void start();
