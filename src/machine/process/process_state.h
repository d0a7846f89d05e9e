/*
 * The state of a tracked process: how far its end is known. One table (process_state.c) says which
 * input leads from which state to which; process_log feeds it.
 *
 *     FOUND -> RUNNING <-> LEADER_EXITED        by scans; a fork event leads to RUNNING, too
 *
 *     RUNNING -- last record --> RECORDED       its exit event has not arrived yet
 *      |    ^                       |
 *     exit  | runs, exec            | exit, dead
 *      v    |                       v
 *     EXITED --- last record --> COMPLETE       EXITED: perhaps of its first thread alone
 *      |                         ^     |
 *     dead                       |     | closed
 *      v                         |     v
 *     DEAD ----- last record ----+   FINAL      closed: nothing more is awaited
 *      |                               ^
 *      +----------- closed ------------+
 *
 * Not drawn: LEADER_EXITED is left like RUNNING, and by the exit of any other thread, too. A scan
 * that finds a process dead leads to DEAD at once. The last exit record of another thread than the
 * first one leads to COMPLETE at once. EXITED may turn out to be LEADER_EXITED, and an exec event
 * that is read late revokes DEAD. Without events and exit records, a process goes from RUNNING by
 * DEAD to FINAL.
 */
#pragma once

#include <stdbool.h>

enum process_state {
    PROCESS_FOUND, /* by a scan; the process log does not count it (yet) */
    PROCESS_RUNNING,
    PROCESS_LEADER_EXITED, /* its first thread has exited, others live */
    PROCESS_RECORDED,      /* its last exit record arrived before its exit event */
    PROCESS_EXITED,        /* the kernel announced its exit, perhaps of its first thread alone */
    PROCESS_DEAD,          /* none of its threads is left; event or exit record may follow */
    PROCESS_COMPLETE,      /* it has ended, and its last exit record has arrived */
    PROCESS_FINAL,         /* its figures are in the totals and do not change any more */
};

#define PROCESS_STATES (PROCESS_FINAL + 1)

enum process_input {
    /* A scan of all processes, or a reading of this one. */
    PROCESS_INPUT_RUNS,          /* its first thread lives */
    PROCESS_INPUT_LEADER_EXITED, /* another thread lives */
    PROCESS_INPUT_DEAD,          /* it is a zombie, not there, or its pid is another's */
    /* Events. */
    PROCESS_INPUT_FORK, /* it was started */
    PROCESS_INPUT_EXEC,
    PROCESS_INPUT_EXIT,        /* of its first thread */
    PROCESS_INPUT_THREAD_EXIT, /* of another one */
    /* Exit records: the last one of a process. */
    PROCESS_INPUT_LAST_RECORD,        /* of its first thread: its exit event follows */
    PROCESS_INPUT_LAST_THREAD_RECORD, /* of another one: no event gives the end of the process */
    /* Nothing more is awaited: neither an event nor an exit record. */
    PROCESS_INPUT_CLOSED,
};

#define PROCESS_INPUTS (PROCESS_INPUT_CLOSED + 1)

enum process_state process_state_after(enum process_state state, enum process_input input);

/* True while neither an end nor its last exit record is known. */
static inline bool process_state_is_running(enum process_state state)
{
    return state == PROCESS_RUNNING || state == PROCESS_LEADER_EXITED;
}

/* True while the process log expects anything of it: its figures may change. */
static inline bool process_state_is_open(enum process_state state)
{
    return state != PROCESS_FOUND && state != PROCESS_FINAL;
}

/* True when it has ended as far as is known. */
static inline bool process_state_has_ended(enum process_state state)
{
    return state >= PROCESS_EXITED;
}
