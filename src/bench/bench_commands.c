/*
 * Commands and parameters: from text to the words of each variant.
 */
#include "bench/bench_state.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/str.h"
#include "base/words.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A range without an end in sight is a slip. */
#define MAX_VALUES 1000
#define MAX_VARIANTS 1000

static void scan_finish(struct bench_scan *scan)
{
    for (size_t i = 0; i < scan->n_values; i++)
        free(scan->values[i]);
    free(scan->values);
    free(scan->name);
}

/* Frees the words, the environment and the lines of a command. */
static void command_finish(struct bench_command *command)
{
    for (size_t i = 0; command->argv && command->argv[i]; i++)
        free(command->argv[i]);
    for (size_t i = 0; command->environment && command->environment[i]; i++)
        free(command->environment[i]);
    for (size_t i = 0; command->own_lines && i < BENCH_LINE_COUNT; i++)
        free(command->own_lines[i]);
    free(command->argv);
    free(command->environment);
    free(command->own_lines);
}

void bench_commands_finish(struct gput_bench *bench)
{
    for (size_t i = 0; i < bench->n_scans; i++)
        scan_finish(&bench->scans[i]);
    for (size_t i = 0; bench->commands && i < bench->data.n_variants; i++)
        command_finish(&bench->commands[i]);
    free(bench->scans);
    free(bench->commands);
}

/* ---- Parameters ---- */

/* Adds a value to a parameter. */
static int add_value(
    struct bench_scan *scan, const char *text, size_t length, struct gput_error *error)
{
    if (scan->n_values >= MAX_VALUES)
        return error_set(error, GPUT_ERROR_INVALID,
            "The parameter %.100s has more than %d values. Give fewer, or a larger step "
            "(1..1000..100).",
            scan->name, MAX_VALUES);
    char **grown = realloc(scan->values, (scan->n_values + 1) * sizeof *grown);
    if (!grown)
        return error_memory(error);
    scan->values = grown;
    scan->values[scan->n_values] = strndup(text, length);
    if (!scan->values[scan->n_values])
        return error_memory(error);
    scan->n_values++;
    return GPUT_OK;
}

/* Adds the values of a range such as "1..8" or "0..1..0.25". *is_range is false where the text
 * is something else. */
static int add_range(
    struct bench_scan *scan, const char *text, bool *is_range, struct gput_error *error)
{
    const char *end = text + strlen(text);
    const char *dots = strstr(text, "..");
    double first, last, step = 1;
    *is_range = false;
    if (!dots || number_parse_double(text, dots, &first) != dots)
        return GPUT_OK;
    const char *second = strstr(dots + 2, "..");
    const char *last_end = second ? second : end;
    if (number_parse_double(dots + 2, last_end, &last) != last_end)
        return error_set(error, GPUT_ERROR_INVALID,
            "\"%.100s\" is not a range: it has no end. A range is like 1..8, or 0..1..0.25 with "
            "its step.",
            text);
    *is_range = true;
    if (second && number_parse_double(second + 2, end, &step) != end)
        step = NAN;
    if (!isfinite(first) || !isfinite(last) || !(step > 0) || last < first)
        return error_set(error, GPUT_ERROR_INVALID,
            "\"%.100s\" is not a range: it has to rise from its first number to its last, by a "
            "step above 0.",
            text);
    for (size_t i = 0; first + (double)i * step <= last + step * 1e-9; i++) {
        char number[NUMBER_TEXT_SIZE];
        double value = number_round(first + (double)i * step, 9);
        bool is_whole = value == floor(value) && fabs(value) < 1e15;
        size_t length = is_whole ? number_format_int64((int64_t)value, number)
                                 : number_format_double(value, number);
        TRY(add_value(scan, number, length, error));
    }
    return GPUT_OK;
}

/* Reads the values of a parameter: a range "1..8", or a list "1,2,4". */
static int read_values(struct bench_scan *scan, const char *values, struct gput_error *error)
{
    bool is_range;
    TRY(add_range(scan, values, &is_range, error));
    for (const char *at = values; !is_range; at++) {
        size_t length = strcspn(at, ",");
        TRY(add_value(scan, at, length, error));
        at += length;
        if (*at == '\0')
            break;
    }
    return GPUT_OK;
}

