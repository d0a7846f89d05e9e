#pragma once

/*
 * Opens /dev/null for a standard stream that is closed at the start. Otherwise a file would get its
 * number, and then what is meant for the screen. exec() closes it again: the tracked command finds
 * the stream closed, as without gpu-tracker.
 */
void standard_streams_fill(void);
