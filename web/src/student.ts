// The quantile that intervals of the means of few runs need.

/** The 97.5 % quantile of Student's distribution: Hill's expansion (Communications of the ACM 13, 1970), to four digits; a little too wide between one and 1.5 degrees of freedom. */
export function studentQuantile(freedom: number): number {
    if (!(freedom >= 1)) return NaN;
    if (freedom < 1.5) return 12.706 + (freedom - 1) * 2 * (quantileFrom(1.5) - 12.706);
    return quantileFrom(freedom);
}

function quantileFrom(n: number): number {
    const p = 0.05;
    if (n === 2) return Math.sqrt(2 / (p * (2 - p)) - 2);
    const a = 1 / (n - 0.5);
    const b = 48 / (a * a);
    let c = (((20700 * a) / b - 98) * a - 16) * a + 96.36;
    const d = ((94.5 / (b + c) - 3) / b + 1) * Math.sqrt((a * Math.PI) / 2) * n;
    let y = (d * p) ** (2 / n);
    if (y > 0.05 + a) {
        const z = -1.959963984540054;
        y = z * z;
        if (n < 5) c += 0.3 * (n - 4.5) * (z + 0.6);
        c = (((0.05 * d * z - 5) * z - 7) * z - 2) * z + b + c;
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * z;
        y = Math.expm1(a * y * y);
    } else {
        y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) * ((n + 1) / (n + 2)) + 1 / y;
    }
    return Math.sqrt(n * y);
}
