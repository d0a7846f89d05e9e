/*
 * Runs the program on a stack of its own where the limit leaves too little (ulimit -s): the command
 * may need less than gpu-tracker does.
 */
#pragma once

int own_stack_run(int (*run)(int argc, char **argv), int argc, char **argv);