int gput_bench_add_parameter(
    struct gput_bench *bench, const char *name, const char *values, struct gput_error *error)
{
    if (!*name || strpbrk(name, "{} =") || !*values)
        return error_set(error, GPUT_ERROR_INVALID,
            "\"%.100s=%.100s\" is not a parameter. One is like threads=1,2,4 or size=1..8.", name,
            values);
    struct bench_scan *grown = realloc(bench->scans, (bench->n_scans + 1) * sizeof *grown);
    if (!grown)
        return error_memory(error);
    bench->scans = grown;
    struct bench_scan scan = {.name = strdup(name)};
    if (!scan.name)
        return error_memory(error);
    int code = read_values(&scan, values, error);
    for (size_t i = 0; i < bench->n_scans && code == GPUT_OK; i++) {
        if (strcmp(bench->scans[i].name, name) == 0)
            code = error_set(error, GPUT_ERROR_INVALID,
                "The parameter %.100s is given twice. Put its values into one list.", name);
        else if (bench->options.pair && bench->scans[i].n_values != scan.n_values)
            code = error_set(error, GPUT_ERROR_INVALID,
                "%.100s has %zu values and %.100s has %zu: to change in step (--pair), parameters "
                "need the same number of values.",
                bench->scans[i].name, bench->scans[i].n_values, name, scan.n_values);
    }
    if (code == GPUT_OK)
        bench->scans[bench->n_scans++] = scan;
    else
        scan_finish(&scan);
    return code;
}

/* ---- One combination of the parameters ---- */

/* The place of each parameter's value, of which the last one changes fastest. */
struct combination {
    const struct gput_bench *bench;
    size_t *places;
};

/* Returns how many combinations of values there are. */
static size_t count_combinations(const struct gput_bench *bench)
{
    size_t count = 1;
    if (bench->options.pair)
        return bench->n_scans > 0 ? bench->scans[0].n_values : 1;
    for (size_t i = 0; i < bench->n_scans && count <= MAX_VARIANTS; i++)
        count *= bench->scans[i].n_values;
    return count;
}

/* Sets the values of the combination with that number. */
static void set_combination(struct combination *combination, size_t number)
{
    const struct gput_bench *bench = combination->bench;
    for (size_t i = bench->n_scans; i-- > 0;) {
        size_t count = bench->scans[i].n_values;
        combination->places[i] = number % count;
        if (!bench->options.pair)
            number /= count;
    }
}

static const char *value_of(const struct combination *combination, size_t scan)
{
    return combination->bench->scans[scan].values[combination->places[scan]];
}

/* The text with each parameter's name in braces replaced by its value. NULL: no memory. */
static char *substitute(const struct combination *combination, const char *text)
{
    struct str result = {0};
    while (*text) {
        size_t i = 0, n_scans = combination->bench->n_scans, length = 0;
        for (; *text == '{' && i < n_scans; i++) {
            const char *name = combination->bench->scans[i].name;
            length = strlen(name);
            if (strncmp(text + 1, name, length) == 0 && text[1 + length] == '}')
                break;
        }
        if (*text == '{' && i < n_scans) {
            combination->bench->scans[i].is_used = true;
            str_append(&result, value_of(combination, i));
            text += length + 2;
        } else {
            str_append_char(&result, *text++);
        }
    }
    return str_steal(&result);
}

/* ---- Variants ---- */

/* "NAME=value", as a shell has it before a command. */
static bool is_assignment(const char *word)
{
    const char *at = word;
    if (!isalpha((unsigned char)*at) && *at != '_')
        return false;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    return *at == '=';
}

/* Copies words, each with its parameters; the assignments in front of them become the environment.
 */
static int set_words(struct bench_command *command, const struct combination *combination,
    char *const words[], struct gput_error *error)
{
    size_t count = 0, n_assigned = 0;
    while (words[count])
        count++;
    while (n_assigned < count && is_assignment(words[n_assigned]))
        n_assigned++;
    if (n_assigned == count)
        return error_set(error, GPUT_ERROR_INVALID,
            count == 0 ? "Empty command provided."
                       : "There is no command after the variables \"%.200s\".",
            count == 0 ? "" : words[0]);
    command->argv = calloc(count - n_assigned + 1, sizeof *command->argv);
    command->environment = calloc(n_assigned + 1, sizeof *command->environment);
    if (!command->argv || !command->environment)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        char *word = substitute(combination, words[i]);
        if (!word)
            return error_memory(error);
        if (i < n_assigned)
            command->environment[i] = word;
        else
            command->argv[i - n_assigned] = word;
    }
    return GPUT_OK;
}

/* Makes the lines around a variant's runs (setup, prepare …) with its values. */
static int set_lines(struct gput_bench *bench, struct bench_command *command,
    const struct combination *combination, struct gput_error *error)
{
    const char *const lines[] = {[BENCH_SETUP] = bench->options.setup,
        [BENCH_PREPARE] = bench->options.prepare,
        [BENCH_CONCLUDE] = bench->options.conclude,
        [BENCH_CLEANUP] = bench->options.cleanup};
    command->own_lines = calloc(BENCH_LINE_COUNT, sizeof *command->own_lines);
    if (!command->own_lines)
        return error_memory(error);
    for (size_t i = 0; i < BENCH_LINE_COUNT; i++) {
        if (!lines[i])
            continue;
        command->own_lines[i] = substitute(combination, lines[i]);
        if (!command->own_lines[i])
            return error_memory(error);
    }
    return GPUT_OK;
}

