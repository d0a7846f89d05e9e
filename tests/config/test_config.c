#include <gputracker/config.h>

#include "testing.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A file with that content. Static text, changed by the next call. */
static const char *file_with(const char *content)
{
    static char path[] = "/tmp/gput-test-config-XXXXXX";
    strcpy(path + sizeof path - 7, "XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
    return path;
}

static struct gput_session_options options;

/* Sets the options, too. */
static int read_config(const char *content, struct gput_config **config, struct gput_error *error)
{
    const char *path = file_with(content);
    int code = gput_config_load(path, config, error);
    options = gput_session_options_default();
    if (code == GPUT_OK)
        gput_config_options(*config, &options);
    unlink(path);
    return code;
}

TEST(gives_the_defaults_for_an_empty_object)
{
    struct gput_config *config;
    struct gput_session_options defaults = gput_session_options_default();
    assert_int_equal(read_config("{}", &config, NULL), GPUT_OK);
    assert_true(options.sleep_time_seconds == defaults.sleep_time_seconds);
    assert_int_equal(options.ram_unit, defaults.ram_unit);
    assert_null(options.tracking_file);
    assert_false(gput_config_disables_logs(config));
    assert_int_equal(gput_config_process_id(config), 0);
    gput_config_destroy(config);
}

TEST(reads_every_member)
{
    struct gput_config *config;
    assert_int_equal(
        read_config("{\"sleep_time\": 0.25, \"ram_unit\": \"bytes\", \"gpu_ram_unit\": "
                    "\"terabytes\", \"time_unit\": \"days\", \"n_expected_cores\": 7, "
                    "\"gpu_uuids\": [\"GPU-1\", \"2\"], \"gpu_brand\": \"amd\", \"disable_logs\": "
                    "true, \"process_id\": 42, \"resource_usage_file\": \"kept\", "
                    "\"tracking_file\": \"rows.csv\", \"overwrite\": true, \"ram_mode\": "
                    "\"exact\", \"limits\": {\"ram\": \"1.5GB\", \"seconds\": 90, "
                    "\"cpu_seconds\": 0.25}, \"enforce\": true, \"n_join_attempts\": 5, "
                    "\"join_timeout\": 1.5}",
            &config, NULL),
        GPUT_OK);
    assert_true(options.sleep_time_seconds == 0.25);
    assert_int_equal(options.ram_unit, GPUT_RAM_UNIT_BYTES);
    assert_int_equal(options.gpu_ram_unit, GPUT_RAM_UNIT_TERABYTES);
    assert_int_equal(options.time_unit, GPUT_TIME_UNIT_DAYS);
    assert_int_equal(options.n_expected_cores, 7);
    assert_string_equal(options.gpu_uuids, "GPU-1,2");
    assert_string_equal(options.gpu_brand, "amd");
    assert_true(gput_config_disables_logs(config));
    assert_int_equal(gput_config_process_id(config), 42);
    assert_string_equal(options.resource_usage_file, "kept");
    assert_string_equal(options.tracking_file, "rows.csv");
    assert_true(options.overwrite);
    assert_int_equal(options.ram_mode, GPUT_RAM_EXACT);
    assert_true(options.limits->values[GPUT_LIMIT_RAM] == 1.5e9);
    assert_true(options.limits->values[GPUT_LIMIT_GPU_RAM] == 0);
    assert_true(options.limits->values[GPUT_LIMIT_SECONDS] == 90);
    assert_true(options.limits->values[GPUT_LIMIT_CPU_SECONDS] == 0.25);
    assert_true(options.limits->enforce);
    gput_config_destroy(config);
}

TEST(takes_the_last_of_two_equal_members)
{
    struct gput_config *config;
    assert_int_equal(
        read_config("{\"gpu_brand\": \"amd\", \"gpu_brand\": \"nvidia\"}", &config, NULL), GPUT_OK);
    assert_string_equal(options.gpu_brand, "nvidia");
    gput_config_destroy(config);
}

TEST(distinguishes_an_empty_list_of_gpus_from_none)
{
    struct gput_config *config;
    assert_int_equal(read_config("{\"gpu_uuids\": []}", &config, NULL), GPUT_OK);
    assert_string_equal(options.gpu_uuids, "");
    gput_config_destroy(config);
    assert_int_equal(read_config("{\"gpu_uuids\": null}", &config, NULL), GPUT_OK);
    assert_null(options.gpu_uuids);
    gput_config_destroy(config);
}

TEST(names_the_file_and_the_member_that_is_wrong)
{
    struct gput_config *config;
    struct gput_error error;
    assert_int_equal(read_config("{\"gpu_brand\": \"amd\", \"overwrite\": 1}", &config, &error),
        GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "/tmp/gput-test-config-"));
    assert_non_null(strstr(error.message, "\"overwrite\" must be true or false."));
    assert_null(config);

    assert_int_equal(read_config("{\"speed\": 1}", &config, &error), GPUT_ERROR_INVALID);
    assert_non_null(
        strstr(error.message, "Unknown option \"speed\". Valid options are sleep_time"));
    assert_int_equal(read_config("[]", &config, &error), GPUT_ERROR_FORMAT);
    assert_int_equal(read_config("{", &config, &error), GPUT_ERROR_FORMAT);
    assert_int_equal(gput_config_load("/no/such/file", &config, &error), GPUT_ERROR_NOT_FOUND);
}

struct visited {
    char text[256];
    const char *stops_at;
};

static int visit(void *user, const char *name, const char *value, struct gput_error *error)
{
    struct visited *visited = user;
    size_t used = strlen(visited->text);
    (void)error;
    if (visited->stops_at && strcmp(name, visited->stops_at) == 0)
        return GPUT_ERROR_STATE;
    snprintf(
        visited->text + used, sizeof visited->text - used, "%s=%s ", name, value ? value : "true");
    return GPUT_OK;
}

static int visit_config(const char *content, struct visited *visited, struct gput_error *error)
{
    const char *path = file_with(content);
    int code = gput_config_visit(path, visit, visited, error);
    unlink(path);
    return code;
}

TEST(visits_members_in_order_and_items_one_by_one)
{
    struct visited visited = {0};
    assert_int_equal(visit_config("{\"a\": \"x\", \"b\": true, \"c\": false, \"d\": null, \"e\": 3,"
                                  " \"f\": 0.5, \"g\": [\"y\", 2, false]}",
                         &visited, NULL),
        GPUT_OK);
    assert_string_equal(visited.text, "a=x b=true e=3 f=0.5 g=y g=2 ");
}

TEST(a_visit_ends_with_what_the_visitor_returns)
{
    struct visited visited = {.stops_at = "b"};
    struct gput_error error;
    assert_int_equal(
        visit_config("{\"a\": 1, \"b\": 2, \"c\": 3}", &visited, &error), GPUT_ERROR_STATE);
    assert_string_equal(visited.text, "a=1 ");
    assert_int_equal(visit_config("{\"o\": {}}", &visited, &error), GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "\"o\" must be a string, a number, true, false, or"));
    assert_int_equal(visit_config("[1]", &visited, &error), GPUT_ERROR_FORMAT);
    assert_int_equal(visit_config("{", &visited, &error), GPUT_ERROR_FORMAT);
    assert_int_equal(
        gput_config_visit("/no/such/file", visit, &visited, &error), GPUT_ERROR_NOT_FOUND);
}

RUN_TESTS(NULL, NULL)
