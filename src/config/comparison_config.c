/*
 * Reads from a JSON file which sessions are compared, and by which statistic.
 */
#include <gputracker/comparison.h>

#include "base/array.h"
#include "base/doc.h"

#include <stdlib.h>
#include <string.h>

/* Maximum size of a configuration. */
#define MAX_BYTES ((size_t)16 << 20)

struct gput_comparison_config {
    struct gput_comparison_session *sessions; /* owned */
    size_t n_sessions;
    enum gput_statistic statistic;
    struct doc *root; /* owns the texts of the sessions */
};

void gput_comparison_config_destroy(struct gput_comparison_config *config)
{
    if (!config)
        return;
    free(config->sessions);
    doc_destroy(config->root);
    free(config);
}

const struct gput_comparison_session *gput_comparison_config_sessions(
    const struct gput_comparison_config *config, size_t *count)
{
    *count = config->n_sessions;
    return config->sessions;
}

enum gput_statistic gput_comparison_config_statistic(const struct gput_comparison_config *config)
{
    return config->statistic;
}

/* Adds a file to a session of the comparison. */
static int add_session(struct gput_comparison_config *config, const char *name,
    const struct doc *path, const char *file, struct gput_error *error)
{
    if (path->kind != DOC_STRING)
        return error_set(error, GPUT_ERROR_FORMAT,
            "Config file %s: the file path of session \"%.100s\" is not a string.", file, name);
    if (!ARRAY_EXTEND(config->sessions, config->n_sessions))
        return error_memory(error);
    config->sessions[config->n_sessions++] = (struct gput_comparison_session){name, path->string};
    return GPUT_OK;
}

/* Reads the sessions and the statistic from the file. */
static int load(struct gput_comparison_config *config, const char *path, struct gput_error *error)
{
    TRY(doc_read_json_file(path, MAX_BYTES, &config->root, error));
    const struct doc *root = config->root;
    if (root->kind != DOC_OBJECT)
        return error_set(error, GPUT_ERROR_FORMAT, "Config file %s holds no JSON object.", path);
    for (const struct doc *member = root->first; member; member = member->next) {
        if (strcmp(member->key, "file_path_map") != 0 && strcmp(member->key, "statistic") != 0)
            return error_set(error, GPUT_ERROR_FORMAT,
                "Config file %s: \"%.100s\" is unknown. It may have file_path_map and statistic.",
                path, member->key);
    }
    /* A session has one path, or an array with the path of each of its runs. */
    const struct doc *map = doc_get(root, "file_path_map");
    if (map && map->kind != DOC_NULL) {
        if (map->kind != DOC_OBJECT)
            return error_set(error, GPUT_ERROR_FORMAT,
                "Config file %s: file_path_map is not an object of session names and file paths.",
                path);
        for (const struct doc *session = map->first; session; session = session->next) {
            if (session->kind != DOC_ARRAY)
                TRY(add_session(config, session->key, session, path, error));
            for (const struct doc *run = session->kind == DOC_ARRAY ? session->first : NULL; run;
                 run = run->next)
                TRY(add_session(config, session->key, run, path, error));
        }
    }

    const struct doc *word = doc_get(root, "statistic");
    if (!word || word->kind == DOC_NULL)
        return GPUT_OK;
    if (word->kind != DOC_STRING)
        return error_set(
            error, GPUT_ERROR_FORMAT, "Config file %s: statistic is not a string.", path);
    return gput_statistic_parse(word->string, &config->statistic, error);
}

int gput_comparison_config_load(
    const char *path, struct gput_comparison_config **config, struct gput_error *error)
{
    *config = NULL;
    struct gput_comparison_config *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->statistic = GPUT_STATISTIC_MEAN;
    int code = load(made, path, error);
    if (code == GPUT_OK)
        *config = made;
    else
        gput_comparison_config_destroy(made);
    return code;
}
