#include "text_style.h"

#include "grid.h"

#include <stdbool.h>
#include <stdlib.h>

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

/* Of 256: sixteen, a cube of 6 x 6 x 6, and 24 greys. */
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

unsigned text_style_apply(unsigned style, const char *parameters)
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
