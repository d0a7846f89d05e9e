/*
 * The result of a benchmark for other programs and documents.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"

/* A line a run: variant, command, block, exit status, figures, causes. */
void bench_csv(const struct doc *document, struct str *text);

/* A table a figure, a row a variant. */
void bench_markdown(const struct doc *document, struct str *text);
void bench_asciidoc(const struct doc *document, struct str *text);

/* The JSON that hyperfine exports, of version 1 (mean, stddev, median, user, system, min, max,
 * times, exit_codes, parameters) and of version 2 (measurements, summary) in one. */
void bench_hyperfine(const struct doc *document, struct str *text);

/* Bencher Metric Format: for each variant and measure value, lower_value and upper_value. */
void bench_bencher(const struct doc *document, struct str *text);
