/*
 * What gpu-tracker finds in the sessions of a report: for tests of the page, whose sessions never
 * were. Reads a document as JSON from its standard input, and adds to it.
 */
#include "views/report/report_findings.h"
#include "base/cleanup.h"
#include "base/file.h"

#include <unistd.h>

int main(void)
{
    struct gput_error error;
    struct report_payload payload = {0};
    CLEANUP_STR struct str text = {0};
    CLEANUP_STR struct str made = {0};
    char part[65536];
    for (ssize_t got; (got = read(STDIN_FILENO, part, sizeof part)) > 0;)
        str_append_bytes(&text, part, (size_t)got);
    int code = doc_read_json(str_text(&text), text.length, "the document", &payload.root, &error);
    if (code == GPUT_OK)
        code = report_findings_add(&payload, &error);
    if (code != GPUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    doc_write_json(payload.root, -1, &made);
    fwrite(str_text(&made), 1, made.length, stdout);
    doc_destroy(payload.root);
    return 0;
}
