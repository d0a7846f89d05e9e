/*
 * What is shown on the terminal while something is tracked: one line, a view, nothing.
 */
#pragma once

struct display {
    int fd;                      /* becomes readable when update() has something to do; -1: never */
    int (*update)(void *user);   /* does what is due; returns in how many milliseconds something is
                                    due again; -1: nothing is */
    void (*suspend)(void *user); /* the process is about to be stopped; may be NULL */
    void (*resume)(void *user);  /* it was continued; may be NULL */
    void *user;
};

static inline void display_suspend(const struct display *display)
{
    if (display->suspend)
        display->suspend(display->user);
}

static inline void display_resume(const struct display *display)
{
    if (display->resume)
        display->resume(display->user);
}