/* The name of a variant: the given one or the command, and the parameters where there are several.
 */
static char *name_variant(const struct combination *combination, const char *name,
    const char *command, bool is_only_command)
{
    const struct gput_bench *bench = combination->bench;
    struct str text = {0};
    if (name || bench->n_scans == 0 || !is_only_command)
        str_append(&text, name ? name : command);
    for (size_t i = 0; i < bench->n_scans; i++)
        str_printf(&text, "%s%s=%s", text.length > 0 ? " " : "", bench->scans[i].name,
            value_of(combination, i));
    return str_steal(&text);
}

/* Adds a variant: a command with one combination of values. */
static int add_variant(struct gput_bench *bench, const struct combination *combination,
    const char *name, const char *text, char *const words[], struct gput_error *error)
{
    struct bench_command *grown =
        realloc(bench->commands, (bench->data.n_variants + 1) * sizeof *grown);
    if (!grown)
        return error_memory(error);
    bench->commands = grown;
    struct bench_command command = {0};
    struct bench_variant *variant = NULL;
    CLEANUP_FREE char *shown = substitute(combination, text);
    bool names_parameter = shown && strcmp(shown, text) != 0;
    CLEANUP_FREE char *full =
        shown ? name_variant(combination, name, shown, names_parameter) : NULL;
    int code = full ? GPUT_OK : error_memory(error);
    if (code == GPUT_OK && words)
        code = set_words(&command, combination, words, error);
    if (code == GPUT_OK)
        code = set_lines(bench, &command, combination, error);
    if (code == GPUT_OK)
        code = bench_data_add_variant(&bench->data, full, shown, &variant, error);
    if (code != GPUT_OK) {
        command_finish(&command);
        return code;
    }
    bench->commands[bench->data.n_variants - 1] = command;
    for (size_t i = 0; i < bench->n_scans; i++)
        TRY(bench_variant_add_parameter(
            variant, bench->scans[i].name, value_of(combination, i), error));
    return GPUT_OK;
}

/* A variant for each combination. `words` NULL: of no command. */
static int add_variants(struct gput_bench *bench, const char *name, const char *text,
    char *const words[], struct gput_error *error)
{
    size_t count = count_combinations(bench);
    if (count + bench->data.n_variants > MAX_VARIANTS)
        return error_set(error, GPUT_ERROR_INVALID,
            "There are more than %d combinations of the parameters. Give fewer values, or --pair "
            "to change them in step.",
            MAX_VARIANTS);
    CLEANUP_FREE size_t *places = calloc(bench->n_scans + 1, sizeof *places);
    if (!places)
        return error_memory(error);
    struct combination combination = {.bench = bench, .places = places};
    for (size_t i = 0; i < count; i++) {
        set_combination(&combination, i);
        TRY(add_variant(bench, &combination, name, text, words, error));
    }
    return GPUT_OK;
}

int gput_bench_add_argv(
    struct gput_bench *bench, const char *name, char *const argv[], struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; argv[i]; i++) {
        str_append(&text, i > 0 ? " " : "");
        str_append_shell_word(&text, argv[i]);
    }
    if (text.failed)
        return error_memory(error);
    if (!argv[0] || !*argv[0])
        return error_set(error, GPUT_ERROR_INVALID, "Empty command provided.");
    return add_variants(bench, name, str_text(&text), argv, error);
}

int gput_bench_add_command(
    struct gput_bench *bench, const char *name, const char *command, struct gput_error *error)
{
    if (command[strspn(command, " \t\n")] == '\0')
        return error_set(error, GPUT_ERROR_INVALID, "Empty command provided.");
    if (bench->options.shell) {
        char *const argv[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
        return add_variants(bench, name, command, argv, error);
    }
    char **words;
    TRY(words_split(command, &words, error));
    int code = add_variants(bench, name, command, words, error);
    words_free(words);
    return code;
}

int gput_bench_add_variant(struct gput_bench *bench, const char *name, struct gput_error *error)
{
    return add_variants(bench, name, name, NULL, error);
}

size_t gput_bench_variant_count(const struct gput_bench *bench)
{
    return bench->data.n_variants;
}

const char *gput_bench_variant_name(const struct gput_bench *bench, size_t index)
{
    return index < bench->data.n_variants ? bench->data.variants[index].name : NULL;
}
