/*
 * The energy of a session inside of the library.
 */
#pragma once

#include <gputracker/energy.h>

/* Reads the word of a unit. Errors: GPUT_ERROR_INVALID with the valid words. */
int energy_unit_parse(const char *word, enum gput_energy_unit *unit, struct gput_error *error);

/* Joules over a session. NaN: not available on this machine. */
struct gput_energy {
    enum gput_energy_unit unit; /* to show it in; the figures here are joules */
    struct {
        double package; /* CPU packages, core and uncore included */
        double core;
        double uncore;
        double dram;
        double psys;    /* the platform as a whole; not in the total */
        double gpu;     /* all GPUs */
        double battery; /* drawn from batteries by the whole machine; in the total only without a
                           package counter */
        double total;   /* package + dram + gpu, those that are known */
    } machine;
    double main;
    double descendants;
    double combined;
    double unattributed;   /* total - combined; the whole total where combined is not known */
    double idle_share;     /* idle part of the machine's CPU time, 0 to 1 */
    double mean_watts;     /* of the total */
    double max_watts;      /* of the total, over a second or more; over the session when that is
                              shorter */
    double co2e_grams;     /* of combined; NaN without a carbon intensity */
    char co2e_source[128]; /* which intensity: "56.039 g/kWh: France, 2023 (codecarbon 3.3.2)" */
};

/* No device with a counter, and no whole machine, draws more. Higher and negative readings are
 * faults. */
#define ENERGY_DEVICE_MAX_WATTS 10e3
#define ENERGY_MACHINE_MAX_WATTS 100e3

/* Returns the watts, or NaN where they are beyond what a device can draw. */
double energy_device_watts(double watts);

#define ENERGY_PARTS_SIZE 48

/* Writes what a sum of joules includes: "CPU packages and DRAM", "GPUs". Unknown parts are NaN.
 * */
void energy_parts_words(double package, double dram, double gpus, char text[ENERGY_PARTS_SIZE]);

/* Writes what machine.total includes: "GPUs", or "the whole machine" if it comes from batteries.
 * */
void energy_total_words(const struct gput_energy *energy, char text[ENERGY_PARTS_SIZE]);

/* Fills `joules` with the figures of the public enum, in its order. */
void energy_figures(const struct gput_energy *energy, double joules[GPUT_ENERGY_FIGURE_COUNT]);
