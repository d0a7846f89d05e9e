// Tables that sort by a click, search, and show long lists in parts.

import { append, button, type Child, element, listen, replaceChildren } from "./dom";
import type { Table, TableColumn } from "./report";
import { figure } from "./units";

type Cell = string | number | boolean | null | undefined;

interface TableOptions {
    /** Adds a button to each row that pickLabel has words for, which calls this with the row's place in the data. */
    onPick?: (row: number) => void;
    pickLabel?: (row: number) => string;
    /** A bar under the figures of these columns. */
    bars?: number[];
    rowsShown?: number;
    /** The heading above says the title already. */
    titleHidden?: boolean;
    /** A change in percent of a cell, which is drawn as a bar from its middle to the left or right. */
    change?: (row: number, column: number) => number | null | undefined;
    /** Short names of which each is in sight. */
    unsearched?: boolean;
    /** The row that the text above is about. */
    marked?: number | null;
    /** In the order that it has, and whole. */
    fixed?: boolean;
    /** Column and direction (1 or -1) at first. */
    sort?: [number, 1 | -1];
}

/** A longer name may not fit: its end stays in sight, which often distinguishes it, and dots stand for its middle. */
const LONG = 30;
const END = 12;

function cutInTheMiddle(text: string): Child[] {
    const points = [...text];
    if (points.length <= LONG) return [text];
    return [element("span", { class: "cut" }, element("span", {}, points.slice(0, -END).join("")), element("span", {}, points.slice(-END).join("")))];
}

const ROWS_SHOWN = 25;
const SEARCH_FROM = 12;

function cellText(cell: Cell, column: TableColumn): string {
    if (cell === null || cell === undefined || cell === "") return "–";
    if (typeof cell === "number") return (cell === 0 && column.zero) || figure(cell, column.unit ?? "");
    // A day and its time stay in one line.
    return String(cell).replace(/^(\d+-\d\d-\d\d) /, "$1\u00a0");
}

/** "span_us" is called "span" where each figure has its unit, and "start_time_us" next to a start by the calendar "start after". */
function columnTitle({ name, unit }: TableColumn): string {
    const words = unit ? name.replace("_time_us", "_after").replace(/_(ns|us|ms|s|seconds|bytes)$/, "").replace(/_(percent|%)$/, "_(%)") : name;
    return /^[\w%()]+$/.test(words) ? words.replace(/_/g, " ").trim() || name : name;
}

/** "4 GB" is "4.00 GB" below "4.12 GB"; there is no half byte. */
function threeDigits(text: string): string {
    return text.replace(/(?<!min |[\d.\u202f])(\d+)(\.\d+)?(?=\u00a0(?!B|min|[hd]))/g, (number, whole: string, part = "") =>
        number === "0" ? number : Number(number).toFixed(Math.max(0, part.length - 1, 3 - whole.length)),
    );
}

/** Texts first, then figures. */
export function headings(names: string, texts = 1, unit = ""): TableColumn[] {
    return names.split("|").map((name, i) => ({ name, unit, type: i < texts ? "text" : "number" }));
}

const isNumeric = (column: TableColumn): boolean => column.type === "number";

/** A row of more columns than this is read from top to bottom. */
const WIDE = 8;

export function makeTable(table: Table, options: TableOptions = {}): HTMLElement {
    const turns = table.rows.length === 1 && table.columns.length > WIDE && !options.onPick;
    return new TableView(turns ? turned(table) : table, { ...options, fixed: turns }).node;
}

function turned({ title, columns, rows }: Table): Table {
    return { title, columns: [{ name: "Figure" }, { name: "Value" }], rows: columns.map((column, i) => [columnTitle(column), cellText(rows[0]![i], column)]) };
}

/** What a drawing shows, as a table that is there, or is made when it is opened. */
export function foldedTable(title: string, table?: HTMLElement): HTMLDetailsElement {
    return element("details", { class: "chart-table" }, element("summary", {}, "Table", element("span", { class: "hidden-text" }, ` of ${title}`)), table);
}

class TableView {
    readonly node: HTMLElement;
    readonly #table: Table;
    readonly #options: TableOptions;
    readonly #body = element("tbody");
    readonly #more = element("p", { class: "more" });
    readonly #heads: HTMLElement[] = [];
    readonly #highest: number[];
    #order: number[];
    #sort: [number, 1 | -1] | null;
    #search = "";
    #limit: number;

