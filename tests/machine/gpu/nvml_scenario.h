/*
 * Scenarios of the fake libnvidia-ml.so.1 with two GPUs, for tests of nvml.
 */
#pragma once

#include "scenario.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Main is this process. The others exist, too: a driver's list is believed only about processes
 * that do. */
#define MAIN getpid()
#define CHILD others[0]
#define STRANGER others[1]
static pid_t others[2];

static inline int start_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
        if (others[i] < 0)
            return -1;
    }
    return 0;
}

static inline int end_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        kill(others[i], SIGKILL);
        waitpid(others[i], NULL, 0);
    }
    return 0;
}

static char text[8192];

/* Writes a scenario; the format's arguments are mostly pids. */
#define SCENARIO(...) (snprintf(text, sizeof text, __VA_ARGS__), scenario_write(text))

#define GPU_A                                                                                      \
    "gpu GPU-aaaa\nname NVIDIA A\npci 0:1:0\nmemory 16000000000 300000000 1000000000\n"            \
    "utilization 40\npower_mw 123500\nenergy_mj 5000500\n"
#define GPU_B                                                                                      \
    "gpu GPU-bbbb\nname NVIDIA B\npci 0:2:0\nmemory 8000000000 0 500000000\n"                      \
    "utilization 20\npower_mw 50000\nenergy_mj 1000\n"
