#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/common/interrupt.h"
#include "cli/common/progress.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "cli/sim/commands.h"
#include "cli/sim/published.h"
#include "experiments/list.h"

enum {
    OPTION_SEEDS = 1,
    OPTION_SEED,
    OPTION_THREADS,
    OPTION_OUT,
    OPTION_QUICK,
    OPTION_LOG,
    OPTION_LIST,
    SEEDS_MAX = 10000,
    LOGS_MAX = 64,
    CHOSEN_MAX = 64
};

enum { QUICK_SEEDS = 4 };

static const struct option own[] = {{"seeds", required_argument, NULL, OPTION_SEEDS},
                                    {"seed", required_argument, NULL, OPTION_SEED},
                                    {"threads", required_argument, NULL, OPTION_THREADS},
                                    {"out", required_argument, NULL, OPTION_OUT},
                                    {"quick", no_argument, NULL, OPTION_QUICK},
                                    {"log", required_argument, NULL, OPTION_LOG},
                                    {"list", no_argument, NULL, OPTION_LIST},
                                    {0}};

struct request {
    const struct pleat_experiment *chosen[CHOSEN_MAX];
    size_t count;
    size_t seeds; /* 0: the experiment's own number */
    size_t threads;
    uint64_t seed;
    const char *out;
    const char *logs[LOGS_MAX];
    size_t log_count;
    bool quick;
    bool list; /* what of the papers is done again */
    int exit_code;
};

/* ---- the command line ---- */

static int take_option(struct request *request, int option, struct pleat_error *err)
{
    int64_t number = 0;
    int rc = 0;
    switch (option) {
    case OPTION_SEEDS:
        if (!(rc = pleat_parse_int("--seeds", optarg, 1, SEEDS_MAX, &number, err)))
            request->seeds = (size_t)number;
        return rc;
    case OPTION_SEED:
        if (!(rc = pleat_parse_int("--seed", optarg, 0, INT64_MAX / 2, &number, err)))
            request->seed = (uint64_t)number;
        return rc;
    case OPTION_THREADS:
        if (!(rc = pleat_parse_int("--threads", optarg, 1, 1024, &number, err)))
            request->threads = (size_t)number;
        return rc;
    case OPTION_OUT:
        request->out = optarg;
        return 0;
    case OPTION_QUICK:
        request->quick = true;
        return 0;
    case OPTION_LIST:
        request->list = true;
        return 0;
    default:
        if (request->log_count == LOGS_MAX)
            return pleat_error_set(err, PLEAT_E_TOOBIG, "more than %d logs", LOGS_MAX);
        request->logs[request->log_count++] = optarg;
        return 0;
    }
}

static int choose(struct request *request, const struct pleat_experiment *experiment)
{
    for (size_t i = 0; i < request->count; i++)
        if (request->chosen[i] == experiment)
            return 0;
    if (request->count < CHOSEN_MAX)
        request->chosen[request->count++] = experiment;
    return 0;
}

static int choose_named(struct request *request, const char *name, struct pleat_error *err)
{
    const char *names[CHOSEN_MAX];
    size_t count = 0;
    const struct pleat_experiment *found = pleat_experiment_find(name);
    bool all = !strcmp(name, "all");
    if (found)
        return choose(request, found);
    for (size_t i = 0; pleat_experiment_at(i) && i < CHOSEN_MAX; i++) {
        names[count++] = pleat_experiment_at(i)->name;
        if (all)
            choose(request, pleat_experiment_at(i));
    }
    if (all)
        return 0;
    const char *near = pleat_nearest(name, names, count);
    return near ? pleat_error_set(err, PLEAT_E_NOTFOUND,
                                  "there is no experiment '%s'; did you mean '%s'?", name, near)
                : pleat_error_set(err, PLEAT_E_NOTFOUND,
                                  "there is no experiment '%s': 'pleat experiment' lists them",
                                  name);
}