    constructor(table: Table, options: TableOptions) {
        this.#table = table;
        this.#options = options;
        this.#limit = options.fixed ? table.rows.length : (options.rowsShown ?? ROWS_SHOWN);
        this.#sort = options.sort ?? null;
        this.#order = table.rows.map((_, i) => i);
        this.#highest = table.columns.map((_, c) => table.rows.reduce((high, row) => (typeof row[c] === "number" ? Math.max(high, row[c]) : high), 0));
        const head = element("tr", {}, ...table.columns.map((column, i) => this.#head(column, i)));
        const sheet = element("table", {}, element("caption", { class: options.titleHidden ? "hidden-text" : undefined }, table.title), element("thead", {}, head), this.#body);
        const scroller = element("div", { class: "table-scroll", tabindex: 0, role: "group", "aria-label": table.title }, sheet);
        this.node = element("div", { class: options.fixed ? "table turned" : "table" }, table.rows.length > SEARCH_FROM && !options.fixed && !options.unsearched && this.#searchField(), scroller, this.#more);
        this.#arrange();
    }

    #head(column: TableColumn, index: number): HTMLElement {
        // Names of rows are on the left, numbers or not.
        const head = element("th", { scope: "col", class: isNumeric(column) && index > 0 ? "number" : undefined });
        const name = columnTitle(column);
        if (name !== column.name) head.title = column.name;
        const sorts = this.#table.rows.length > 1 && !this.#options.fixed;
        if (sorts) head.append(button(name, () => this.#sortBy(index, isNumeric(column)), { class: "sort" }));
        else head.textContent = name;
        this.#heads.push(head);
        return head;
    }

    #searchField(): HTMLElement {
        const field = element("input", { type: "search", "aria-label": `Search in ${this.#table.title}`, class: "search" });
        field.placeholder = "Search";
        listen(field, "input", () => {
            this.#search = field.value.toLocaleLowerCase();
            this.#arrange();
        });
        return field;
    }

    #sortBy(index: number, descendingFirst: boolean): void {
        const first: 1 | -1 = descendingFirst ? -1 : 1;
        this.#sort = this.#sort?.[0] === index ? [index, this.#sort[1] === 1 ? -1 : 1] : [index, first];
        this.#arrange();
    }

    #arrange(): void {
        const { rows } = this.#table;
        this.#order = rows.map((_, i) => i).filter((i) => !this.#search || rows[i]!.some((cell) => String(cell ?? "").toLocaleLowerCase().includes(this.#search)));
        if (this.#sort) {
            const [column, direction] = this.#sort;
            this.#order.sort((a, b) => direction * compareCells(rows[a]![column], rows[b]![column], direction));
        }
        this.#heads.forEach((head, i) => {
            if (this.#sort?.[0] === i) head.setAttribute("aria-sort", this.#sort[1] === 1 ? "ascending" : "descending");
            else head.removeAttribute("aria-sort");
        });
        this.#fill();
    }

    #fill(): void {
        replaceChildren(this.#body, ...this.#order.slice(0, this.#limit).map((i) => this.#row(i)));
        const hidden = this.#order.length - this.#limit;
        replaceChildren(this.#more);
        if (hidden <= 0) return;
        const next = Math.min(hidden, 200);
        this.#more.append(
            button(next < hidden ? `Show ${next} more of ${hidden}` : `Show ${hidden} more`, () => {
                this.#limit += next;
                this.#fill();
            }, { class: "plain" }),
        );
    }

    #row(index: number): HTMLElement {
        const row = this.#table.rows[index]!;
        const cells = this.#table.columns.map((column, c) => {
            const text = cellText(row[c], column);
            if (c === 0) return element("th", { scope: "row" }, this.#first(index, text));
            const cell = element("td", { class: isNumeric(column) ? "number" : undefined });
            const value = row[c];
            if (this.#options.bars?.includes(c) && typeof value === "number" && this.#highest[c]! > 0) {
                const bar = element("span", { class: "bar", "aria-hidden": "true" });
                bar.style.width = `${Math.max(0, (value / this.#highest[c]!) * 100)}%`;
                cell.classList.add("with-bar");
                cell.append(bar);
            }
            const change = this.#options.change?.(index, c);
            if (typeof change === "number") cell.append(changeBar(change));
            // A figure and its change: figures stand below each other.
            const [main, more] = isNumeric(column) ? text.split(/(?= \()/) : [text];
            cell.append(element("span", { class: "text" }, isNumeric(column) ? threeDigits(main!) : main, more && element("span", { class: "change" }, more)));
            return cell;
        });
        return element("tr", { class: index === this.#options.marked ? "marked" : undefined }, ...cells);
    }

    /** Names of any length and script: whole in the title, isolated from the text around. */
    #first(index: number, text: string): Node {
        const { onPick, pickLabel } = this.#options;
        if (!onPick || pickLabel?.(index) === "") return element("bdi", { title: text.length > LONG ? text : undefined }, ...cutInTheMiddle(text));
        const pick = button("", () => onPick(index), { class: "pick", title: pickLabel?.(index) ?? text });
        append(pick, ...cutInTheMiddle(text));
        return pick;
    }
}

/** Twice as much, or nothing left, is a whole half of the bar. */
function changeBar(change: number): HTMLElement {
    const share = Math.min(50, Math.abs(change) / 2);
    const bar = element("span", { class: change > 0 ? "change-bar up" : "change-bar", "aria-hidden": "true" }, element("i"));
    const part = bar.firstChild as HTMLElement;
    part.style.width = `${share}%`;
    part.style.left = `${change > 0 ? 50 : 50 - share}%`;
    return bar;
}

/** Missing last in both directions. */
function compareCells(a: Cell, b: Cell, direction: number): number {
    const empty = (cell: Cell): boolean => cell === null || cell === undefined || cell === "" || (typeof cell === "number" && Number.isNaN(cell));
    if (empty(a) || empty(b)) return empty(a) === empty(b) ? 0 : empty(a) ? direction : -direction;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
}
