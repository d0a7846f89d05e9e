#include "meter.h"

#include <math.h>
#include <stddef.h>

#define EIGHTHS 8

unsigned meter_style(enum palette palette, double share)
{
    switch (palette) {
    case PALETTE_USE:
        return share >= 0.5 ? STYLE_GREEN : share >= 0.1 ? STYLE_CYAN : STYLE_BLUE;
    case PALETTE_SCARCE:
        return share > 0.9 ? STYLE_RED : share > 0.7 ? STYLE_YELLOW : STYLE_GREEN;
    case PALETTE_WAIT:
        return share >= 0.4 ? STYLE_RED : share >= 0.1 ? STYLE_YELLOW : STYLE_GREEN;
    default:
        return STYLE_CYAN;
    }
}

void meter_put(
    struct grid *grid, int row, int column, enum palette palette, double share, int eighths)
{
    static const char ascii[] = " .:-=+*#@";
    uint32_t glyph = eighths <= 0 ? ' ' : 0x2580u + (unsigned)eighths;
    if (grid->is_ascii)
        glyph = (uint32_t)ascii[eighths > 0 ? eighths : 0];
    else if (grid->is_coarse && eighths > 0)
        glyph = eighths <= EIGHTHS / 2 ? 0x2584u : 0x2588u;
    grid_put(grid, row, column, glyph, meter_style(palette, share));
}

/* The glyph of a cell of which that many eighths are filled from the left. */
static uint32_t left_glyph(const struct grid *grid, int eighths)
{
    if (grid->is_ascii)
        return eighths >= EIGHTHS / 2 ? '#' : '.';
    if (grid->is_coarse)
        return eighths >= EIGHTHS / 2 ? 0x2588u : 0xB7u;
    return eighths > 0 ? 0x2590u - (unsigned)eighths : 0xB7u;
}

void meter_draw(
    struct grid *grid, int row, int column, int columns, enum palette palette, double share)
{
    double known = share > 0 ? fmin(share, 1) : 0;
    int filled = (int)lround(known * columns * EIGHTHS);
    filled = known > 0 && filled == 0 ? 1 : filled;
    for (int i = 0; i < columns; i++, filled -= EIGHTHS) {
        int eighths = filled >= EIGHTHS ? EIGHTHS : filled > 0 ? filled : 0;
        uint32_t glyph = left_glyph(grid, eighths);
        bool is_left = glyph == '.' || glyph == 0xB7u;
        grid_put(grid, row, column + i, glyph, is_left ? STYLE_GRAY : meter_style(palette, share));
    }
}

struct activity activity_shares(struct activity activity)
{
    double all = fmax(1, activity.computing + activity.cpu_wait + activity.storage);
    return (struct activity){
        activity.computing / all, activity.cpu_wait / all, activity.storage / all};
}

void meter_draw_activity(
    struct grid *grid, int row, int column, int columns, struct activity activity)
{
    static const struct {
        uint32_t glyph;
        char ascii;
        unsigned style;
    } parts[] = {{0x2588, '#', STYLE_GREEN}, {0x2593, 'w', STYLE_RED}, {0x2592, 'd', STYLE_YELLOW}};
    struct activity shares = activity_shares(activity);
    const double lengths[] = {shares.computing, shares.cpu_wait, shares.storage};
    double end = 0;
    int at = 0;
    if (isnan(activity.computing))
        return;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        end += lengths[i] * columns;
        for (; at < columns && at < lround(end); at++)
            grid_put(grid, row, column + at,
                grid->is_ascii || grid->is_coarse ? (uint32_t)parts[i].ascii : parts[i].glyph,
                parts[i].style);
    }
    grid_fill(grid, row, column + at, columns - at, STYLE_GRAY, grid->is_ascii ? '.' : 0xB7);
}