/* Checks that the options fit together. */
static int check(const struct request *request, bool any_option, struct pleat_error *err)
{
    if (request->list)
        return request->count > 0 || any_option
                   ? pleat_error_set(err, PLEAT_E_INVALID,
                                     "--list runs nothing, and is about all papers: without a NAME "
                                     "and other options, but --json")
                   : 0;
    if (request->count == 0 && any_option)
        return pleat_error_set(err, PLEAT_E_INVALID, "which experiment? NAME, or 'all'");
    for (size_t i = 0; i < request->count; i++)
        if (request->chosen[i]->logs)
            return 0;
    if (request->log_count > 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "--log is for experiments that run logs");
    return 0;
}

static int read_request(struct request *request, int argc, char **argv)
{
    struct pleat_options options;
    struct pleat_error err = {0};
    bool any_option = false;
    pleat_options_init(&options, &pleat_cmd_experiment, argc, argv, own, NULL);
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT) {
            request->exit_code = options.exit_code;
            return PLEAT_OPTION_EXIT;
        }
        any_option = any_option || option != OPTION_LIST;
        if (take_option(request, option, &err))
            break;
    }
    for (int i = options.first; !err.code && i < argc; i++)
        (void)choose_named(request, argv[i], &err);
    if (!err.code && !check(request, any_option, &err))
        return 0;
    request->exit_code = pleat_usage(&pleat_cmd_experiment, "%s", err.text);
    return PLEAT_OPTION_EXIT;
}

/* ---- the list ---- */

static json_t *about_json(const struct pleat_experiment *experiment)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:b}", "name", experiment->name, "title",
                     experiment->title, "source", experiment->source, "summary",
                     experiment->summary, "seeds", (json_int_t)experiment->seeds, "logs",
                     experiment->logs);
}

static int list_json(void)
{
    json_t *list = json_array();
    for (size_t i = 0; pleat_experiment_at(i); i++)
        json_array_append_new(list, about_json(pleat_experiment_at(i)));
    json_t *json = json_pack("{s:o}", "experiments", list);
    int code = pleat_reply_print(json);
    json_decref(json);
    return code;
}

