#include "analysis/why/why_shares.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Shorter ones are mostly starting up. */
#define MIN_SECONDS 1.0
#define MIN_SAMPLES 10.0
/* Smaller shares are not reported. */
#define MIN_PERCENT 1.0
/* 95 % of a normal distribution lie within this many standard deviations of the mean. */
#define DEVIATIONS 1.96

const char *why_word(enum wall_cause cause)
{
    static const char *const words[] = {
#define WORD(ID, name, word, meaning) word,
        WALL_CAUSES(WORD)
#undef WORD
    };
    return words[cause];
}

double why_percent(const struct gput_wall *wall, enum wall_cause cause)
{
    double percent = 100 * wall->seconds_of[cause] / wall->seconds;
    return isfinite(percent) ? percent : 0;
}

/* The part that samples divide. */
static double sampled_percent(const struct gput_wall *wall)
{
    double percent = 0;
    for (int i = WALL_FIRST_SAMPLED; i < WALL_UNKNOWN; i++)
        percent += why_percent(wall, (enum wall_cause)i);
    return percent;
}

static bool is_sampled(enum wall_cause cause)
{
    return cause >= WALL_FIRST_SAMPLED && cause < WALL_UNKNOWN;
}

/* Returns the half-width of a sampled share, as if each sample were drawn by chance. Where all
 * samples agree, three of that many may still be another cause. */
static double half_width(double percent, double whole_percent, double samples)
{
    double part = percent / whole_percent;
    if (!(samples > 0) || !(whole_percent > 0))
        return 0;
    double width = DEVIATIONS * sqrt(fmax(part * (1 - part), 0) / samples);
    return whole_percent * fmax(width, fmin(3 / samples, 1) / 2);
}

static int by_percent(const void *a, const void *b)
{
    const struct why_share *left = a, *right = b;
    if (left->percent != right->percent)
        return left->percent < right->percent ? 1 : -1;
    return (int)left->cause - (int)right->cause;
}

size_t why_shares(const struct gput_wall *wall, struct why_share shares[WALL_CAUSE_COUNT])
{
    size_t count = 0;
    double whole_percent = sampled_percent(wall);
    for (int i = 0; i < WALL_CAUSE_COUNT; i++) {
        enum wall_cause cause = (enum wall_cause)i;
        double percent = why_percent(wall, cause);
        if (percent > 0)
            shares[count++] = (struct why_share){cause, percent,
                is_sampled(cause) ? half_width(percent, whole_percent, wall->samples) : 0};
    }
    qsort(shares, count, sizeof *shares, by_percent);
    return count;
}

bool why_is_telling(const struct gput_wall *wall)
{
    bool is_counted = sampled_percent(wall) + why_percent(wall, WALL_UNKNOWN) < 5;
    return wall->seconds >= MIN_SECONDS && (is_counted || wall->samples >= MIN_SAMPLES);
}

void why_sentence(const struct gput_wall *wall, size_t max, char *text, size_t size)
{
    struct why_share shares[WALL_CAUSE_COUNT];
    size_t count = why_shares(wall, shares), used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && i < max && shares[i].percent >= MIN_PERCENT; i++) {
        int length = snprintf(text + used, size - used, "%s%.0f %% %s", used ? ", " : "",
            shares[i].percent, why_word(shares[i].cause));
        if (length < 0 || (size_t)length >= size - used) {
            text[used] = '\0';
            return;
        }
        used += (size_t)length;
    }
}
