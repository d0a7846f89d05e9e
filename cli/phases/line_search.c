#include "line_search.h"

#include "common/environment.h"

#include <dlfcn.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libpcre2-8.so.0"

/* Constants of PCRE2's interface, which is stable. */
#define PCRE2_MULTILINE 0x400u
#define PCRE2_JIT_COMPLETE 1u
#define PCRE2_NO_MATCH (-1)

/* ---- Translating the expression for PCRE2 ---- */

struct translation {
    char text[4096];
    size_t length;
    bool is_full;
};

/* Appends bytes to the translation; sets `is_full` when there is no space. */
static void add(struct translation *out, const char *bytes, size_t length)
{
    out->is_full |= length >= sizeof out->text - out->length;
    if (out->is_full)
        return;
    memcpy(out->text + out->length, bytes, length);
    out->length += length;
}

static void add_text(struct translation *out, const char *text)
{
    add(out, text, strlen(text));
}

static void add_byte(struct translation *out, int byte)
{
    char text[8];
    add(out, text, (size_t)snprintf(text, sizeof text, "\\x%02x", (unsigned)byte));
}

/* Translates "[0-9]" or "\w" by asking regexec() which bytes match. Line ends never do. The zero
 * byte, which no text has, is always included, since an empty set cannot be written. */
static bool add_bytes(struct translation *out, const char *at, size_t length)
{
    char atom[256];
    bool has[257] = {false};
    regex_t regex;
    if (length >= sizeof atom)
        return false;
    memcpy(atom, at, length);
    atom[length] = '\0';
    if (regcomp(&regex, atom, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    for (int byte = 1; byte < 256; byte++) {
        const char text[] = {(char)byte, '\0'};
        has[byte] = byte != '\n' && byte != '\r' && regexec(&regex, text, 0, NULL, 0) == 0;
    }
    regfree(&regex);
    add_text(out, "[\\x00");
    for (int byte = 1; byte < 256; byte++) {
        if (!has[byte] || has[byte - 1])
            continue;
        int last = byte;
        while (has[last + 1])
            last++;
        add_byte(out, byte);
        add_text(out, "-");
        add_byte(out, last);
    }
    add_text(out, "]");
    return true;
}

/* Reads the length of a quantifier; 0: there is none. Returns false if PCRE2 may read it
 * differently. */
static bool read_quantifier(const char *at, size_t *length)
{
    *length = *at && strchr("*+?", *at) ? 1 : 0;
    if (*at == '{') {
        size_t digits = strspn(at + 1, "0123456789"), more = 0;
        if (at[1 + digits] == ',')
            more = 1 + strspn(at + 2 + digits, "0123456789");
        if (digits == 0 || at[1 + digits + more] != '}')
            return false;
        *length = digits + more + 2;
    }
    return !at[*length] || !strchr("*+?{", at[*length]) || *length == 0;
}

/* Adds a character, a set of characters or an assertion. Returns false if it is not known. */
static bool add_atom(struct translation *out, const char **at)
{
    const char *atom = *at;
    size_t length = *atom == '[' ? (size_t)(brackets_skip(atom) - atom) : *atom == '\\' ? 2 : 1;
    *at += length;
    if (*atom == '[' || (*atom == '\\' && strchr("wWsS", atom[1])))
        return add_bytes(out, atom, length);
    if (*atom == '\\' && strchr("bB<>`'", atom[1])) {
        add_text(out, "(?:)"); /* without the assertion more lines are proposed */
        return true;
    }
    if (*atom == '\\' && atom[1] >= '0' && atom[1] <= '9')
        return false;
    if (strchr("^$.", *atom))
        add(out, atom, 1);
    else
        add_byte(out, (unsigned char)atom[length - 1]);
    return true;
}

/* Translates a pattern for PCRE2. Returns false if it cannot be translated. */
static bool translate(struct translation *out, const char *pattern)
{
    int depth = 0;
    add_text(out, "(*LIMIT_MATCH=1000000)(*ANYCRLF)");
    for (const char *at = pattern; *at;) {
        char first = *at;
        size_t quantifier = 0;
        if (first == '(' || first == '|') {
            add_text(out, first == '(' ? "(?:" : "|");
            depth += first == '(';
            at++;
            continue;
        }
        if (strchr("*+?{", first) || (first == ')' && depth-- == 0))
            return false;
        if (first == ')')
            add(out, at++, 1);
        else if (!add_atom(out, &at))
            return false;
        bool is_assertion = first == '^' || first == '$';
        if (!read_quantifier(at, &quantifier) || (is_assertion && quantifier > 0))
            return false;
        add(out, at, quantifier);
        at += quantifier;
    }
    return !out->is_full;
}

/* ---- The library ---- */

/* Loads PCRE2, which stays loaded. */
static bool load(struct line_search *search)
{
    const struct {
        const char *name;
        void *function;
    } symbols[] = {
        {"pcre2_compile_8", &search->compile},
        {"pcre2_jit_compile_8", &search->compile_machine_code},
        {"pcre2_code_free_8", &search->free_code},
        {"pcre2_match_data_create_8", &search->create_result},
        {"pcre2_match_data_free_8", &search->free_result},
        {"pcre2_get_ovector_pointer_8", &search->offsets},
        {"pcre2_match_8", &search->match},
    };
    void *self = environment_is_untrusted() ? NULL : dlopen(NULL, RTLD_LAZY);
    if (!self) /* it has rights that a library must not get, or is a static program, which can load
                  none */
        return false;
    dlclose(self);
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    for (size_t i = 0; library && i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (!found)
            return false;
        memcpy(symbols[i].function, &found, sizeof found);
    }
    return library != NULL;
}

void line_search_open(struct line_search *search, const char *pattern)
{
    struct translation translation = {.length = 0};
    const char *found = NULL;
    int failure;
    size_t place;
    search->code = NULL;
    if (!translate(&translation, pattern) || !load(search))
        return;
    search->code = search->compile((const unsigned char *)translation.text, translation.length,
        PCRE2_MULTILINE, &failure, &place, NULL);
    if (!search->code)
        return;
    /* An expression that matches the empty text would match everywhere. */
    if (search->compile_machine_code(search->code, PCRE2_JIT_COMPLETE) != 0 ||
        !line_search_find(search, "", "", &found) || found)
        line_search_close(search);
}

void line_search_close(struct line_search *search)
{
    if (search->code)
        search->free_code(search->code);
    search->code = NULL;
}

bool line_search_find(
    const struct line_search *search, const char *at, const char *end, const char **found)
{
    void *result = search->create_result(1, NULL);
    *found = NULL;
    if (!result)
        return false;
    int code = search->match(
        search->code, (const unsigned char *)at, (size_t)(end - at), 0, 0, result, NULL);
    if (code >= 0)
        *found = at + search->offsets(result)[0];
    search->free_result(result);
    return code >= 0 || code == PCRE2_NO_MATCH;
}

const char *brackets_skip(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    at += *at == ']';
    while (*at && *at != ']') {
        char kind = at[1];
        if (*at == '[' && (kind == ':' || kind == '.' || kind == '=')) {
            const char end[] = {kind, ']', '\0'};
            const char *found = strstr(at + 2, end);
            at = found ? found + 2 : at + strlen(at);
        } else {
            at++;
        }
    }
    return *at ? at + 1 : at;
}
