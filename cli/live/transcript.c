#include "transcript.h"

#include "base/utf8.h"

#include "grid.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a program asks of a terminal for the letters that follow (SGR, ECMA-48): as a style of the
 * grid, which has the sixteen colours that every terminal has.
 */
#define BRIGHT 8

/* Black and white are the terminal's own ink: one of them would be invisible on its background. */
static unsigned colour_of(unsigned number)
{
    bool is_ink = number == 0 || number == 7 || number == BRIGHT + 7;
    return is_ink ? STYLE_PLAIN : number & STYLE_COLOR;
}

static unsigned most(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* Returns the style of the terminal's colour that is nearest to red, green and blue. */
static unsigned nearest(unsigned red, unsigned green, unsigned blue)
{
    unsigned high = most(red, most(green, blue));
    unsigned low = 255 - most(255 - red, most(255 - green, 255 - blue));
    unsigned middle = (high + low) / 2;
    if (high - low < 48) /* nearly grey */
        return high > 48 && high < 160 ? STYLE_GRAY : STYLE_PLAIN;
    unsigned number =
        (unsigned)(red > middle) | (unsigned)(green > middle) << 1 | (unsigned)(blue > middle) << 2;
    return colour_of(number + (low > 80 ? BRIGHT : 0));
}

/* Returns one of 256 colours: sixteen, a cube of 6 x 6 x 6, and 24 greys. */
static unsigned colour_of_256(unsigned number)
{
    static const unsigned levels[] = {0, 95, 135, 175, 215, 255};
    if (number < 16)
        return colour_of(number);
    if (number >= 232) {
        unsigned grey = 8 + 10 * (number - 232);
        return nearest(grey, grey, grey);
    }
    number -= 16;
    return nearest(levels[number / 36], levels[number / 6 % 6], levels[number % 6]);
}

/* The next parameter; it moves on. An empty one is 0. */
static unsigned next(const char **at)
{
    char *end;
    unsigned long value = strtoul(*at, &end, 10);
    *at = end;
    if (**at == ';' || **at == ':')
        ++*at;
    return value > 255 ? 255 : (unsigned)value;
}

/* What follows 38 and 48: "5;number" or "2;red;green;blue". */
static unsigned extended(const char **at)
{
    unsigned kind = next(at);
    if (kind == 5)
        return colour_of_256(next(at));
    if (kind != 2)
        return STYLE_PLAIN;
    unsigned red = next(at), green = next(at);
    return nearest(red, green, next(at));
}

static unsigned with_colour(unsigned style, unsigned colour)
{
    return (style & ~(unsigned)STYLE_COLOR) | colour;
}

/* Returns the style after a parameter; `at` is what follows it. */
static unsigned apply(unsigned style, unsigned parameter, const char **at)
{
    if (parameter == 38)
        return with_colour(style, extended(at));
    if (parameter >= 30 && parameter <= 37)
        return with_colour(style, colour_of(parameter - 30));
    if (parameter >= 90 && parameter <= 97)
        return with_colour(style, colour_of(parameter - 90 + BRIGHT));
    switch (parameter) {
    case 0:
        return STYLE_PLAIN;
    case 1:
        return style | STYLE_BOLD;
    case 2:
        return style & STYLE_COLOR ? style : style | STYLE_GRAY;
    case 7:
        return style | STYLE_REVERSE;
    case 22:
        style &= ~(unsigned)STYLE_BOLD;
        return (style & STYLE_COLOR) == STYLE_GRAY ? with_colour(style, STYLE_PLAIN) : style;
    case 27:
        return style & ~(unsigned)STYLE_REVERSE;
    case 39:
        return with_colour(style, STYLE_PLAIN);
    case 48:
        extended(at);
        return style;
    default:
        return style;
    }
}

/* The style after the parameters of such a sequence: "1;31", "38;5;208", "" … What a grid does not
 * have (backgrounds, underlines) changes nothing. */
static unsigned text_style_apply(unsigned style, const char *parameters)
{
    const char *at = parameters;
    if (*at != '\0' && (*at < '0' || *at > ';')) /* private: "?", ">" */
        return style;
    do {
        const char *before = at;
        style = apply(style, next(&at), &at);
        if (at == before) /* what is not a number */
            break;
    } while (*at != '\0');
    return style;
}

#define TAB 8
/* A character has 21 bits; what is above is its style. */
#define STYLE_SHIFT 21
#define CODE_MASK ((1u << STYLE_SHIFT) - 1)

bool transcript_init(struct transcript *transcript)
{
    *transcript = (struct transcript){
        .lines = calloc(TRANSCRIPT_LINES, sizeof *transcript->lines), .count = 1};
    return transcript->lines != NULL;
}

void transcript_finish(struct transcript *transcript)
{
    free(transcript->lines);
    transcript->lines = NULL;
}

static uint32_t *line_at(const struct transcript *transcript, size_t line)
{
    return transcript->lines[(transcript->first + line) % TRANSCRIPT_LINES];
}

/* Moves to the next line; the oldest one makes space for a new one. */
static void next_line(struct transcript *transcript)
{
    transcript->line++;
    if (transcript->line < transcript->count)
        return;
    if (transcript->count < TRANSCRIPT_LINES) {
        transcript->count++;
    } else {
        transcript->first = (transcript->first + 1) % TRANSCRIPT_LINES;
        transcript->dropped++;
        transcript->line--;
    }
    memset(line_at(transcript, transcript->line), 0, sizeof *transcript->lines);
}

static void put(struct transcript *transcript, uint32_t code)
{
    if (transcript->column < TRANSCRIPT_COLUMNS)
        line_at(transcript, transcript->line)[transcript->column++] = code | transcript->style
                                                                                 << STYLE_SHIFT;
}

static void erase_line(struct transcript *transcript, size_t from, size_t to)
{
    uint32_t *line = line_at(transcript, transcript->line);
    for (size_t i = from; i < to && i < TRANSCRIPT_COLUMNS; i++)
        line[i] = 0;
}

static size_t parameter(const struct transcript *transcript)
{
    return (size_t)strtoul(transcript->parameters, NULL, 10);
}

/* Which screen is written to. */
static void choose_screen(struct transcript *transcript, bool is_alternate)
{
    static const char *const modes[] = {"?1049", "?1047", "?47"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(transcript->parameters, modes[i]) == 0)
            transcript->is_alternate = is_alternate;
}

/* Does what a control sequence asks for; those of a whole screen are ignored. */
static void obey(struct transcript *transcript, char letter)
{
    size_t n = parameter(transcript), by = n > 0 ? n : 1;
    size_t *line = &transcript->line, *column = &transcript->column;
    switch (letter) {
    case 'F':
    case 'A':
        *line -= by < *line ? by : *line;
        break;
    case 'E':
    case 'B':
        *line = *line + by < transcript->count ? *line + by : transcript->count - 1;
        break;
    case 'C':
        *column = *column + by < TRANSCRIPT_COLUMNS ? *column + by : TRANSCRIPT_COLUMNS - 1;
        break;
    case 'D':
        *column -= by < *column ? by : *column;
        break;
    case 'G':
        *column = by - 1 < TRANSCRIPT_COLUMNS ? by - 1 : TRANSCRIPT_COLUMNS - 1;
        break;
    case 'K':
        erase_line(transcript, n == 0 ? *column : 0, n == 1 ? *column : TRANSCRIPT_COLUMNS);
        break;
    case 'm':
        transcript->style = text_style_apply(transcript->style, transcript->parameters);
        break;
    default:
        break;
    }
    if (letter == 'E' || letter == 'F')
        *column = 0;
}

/* Does what a control character asks for. */
static void control(struct transcript *transcript, uint32_t code)
{
    switch (code) {
    case '\n':
        next_line(transcript);
        break;
    case '\r':
        transcript->column = 0;
        break;
    case '\b':
        transcript->column -= transcript->column > 0;
        break;
    case '\t':
        transcript->column += TAB - transcript->column % TAB;
        break;
    case '\033':
        transcript->state = TRANSCRIPT_ESCAPE;
        break;
    default:
        break;
    }
}

/* A part of an escape sequence. */
static void add_escaped(struct transcript *transcript, uint32_t code)
{
    switch (transcript->state) {
    case TRANSCRIPT_ESCAPE:
        transcript->parameter_count = 0;
        memset(transcript->parameters, 0, sizeof transcript->parameters);
        transcript->state = code == '['                                 ? TRANSCRIPT_SEQUENCE
                            : code == ']' || code == 'P' || code == '_' ? TRANSCRIPT_STRING
                            : code >= 0x20 && code < 0x30               ? TRANSCRIPT_ESCAPE
                                                                        : TRANSCRIPT_TEXT;
        break;
    case TRANSCRIPT_SEQUENCE:
        if (code >= 0x40 && code <= 0x7E) {
            transcript->state = TRANSCRIPT_TEXT;
            if (code == 'h' || code == 'l')
                choose_screen(transcript, code == 'h');
            else if (!transcript->is_alternate)
                obey(transcript, (char)code);
        } else if (transcript->parameter_count + 1 < sizeof transcript->parameters) {
            transcript->parameters[transcript->parameter_count++] = (char)code;
        }
        break;
    case TRANSCRIPT_STRING: /* to BEL, or the backslash of ESC \ */
        if (code == '\a' || code == '\033')
            transcript->state = code == '\a' ? TRANSCRIPT_TEXT : TRANSCRIPT_ESCAPE;
        break;
    case TRANSCRIPT_TEXT:
        break;
    }
}

/* Adds a code point, which is text or part of an escape sequence. */
static void add_code(struct transcript *transcript, uint32_t code)
{
    if (transcript->state != TRANSCRIPT_TEXT)
        add_escaped(transcript, code);
    else if (transcript->is_alternate && code != '\033')
        return;
    else if (code < 0x20)
        control(transcript, code);
    else
        put(transcript, code);
}

static size_t announced(unsigned char first)
{
    return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* A character may come in two parts. */
static bool is_partial(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    if (left >= announced((unsigned char)*at))
        return false;
    for (size_t i = 1; i < left; i++)
        if ((at[i] & 0xC0) != 0x80)
            return false;
    return true;
}

void transcript_add(struct transcript *transcript, const char *bytes, size_t length)
{
    const char *at = bytes, *end = bytes + length;
    if (length == 0)
        return;
    while (at < end && transcript->partial_length > 0) {
        transcript->partial[transcript->partial_length++] = *at++;
        const char *begin = transcript->partial, *stop = begin + transcript->partial_length;
        if (is_partial(begin, stop))
            continue;
        while (begin < stop)
            add_code(transcript, utf8_next(&begin, stop));
        transcript->partial_length = 0;
    }
    while (at < end) {
        if (is_partial(at, end)) {
            transcript->partial_length = (size_t)(end - at);
            memcpy(transcript->partial, at, transcript->partial_length);
            return;
        }
        add_code(transcript, utf8_next(&at, end));
    }
}

/* Draws a line; "~" says that there is more of it. */
static void draw_line(const uint32_t *line, struct grid *grid, int row)
{
    size_t end = TRANSCRIPT_COLUMNS;
    int column = 0;
    bool is_whole = true;
    while (end > 0 && line[end - 1] == 0)
        end--;
    for (size_t i = 0; i < end && column < grid->columns; i++) {
        uint32_t code = line[i] & CODE_MASK;
        int columns = code ? utf8_columns(code) : 1;
        if (code)
            grid_put(grid, row, column, code, line[i] >> STYLE_SHIFT);
        column += columns < 0 ? 1 : columns;
        is_whole = i + 1 == end && column <= grid->columns;
    }
    if (!is_whole)
        grid_put(grid, row, grid->columns - 1, '~', STYLE_GRAY);
}

static bool is_empty(const uint32_t *line)
{
    size_t i = 0;
    while (i < TRANSCRIPT_COLUMNS && line[i] == 0)
        i++;
    return i == TRANSCRIPT_COLUMNS;
}

bool transcript_is_empty(const struct transcript *transcript)
{
    return transcript->count == 1 && is_empty(line_at(transcript, 0));
}

size_t transcript_kept(const struct transcript *transcript)
{
    /* After a line's end the cursor waits in an empty one. */
    return transcript->count - is_empty(line_at(transcript, transcript->count - 1));
}

size_t transcript_lines(const struct transcript *transcript)
{
    return transcript->dropped + transcript_kept(transcript);
}

void transcript_draw(
    const struct transcript *transcript, struct grid *grid, int row, int rows, size_t up)
{
    size_t count = transcript_kept(transcript);
    size_t end = up < count ? count - up : 0;
    size_t shown = end < (size_t)rows ? end : (size_t)rows;
    for (size_t i = 0; i < shown; i++)
        draw_line(line_at(transcript, end - shown + i), grid, row + (int)i);
}
