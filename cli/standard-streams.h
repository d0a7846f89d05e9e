#ifndef CLI_STANDARD_STREAMS_H
#define CLI_STANDARD_STREAMS_H

/*
 * Opens /dev/null where we were started without a standard input, output or error, so that no file
 * of ours gets its number and then what is meant for a screen. It is closed again by exec(): the
 * tracked command finds its streams as closed as they are without us.
 */
void standard_streams_fill(void);

#endif
