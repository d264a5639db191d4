#include "cli/completion_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/event_text.h"
#include "cli/history.h"
#include "policy/policy.h"

/* An argument in a help text: "N", "WHEN", "NAME=VALUE". */
static bool is_argument(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isupper((unsigned char)word[i]) && !strchr(":=|,", word[i]))
            return false;
    return length > 0;
}

static void add_option(struct pleat_help_options *options, const char *name, size_t length)
{
    struct pleat_help_option option = {{0}, {0}, false};
    if (length < 2 || length >= sizeof(option.name))
        return;
    memcpy(option.name, name, length);
    for (size_t i = 0; i < options->count; i++)
        if (!strcmp(options->items[i].name, option.name))
            return; /* mentioned again */
    (void)!pleat_array_push(options, option);
}

/* A line "  -n, --processors N  exactly N": its options from number `first` on. */
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
            for (; bare < options->count; bare++) /* -n, --processors N: both have it */
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
    size_t about = at < length ? length - at : 0;
    for (size_t i = first; i < options->count; i++)
        snprintf(options->items[i].about, sizeof(options->items[i].about), "%.*s",
                 (int)(about < 79 ? about : 79), line + at);
}

static void read_text(const char *text, struct pleat_help_options *options)
{
    while (*text) {
        size_t length = strcspn(text, "\n"), blanks = strspn(text, " ");
        if (blanks >= 2 && blanks < length && text[blanks] == '-')
            read_line(text + blanks, length - blanks, options);
        text += length + (text[length] == '\n');
    }
}

void pleat_help_options_read(const struct pleat_command *command,
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

enum pleat_completes pleat_completes(const struct pleat_command *command)
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

bool pleat_help_option_words(const struct pleat_command *command, const char *option,
                             struct pleat_string *words)
{
    static const struct {
        const char *command, *option, *words;
    } known[] = {
        {NULL, "--runner", "auto plain mpi malleable folded"},
        {NULL, "--class", "short long"},
        {NULL, "--mpi", "auto openmpi mpich none"},
        {NULL, "--estimates", "given exact"},
        {NULL, "--zero-run-times", "skip keep"},
        {"top", "--sort", "queue job processors time name"},
        {"cancel", "--state", "waiting held running"},
        {"hold", "--state", "waiting"},
        {"release", "--state", "held"},
        {"requeue", "--state", "running"},
        {"set", "--dependency", "none"},
        {"limits", "--dependency", "none"},
        {"history", "--by", "job size resize name day"},
        {"workload generate utrera", "--kind", "malleable moldable rigid"},
        {"workload generate lublin", "--class", "batch interactive both together"},
    };
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
