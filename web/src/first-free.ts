// Rows for intervals that overlap: each goes into the first row that is free again, however many rows there are.

export class FirstFree {
    /** When each row is free again, below a tree of the earliest of each pair. */
    #tree = new Float64Array([NaN, -Infinity]);
    #rows = 1;

    /** The row of the next interval; they come in the order of their starts. */
    take(start: number, stop: number): number {
        while (this.#tree[1]! > start) this.#double();
        let i = 1;
        while (i < this.#rows) i = this.#tree[2 * i]! <= start ? 2 * i : 2 * i + 1;
        const row = i - this.#rows;
        this.#tree[i] = stop;
        for (i >>= 1; i >= 1; i >>= 1) this.#tree[i] = Math.min(this.#tree[2 * i]!, this.#tree[2 * i + 1]!);
        return row;
    }

    #double(): void {
        const rows = this.#rows;
        const tree = new Float64Array(4 * rows).fill(-Infinity);
        tree.set(this.#tree.subarray(rows, 2 * rows), 2 * rows);
        for (let i = 2 * rows - 1; i >= 1; i--) tree[i] = Math.min(tree[2 * i]!, tree[2 * i + 1]!);
        this.#tree = tree;
        this.#rows = 2 * rows;
    }
}
