#include "cli/completion_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/jobs/event_text.h"
#include "cli/jobs/history.h"
#include "model/runner_kind.h"
#include "policy/policy.h"

/* Whether a word of a help text is an argument: "N", "WHEN", "NAME=VALUE". */
static bool is_argument(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isupper((unsigned char)word[i]) && !strchr(":=|,", word[i]))
            return false;
    return length > 0;
}

/* Adds to the description of an option. Words for which there is no room are left out. */
static void add_about(struct pleat_help_option *option, const char *text, size_t length)
{
    size_t filled = strlen(option->about), room = sizeof(option->about) - 1 - filled;
    const char *cut = "...";
    if (filled >= strlen(cut) && !strcmp(option->about + filled - strlen(cut), cut))
        return; /* there is no room left */
    if (length + 1 <= room - strlen(cut)) {
        snprintf(option->about + filled, room + 1, "%s%.*s", filled ? " " : "", (int)length, text);
        return;
    }
    while (length > 0 && (length + 1 > room - strlen(cut) || text[length] != ' '))
        length--;
    snprintf(option->about + filled, room + 1, "%s%.*s%s", filled && length ? " " : "", (int)length,
             text, cut);
}

static void add_option(struct pleat_help_options *options, const char *name, size_t length)
{
    struct pleat_help_option option = {{0}, {0}, false};
    if (length < 2 || length >= sizeof(option.name))
        return;
    memcpy(option.name, name, length);
    for (size_t i = 0; i < options->count; i++)
        if (!strcmp(options->items[i].name, option.name))
            return; /* the option is in the list already */
    (void)!pleat_array_push(options, option);
}

enum { CONTINUED = 12 }; /* blanks at the beginning of a line that continues the one above */

/* Reads a line "  -n, --processors N  exactly N". Its options are numbered from `first` on. */
static void read_line(const char *line, size_t length, struct pleat_help_options *options)
{
    size_t first = options->count, bare = first, at = 0;
    while (at < length) {
        size_t word = strcspn(line + at, " \n");
        size_t name = word;
        if (word > 0 && line[at + word - 1] == ',')
            name--;
        if (line[at] == '-' && name > 1) {
            add_option(options, line + at, name);
        } else if (is_argument(line + at, word)) {
            /* "-n, --processors N": both names take the argument */
            for (; bare < options->count; bare++)
                options->items[bare].has_value = true;
        } else {
            break;
        }
        at += word;
        size_t blanks = strspn(line + at, " ");
        bool over = blanks > 1 || line[at] == '\n';
        at += blanks;
        if (over)
            break;
    }
    for (size_t i = first; at < length && i < options->count; i++)
        add_about(&options->items[i], line + at, length - at);
}

static void read_text(const char *text, struct pleat_help_options *options)
{
    size_t first = options->count; /* first option of the line above */
    while (*text) {
        size_t length = strcspn(text, "\n"), blanks = strspn(text, " ");
        bool goes_on = blanks >= CONTINUED && blanks < length;
        if (blanks >= 2 && blanks < length && text[blanks] == '-' && !goes_on) {
            first = options->count;
            read_line(text + blanks, length - blanks, options);
        } else if (goes_on) {
            for (size_t i = first; i < options->count; i++)
                add_about(&options->items[i], text + blanks, length - blanks);
        } else {
            first = options->count;
        }
        text += length + (text[length] == '\n');
    }
}

void pleat_help_options_read(const struct pleat_cli_command *command,
                             struct pleat_help_options *options)
{
    read_text(command->help, options);
    read_text("  --dir DIR  use the instance of Pleat that lives in DIR\n"
              "  --no-color  no colour\n"
              "  -h, --help  print help\n",
              options);
    if (command->json)
        read_text("  --json  print JSON\n", options);
}

enum pleat_completes pleat_completes(const struct pleat_cli_command *command)
{
    if (strstr(command->arguments, "JOB"))
        return PLEAT_COMPLETES_JOBS;
    if (command->program || strstr(command->arguments, "FILE") || strstr(command->arguments, "OUT"))
        return PLEAT_COMPLETES_FILES;
    return PLEAT_COMPLETES_NOTHING;
}

static bool add_policies(const char *question, struct pleat_string *words)
{
    const struct pleat_policy *policy;
    bool any = false;
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++) {
        if (strcmp(pleat_question_name(policy->question), question) != 0)
            continue;
        pleat_string_addf(words, "%s%s", any ? " " : "", policy->name);
        any = true;
    }
    return any;
}

static bool add_list(const char *const *list, struct pleat_string *words)
{
    for (size_t i = 0; list[i]; i++)
        pleat_string_addf(words, "%s%s", i ? " " : "", list[i]);
    return true;
}

bool pleat_help_option_words(const struct pleat_cli_command *command, const char *option,
                             struct pleat_string *words)
{
    static const struct {
        const char *command, *option, *words;
    } known[] = {
        {NULL, "--runner", pleat_runner_words},
        {NULL, "--class", "short long"},
        {NULL, "--mpi", "auto openmpi mpich none"},
        {NULL, "--estimates", "given exact popular"},
        {NULL, "--zero-run-times", "skip keep"},
        {"top", "--sort", "queue job processors time name"},
        {"cancel", "--state", "waiting held running"},
        {"hold", "--state", "waiting"},
        {"release", "--state", "held"},
        {"requeue", "--state", "running"},
        {"set", "--dependency", "none"},
        {"limits", "--dependency", "none"},
        {"history", "--by", "job size resize name day"},
        {"sim", "--sizes", "any powers squares grids multiples: table"},
        {"workload convert", "--sizes", "any powers squares grids multiples: table"},
        {NULL, "--sizes", "any powers squares grids multiples:"},
        {"workload generate utrera", "--kind", "malleable moldable rigid folding"},
        {"workload generate lublin", "--class", "batch interactive both together"},
    };
    /* --queue of sim takes policies of both kinds */
    if (!strcmp(command->name, "sim") && !strcmp(option, "--queue")) {
        (void)add_policies("queue", words);
        pleat_string_add(words, " ");
        return add_policies("order", words);
    }
    if (!strcmp(command->name, "events") && !strcmp(option, "--kind"))
        return add_list(pleat_event_kinds, words);
    if (!strcmp(command->name, "history") && !strcmp(option, "--state"))
        return add_list(pleat_history_states, words);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].option, option) != 0 ||
            (known[i].command && strcmp(known[i].command, command->name) != 0))
            continue;
        pleat_string_add(words, known[i].words);
        return true;
    }
    return !strncmp(option, "--", 2) && add_policies(option + 2, words);
}
