#include "machine/process/process_state.h"

#define FOUND PROCESS_FOUND
#define RUNNING PROCESS_RUNNING
#define LEADER_EXITED PROCESS_LEADER_EXITED
#define RECORDED PROCESS_RECORDED
#define EXITED PROCESS_EXITED
#define DEAD PROCESS_DEAD
#define COMPLETE PROCESS_COMPLETE
#define FINAL PROCESS_FINAL

/*
 * The exit of the first thread is announced like the end of the process. But other threads may live
 * on, or one of them may become the first (execve): so EXITED is left by reading the process once
 * more, and can be revoked. Exit records are certain.
 */
// clang-format off
static const unsigned char transitions[PROCESS_STATES][PROCESS_INPUTS] = {
/*                     scan or reading                    event                                          exit record                             */
/*                     runs      leader exited  dead      fork           exec      exit      thread exit last      last of thread closed         */
    [FOUND]         = {RUNNING,  LEADER_EXITED, DEAD,     RUNNING,       FOUND,    FOUND,    FOUND,      FOUND,    FOUND,         FOUND},
    [RUNNING]       = {RUNNING,  LEADER_EXITED, DEAD,     RUNNING,       RUNNING,  EXITED,   RUNNING,    RECORDED, COMPLETE,      RUNNING},
    [LEADER_EXITED] = {RUNNING,  LEADER_EXITED, DEAD,     LEADER_EXITED, RUNNING,  EXITED,   EXITED,     RECORDED, COMPLETE,      LEADER_EXITED},
    [RECORDED]      = {RECORDED, RECORDED,      COMPLETE, RECORDED,      RECORDED, COMPLETE, RECORDED,   RECORDED, COMPLETE,      RECORDED},
    [EXITED]        = {RUNNING,  LEADER_EXITED, DEAD,     EXITED,        RUNNING,  EXITED,   EXITED,     COMPLETE, COMPLETE,      EXITED},
    [DEAD]          = {DEAD,     DEAD,          DEAD,     DEAD,          RUNNING,  DEAD,     DEAD,       COMPLETE, COMPLETE,      FINAL},
    [COMPLETE]      = {COMPLETE, COMPLETE,      COMPLETE, COMPLETE,      COMPLETE, COMPLETE, COMPLETE,   COMPLETE, COMPLETE,      FINAL},
    [FINAL]         = {FINAL,    FINAL,         FINAL,    FINAL,         FINAL,    FINAL,    FINAL,      FINAL,    FINAL,         FINAL},
};
// clang-format on

enum process_state process_state_after(enum process_state state, enum process_input input)
{
    return transitions[state][input];
}