static int list(void)
{
    static const struct pleat_column columns[] = {{"EXPERIMENT", PLEAT_COLUMN_TEXT},
                                                  {"SEEDS", PLEAT_COLUMN_NUMBER},
                                                  {"WHAT IS RUN", PLEAT_COLUMN_WRAP},
                                                  {"FROM", PLEAT_COLUMN_WRAP}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; pleat_experiment_at(i); i++) {
        const struct pleat_experiment *experiment = pleat_experiment_at(i);
        pleat_table_row(table);
        pleat_table_set(table, 0, experiment->name);
        pleat_table_setf(table, 1, "%zu", experiment->seeds);
        pleat_table_set(table, 2, experiment->summary);
        pleat_table_set(table, 3, experiment->source);
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

/* ---- what came out ---- */

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *shapes_json(const struct pleat_study *study)
{
    json_t *shapes = json_array();
    for (size_t i = 0; i < study->shapes.count; i++) {
        const struct pleat_shape_found *shape = &study->shapes.items[i];
        json_array_append_new(shapes,
                              json_pack("{s:s, s:s, s:s, s:b, s:b, s:s}", "statement",
                                        shape->statement, "where", shape->where, "label",
                                        pleat_label_name(pleat_study_label(shape)), "checked",
                                        pleat_study_asserts(study, shape), "holds", shape->holds,
                                        "measured", shape->measured));
    }
    return shapes;
}

static json_t *study_json(const struct pleat_study *study, const char *path)
{
    json_t *json = about_json(study->experiment), *values = json_object();
    for (size_t i = 0; i < study->values.count; i++) {
        const struct pleat_figure_value *value = &study->values.items[i];
        json_object_set_new(values, value->name,
                            json_pack("{s:o, s:o, s:I}", "mean", real(value->estimate.mean), "half",
                                      real(value->estimate.half), "count",
                                      (json_int_t)value->estimate.count));
    }
    json_object_set_new(json, "seeds", json_integer((json_int_t)study->seeds));
    json_object_set_new(json, "seed", json_integer((json_int_t)study->seed));
    json_object_set_new(json, "quick", json_boolean(study->quick));
    json_object_set_new(json, "page", json_string(path));
    json_object_set_new(json, "holds", json_boolean(pleat_study_holds(study)));
    json_object_set_new(json, "shapes", shapes_json(study));
    json_object_set_new(json, "values", values);
    return json;
}

static int print_study(const struct pleat_study *study, const char *path)
{
    static const struct pleat_column columns[] = {{"LABEL", PLEAT_COLUMN_TEXT},
                                                  {"WHAT THE PAPER STATES", PLEAT_COLUMN_WRAP},
                                                  {"MEASURED", PLEAT_COLUMN_WRAP}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    printf("%s (%s), %zu seed%s%s\n\n", study->experiment->name, study->experiment->source,
           study->seeds, study->seeds == 1 ? "" : "s",
           study->quick ? ", quick: nothing is checked" : "");
    for (size_t i = 0; i < study->shapes.count; i++) {
        const struct pleat_shape_found *shape = &study->shapes.items[i];
        bool asserted = pleat_study_asserts(study, shape);
        pleat_table_row(table);
        pleat_table_set(table, 0, pleat_label_name(pleat_study_label(shape)));
        if (asserted)
            pleat_table_colour(table, 0, shape->holds ? "green" : "red");
        pleat_table_set(table, 1, shape->statement);
        pleat_table_set(table, 2, shape->measured);
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    printf("\nPage and figures: %s\n\n", path);
    return code;
}

/* ---- running ---- */

struct telling {
    struct pleat_progress_bar bar;
    const char *name;
    char what[80];
};

static void tell_progress(void *context, const char *what, size_t done, size_t count)
{
    struct telling *telling = context;
    snprintf(telling->what, sizeof(telling->what), "%s: %s", telling->name, what);
    pleat_progress_draw(&telling->bar, count ? (double)done / (double)count : 0, done, count);
}

static int run_study(const struct request *request, struct pleat_study *study, json_t *results)
{
    struct telling telling = {.name = study->experiment->name};
    struct pleat_error err = {0};
    struct pleat_string path = {0};
    pleat_progress_init(&telling.bar);
    telling.bar.what = telling.what;
    study->progress = tell_progress;
    study->context = &telling;
    int rc = pleat_study_run(study, &err);
    pleat_progress_clear(&telling.bar);
    if (!rc)
        rc = pleat_study_write(study, request->out, &path, &err);
    int code = 0;
    if (rc && pleat_interrupt_signal())
        code = PLEAT_EXIT_SIGNAL + pleat_interrupt_signal();
    else if (rc)
        code = rc == PLEAT_E_INVALID ? pleat_fail_input(&err) : pleat_fail(&err);
    else if (results)
        json_array_append_new(results, study_json(study, path.text));
    else
        code = print_study(study, path.text);
    pleat_string_finish(&path);
    return code;
}

/* Shortens a path to the part that exists, below which directories will be made. */
static void find_existing(struct pleat_string *path)
{
    while (path->length > 0 && access(path->text, F_OK)) {
        char *slash = strrchr(path->text, '/');
        path->length = slash ? (size_t)(slash - path->text) : 0;
        path->text[path->length] = '\0';
    }
}

/* Checks that files can be read and written, before minutes of work. Returns an exit code. */
static int check_files(const struct request *request)
{
    struct pleat_error err = {0};
    for (size_t i = 0; i < request->log_count; i++) {
        if (strcmp(request->logs[i], "-") && access(request->logs[i], R_OK)) {
            (void)pleat_error_set(&err, PLEAT_E_NOTFOUND, "cannot open %s: %s", request->logs[i],
                                  strerror(errno));
            return pleat_fail_input(&err);
        }
    }
    struct pleat_string place = {0};
    struct stat about;
    pleat_string_add(&place, request->out);
    if (!place.failed)
        find_existing(&place);
    const char *path = place.length > 0 ? place.text : *request->out == '/' ? "/" : ".";
    bool fits = !place.failed && !stat(path, &about);
    if (!fits || !S_ISDIR(about.st_mode) || access(path, W_OK | X_OK))
        (void)pleat_error_set(
            &err, PLEAT_E_SYSTEM, "cannot write results to %s: %s: %s", request->out, path,
            fits && !S_ISDIR(about.st_mode) ? strerror(ENOTDIR) : strerror(errno));
    pleat_string_finish(&place);
    return *err.text ? pleat_fail(&err) : 0;
}

/* The number of seeds. A quick run supports no claims, so it needs few. */
static size_t seeds_for(const struct request *request, const struct pleat_experiment *experiment)
{
    bool few = request->quick && experiment->seeds > QUICK_SEEDS;
    return request->seeds ? request->seeds : few ? QUICK_SEEDS : experiment->seeds;
}

/* Runs all experiments. *holds: whether all claims of all of them hold. */
static int run_all(const struct request *request, json_t *results, bool *holds)
{
    int code = 0;
    *holds = true;
    for (size_t i = 0; i < request->count && !code; i++) {
        const struct pleat_experiment *experiment = request->chosen[i];
        struct pleat_study study = {.experiment = experiment,
                                    .seeds = seeds_for(request, experiment),
                                    .seed = request->seed,
                                    .threads = request->threads,
                                    .quick = request->quick,
                                    .logs = request->logs,
                                    .log_count = request->log_count,
                                    .interrupt = pleat_interrupt_flag()};
        code = run_study(request, &study, results);
        if (!pleat_study_holds(&study))
            *holds = false;
        pleat_study_finish(&study);
    }
    return code;
}

static int run_experiment(int argc, char **argv)
{
    struct request request = {.seed = 1, .out = "."};
    bool holds;
    if (read_request(&request, argc, argv) == PLEAT_OPTION_EXIT)
        return request.exit_code;
    if (request.list)
        return pleat_published_print();
    if (request.count == 0)
        return pleat_settings.json ? list_json() : list();
    int code = check_files(&request);
    if (code)
        return code;
    pleat_interrupt_catch();
    json_t *results = pleat_settings.json ? json_array() : NULL;
    code = run_all(&request, results, &holds);
    if (results && !code) {
        json_t *json = json_pack("{s:O, s:b}", "experiments", results, "holds", holds);
        code = pleat_reply_print(json);
        json_decref(json);
    }
    json_decref(results);
    return !code && !holds ? PLEAT_EXIT_FAILED : code;
}

const struct pleat_cli_command pleat_cmd_experiment = {
    .name = "experiment",
    .arguments = "[NAME...|all] [OPTION...]",
    .summary = "Repeats published experiments, and checks what their papers state",
    .help = "Without a name it lists the experiments. With names, or 'all', it simulates "
            "them, writes\n"
            "a page and figures to DIR/NAME/, and says which results of the paper are "
            "found again. It\n"
            "needs gnuplot, and takes minutes.\n"
            "\n"
            "      --seeds N        the number of runs of each setting (default: the "
            "experiment's own;\n"
            "                       with --quick at most 4)\n"
            "      --seed N         the first seed (default: 1)\n"
            "      --threads N      the number of runs simulated at the same time "
            "(default: one for each\n"
            "                       processor)\n"
            "      --out DIR        the directory for pages; it is made if it is missing "
            "(default: the\n"
            "                       current directory)\n"
            "      --quick          few settings, only to see that the experiment works: "
            "nothing is\n"
            "                       checked\n"
            "      --log FILE       a workload in the Standard Workload Format, for "
            "experiments that run\n"
            "                       workload logs; may be repeated\n"
            "      --list           instead: for each figure and table of the papers whether "
            "it is simulated,\n"
            "                       run live, both or neither, with which labels, and by "
            "which command\n"
            "\n"
            "Exit codes: 0 what is expected to be found is; 1 something of that is "
            "not, or the command did\n"
            "not work; 2 usage, or\n"
            "an error in a file; 130 Ctrl-C (of the experiment under way nothing is "
            "written then).\n"
            "\n"
            "Example:\n"
            "  pleat experiment koala-malleable --out results\n",
    .json = true,
    .run = run_experiment,
};
