#include "views/report/document/report_rank.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/order.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No job has as many. */
#define MAX_DIGITS 7

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte);
}

/* The number that follows a word, after at most one of "-_.=" or a blank; REPORT_NO_RANK: none. */
static long number_after(const char *at)
{
    size_t digits;
    if (*at && strchr("-_.= ", *at))
        at++;
    digits = strspn(at, "0123456789");
    uint64_t number;
    bool is_number = digits <= MAX_DIGITS && !is_word_byte(at[digits]) &&
                     number_parse_uint64(at, at + digits, &number);
    return is_number ? (long)number : REPORT_NO_RANK;
}

long report_rank_of(const char *name)
{
    static const char *const words[] = {"rank", "r"};
    long rank = REPORT_NO_RANK;
    for (const char *at = name; *at; at++) {
        if (at > name && is_word_byte(at[-1]))
            continue;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            size_t length = strlen(words[i]);
            long number =
                strncmp(at, words[i], length) == 0 ? number_after(at + length) : REPORT_NO_RANK;
            rank = number == REPORT_NO_RANK ? rank : number;
        }
    }
    return rank;
}

static int compare(const void *left, const void *right)
{
    const long *a = left, *b = right;
    return ORDER(*a, *b);
}

bool report_ranks_of(const char *const *names, size_t count, long *ranks)
{
    bool are_ranks = count > 1;
    CLEANUP_FREE long *sorted = malloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        ranks[i] = report_rank_of(names[i]);
    if (!sorted)
        return false;
    memcpy(sorted, ranks, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++)
        are_ranks &= sorted[i] != REPORT_NO_RANK && (i == 0 || sorted[i] != sorted[i - 1]);
    return are_ranks;
}

bool report_are_ranks(const struct doc *sessions)
{
    size_t count = 0;
    bool are_ranks = sessions->count > 1;
    CLEANUP_FREE long *ranks = calloc(sessions->count + 1, sizeof *ranks);
    for (const struct doc *session = sessions->first; session && ranks; session = session->next) {
        double rank = doc_get_number(doc_get(session, "identity"), "rank");
        are_ranks &= !isnan(rank);
        ranks[count++] = are_ranks ? (long)rank : REPORT_NO_RANK;
    }
    if (!ranks || !are_ranks)
        return false;
    qsort(ranks, count, sizeof *ranks, compare);
    for (size_t i = 1; i < count; i++)
        are_ranks &= ranks[i] != ranks[i - 1];
    return are_ranks;
}
