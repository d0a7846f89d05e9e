/*
 * What may change in later versions of the library, and how a program that was linked against an
 * older one keeps working.
 *
 * Each public struct is of one of these kinds; its comment names the kind, unless it is opaque:
 *
 *   opaque  `struct gput_session;` alone. Used through pointers and functions. Most are.
 *
 *   sized   Options, and results that go to a struct of the caller. `size` is the first member: how
 *           much of the struct the program knows, as the struct's own _default() function sets it,
 *           which every use starts with. Later versions add members at the end. The library reads
 *           and writes `size` bytes, and takes the default for the rest. A member that it does not
 *           know itself must have its default, else it is GPUT_ERROR_UNSUPPORTED: a program is
 *           never misunderstood by an older library.
 *
 *   shared  Belongs to the library, which returns pointers to it. Members are added at its end, so
 *           it is neither copied nor are there arrays of it.
 *
 *   final   Never changes: an error, a point, an interval.
 *
 * Enumerators keep their values; new ones are added at the end. Those that count others (as
 * GPUT_MEASUREMENT_COUNT) grow: an array of that length is only as long as the program's version of
 * it. Functions keep their parameters; see src/libgputracker.map.
 *
 *     struct gput_results_render_options options = gput_results_render_options_default();
 *     options.color = true;
 *     char *text;
 *     gput_results_render(results, &options, GPUT_FORMAT_SUMMARY, &text, NULL, &error);
 *     free(text);
 */
#ifndef GPUTRACKER_SIZED_H
#define GPUTRACKER_SIZED_H

#include <stddef.h> /* size_t, of the first member */

#endif
