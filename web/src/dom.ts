// Elements of the page. Text is always a text node: names in a report come from anywhere.

import { upright } from "./upright";

export type Child = Node | string | null | undefined | false;

interface Properties {
    class?: string;
    id?: string;
    role?: string;
    title?: string;
    type?: string;
    scope?: string;
    tabindex?: number;
    hidden?: boolean;
    open?: boolean;
    /** aria-* and data-* by their full names. */
    [name: `aria-${string}` | `data-${string}`]: string | number | boolean | undefined;
}

export function element<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    properties: Properties = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined || (value === false && !name.startsWith("aria-"))) continue;
        node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : upright(String(value)));
    }
    append(node, ...children);
    return node;
}

export function append(parent: Node, ...children: Child[]): void {
    for (const child of children) {
        if (child || child === "") parent.appendChild(typeof child === "string" ? document.createTextNode(upright(child)) : child);
    }
}

export function replaceChildren(parent: Node, ...children: Child[]): void {
    parent.textContent = "";
    append(parent, ...children);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
    for (const child of children) node.appendChild(child);
    return node;
}

export function button(label: string, pressed: (event: MouseEvent) => void, properties: Properties = {}): HTMLButtonElement {
    const node = element("button", { type: "button", ...properties }, label);
    listen(node, "click", pressed);
    return node;
}

export function listen<K extends keyof HTMLElementEventMap>(
    node: EventTarget,
    kind: K,
    handle: (event: HTMLElementEventMap[K]) => void,
    options?: AddEventListenerOptions,
): void {
    node.addEventListener(kind, handle as EventListener, options);
}

export const boxOf = (node: Element): DOMRect => node.getBoundingClientRect();
