// What a report holds, as docs/report-format.md describes it. Every key but the first two may be absent.

export interface Column {
    encoding: "delta" | "f64" | "constant";
    count: number;
    offset?: number;
    bytes?: number;
    scale?: number;
    /** Of several columns in turn: how many they are, and which one of them this is. */
    every?: number;
    at?: number;
    value?: number | null;
    missing?: { offset: number; bytes: number };
}

interface Identity {
    command?: string | null;
    host?: string | null;
    pid?: number | null;
    start_timestamp?: number | null;
    seconds?: number | null;
    /** When it ended, on the clock of its curves; where that begins later than the session. */
    end_s?: number;
    node_seconds?: number;
    exit_status?: number | string | null;
    rank?: number | null;
    [key: string]: unknown;
}

export interface Card {
    id: string;
    label: string;
    value: number | string | null;
    unit?: string;
    at_least?: number | null;
    at_most?: number | null;
    limit?: number | null;
    state?: string;
    reason?: string | null;
    /** One of the few that say most of the session. */
    is_main?: boolean;
    /** Of the page: what is said in place of bounds, and the figure whose limit is drawn in place of its own. */
    note?: string;
    limited?: Card;
}

/** Where the time of some threads went: causes, the largest share first. */
export interface TimeWent {
    id: string;
    title: string;
    note?: string;
    seconds: number;
    /** The percent are within half_width of the truth in 95 of 100 cases; without it they were counted. */
    shares: { cause: string; label: string; percent: number; seconds: number; half_width?: number }[];
}

export interface Source {
    name: string;
    state: string;
    reason?: string | null;
}

export interface Series {
    id: string;
    label: string;
    group: string;
    scope?: string;
    unit: string;
    limit?: number | null;
    /** The highest. */
    max?: number;
    /** Each value is that of the time since the one before. */
    of_interval?: boolean;
    /** Of several sessions: by what the session is compared in the chart. */
    is_main?: boolean;
    /** Index in the session's times. */
    time?: number;
    values: Column;
}

export interface Calls {
    names: string[];
    processes?: { pid: number; label?: string }[];
    /** Of some: by their process, an index above, and their number. */
    threads?: { process: number; thread: number; name: string }[];
    start: Column;
    stop: Column;
    name: Column;
    process?: Column;
    thread?: Column;
    depth?: Column;
    /** The same for a launch and what it launched. */
    link?: Column;
}

export interface FourFigures {
    min?: Column;
    max?: Column;
    mean?: Column;
    std?: Column;
}

/** A row a block. */
export interface Blocks {
    /** Indices in the names of calls. */
    name: Column;
    /** Of each block; null: it has none. */
    category?: (string | null)[];
    calls?: Column;
    /** Calls that did not end, which are part of the total and of the usage alone; if there are any. */
    open?: Column;
    samples?: Column;
    total_s?: Column;
    call_s?: FourFigures;
    usage?: ({ series: string } & FourFigures)[];
    /** What was counted at the ends of each call: the sum over the calls, or the largest of them. */
    exact?: { figure: string; unit: string; total?: Column; max?: Column }[];
}

export interface ProcessList {
    names: string[];
    pid: Column;
    parent?: Column;
    start?: Column;
    end?: Column;
    name?: Column;
    cpu_seconds?: Column;
    peak_ram_bytes?: Column;
    peak_gpu_ram_bytes?: Column;
    read_bytes?: Column;
    write_bytes?: Column;
    exit_status?: Column;
    signal?: Column;
    /** Their names, by number. */
    signals?: Record<string, string>;
}

export interface Training {
    steps?: { number?: Column; start: Column; stop: Column; phase?: Column; phases?: string[]; node?: Column; nodes?: string[] };
    phases?: { name: string; start: number; stop: number | null }[];
    utilization?: { series: string; node?: string; device: string; dimension: string; resource: string }[];
}

export interface TableColumn {
    name: string;
    unit?: string;
    type?: "text" | "number";
    /** Of a coarse counter: what stands for 0. */
    zero?: string;
}

export interface Table {
    id?: string;
    title: string;
    columns: TableColumn[];
    rows: (string | number | boolean | null)[][];
}

export interface Ending {
    text: string;
    is_good: boolean;
}

export interface Session {
    name?: string;
    file?: string;
    kind?: string;
    identity?: Identity;
    /** How it ended; absent: not known. */
    ending?: Ending;
    summary?: string;
    advice?: string[];
    gpus?: { uuid?: string; name?: string }[];
    cards?: Card[];
    time_went?: TimeWent[];
    sources?: Source[];
    times?: Column[];
    series?: Series[];
    calls?: Calls;
    blocks?: Blocks;
    process_list?: ProcessList;
    training?: Training;
    tables?: Table[];
    /** What was skipped. */
    warnings?: string[];
}

/** What ranks have of a figure together: a sum, the longest time, at most that, or a mean. */
export interface Together {
    value: number;
    is: "sum" | "longest" | "at_most" | "mean";
}

/** A figure of all sessions, next to each other. */
export interface MainFigure {
    label: string;
    unit: string;
    /** What sessions are held against. */
    base: number | null;
    values: (number | string | null)[];
    together?: Together;
}

/** The mean of several runs, the half of its 95 % interval in percent (null: one run), and its change against the first mean (null: from 0). */
export interface Mean {
    value: number;
    runs: number;
    half: number | null;
    change?: { percent: number | null; half: number | null; is_noise?: boolean };
}

interface Findings {
    figures: MainFigure[];
    /** Of each figure the means of all that was run; null: some run lacks it. */
    means?: (Mean | null)[][];
    /** Places of sessions. */
    failed?: number[];
    /** The first one stands out the most. */
    stragglers?: { median_seconds: number; median_cpu_seconds: number | null; ranks: { session: number; seconds: number; cpu_seconds: number | null }[] };
    busiest?: { session: number; group: string; mean: number; median: number };
}

export interface Report {
    format: number;
    generator?: string;
    created?: number;
    title?: string;
    sessions: Session[];
    comparison?: Table[];
    warnings?: string[];
    /** What is known of the sessions together. */
    notes?: string[];
    /** Of several sessions. */
    findings?: Findings;
}
