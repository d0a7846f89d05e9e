/* /proc/PID/mountinfo: every piece lies in the text, and is never longer without its escapes. */
#include "machine/os/mountinfo.h"

#include "fuzz_text.h"

static void use(struct mountinfo_piece piece, const char *text, const char *end)
{
    if (piece.start < text || piece.start + piece.length > end)
        abort();
    char *plain = mountinfo_unescape(piece);
    if (!plain || strlen(plain) > piece.length)
        abort();
    free(plain);
    mountinfo_has_option(piece, "memory");
    mountinfo_is(piece, "cgroup2");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    const char *position = text, *end = text + size;
    struct mountinfo_entry entry;
    while (mountinfo_next(&position, end, &entry)) {
        use(entry.root, text, end);
        use(entry.mount_point, text, end);
        use(entry.type, text, end);
        use(entry.options, text, end);
    }
    free(text);
    return 0;
}
