#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/common/term.h"
#include "cli/completion_options.h"
#include "experiments/list.h"
#include "policy/policy.h"

/* ---- what all shells need ---- */

typedef void (*visitor)(const struct pleat_cli_command *command,
                        const struct pleat_help_options *options);

static void visit(const struct pleat_cli_command *command, visitor visit_one)
{
    struct pleat_help_options options = {0};
    pleat_help_options_read(command, &options);
    visit_one(command, &options);
    pleat_array_finish(&options);
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        visit(command->parts[i], visit_one);
}

static void visit_all(visitor visit_one)
{
    for (size_t i = 0; pleat_command_at(i); i++)
        visit(pleat_command_at(i), visit_one);
}

static const char *last_word(const char *name)
{
    const char *space = strrchr(name, ' ');
    return space ? space + 1 : name;
}

/* Prints a text in single quotes. A quote inside cannot be escaped there, and becomes a blank. */
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        putchar(*text == '\'' ? ' ' : *text);
    putchar('\'');
}

static void print_questions(void)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_policy *policy;
        const char *question = pleat_question_name((enum pleat_question)q);
        for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
            if ((int)policy->question == q)
                printf(" %s=%s", question, policy->name);
    }
}

static void print_experiments(void)
{
    printf("all");
    for (size_t i = 0; pleat_experiment_at(i); i++)
        printf(" %s", pleat_experiment_at(i)->name);
}

static const char *arguments_of(const struct pleat_cli_command *command)
{
    static const char *const names[] = {"files", "jobs", "nothing"};
    if (!strcmp(command->name, "help"))
        return "commands";
    if (!strcmp(command->name, "policies"))
        return "policies";
    if (!strcmp(command->name, "experiment"))
        return "experiments";
    return command->program ? "program" : names[pleat_completes(command)];
}

/* ---- bash, and zsh by its way of using such scripts ---- */

static void bash_command(const struct pleat_cli_command *command,
                         const struct pleat_help_options *options)
{
    printf("    '%s')\n        arguments=%s\n        parts='", command->name,
           arguments_of(command));
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        printf("%s%s", i ? " " : "", last_word(command->parts[i]->name));
    printf("'\n        options='");
    for (size_t i = 0; i < options->count; i++)
        printf("%s%s", i ? " " : "", options->items[i].name);
    printf("'\n        valued=' ");
    for (size_t i = 0; i < options->count; i++)
        if (options->items[i].has_value)
            printf("%s ", options->items[i].name);
    printf("'\n        case $2 in\n");
    for (size_t i = 0; i < options->count; i++) {
        struct pleat_string words = {0};
        if (pleat_help_option_words(command, options->items[i].name, &words))
            printf("        %s) words='%s' ;;\n", options->items[i].name, words.text);
        pleat_string_finish(&words);
    }
    printf("        esac\n        ;;\n");
}

/* The function that bash calls, behind what is known of the commands. */
static const char bash_function[] =
    "\n_pleat()\n{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} command= program= arguments parts options "
    "valued\n"
    "    local words word before= cur i dir=()\n"
    "    COMPREPLY=()\n"
    "    cur=${line##*[[:space:]]} # whole words: '=' does not end one\n"
    "    local -a typed\n"
    "    read -ra typed <<<\"${line%\"$cur\"}\"\n"
    "    _pleat_command ''\n"
    "    for ((i = 1; i < ${#typed[@]}; i++)); do\n"
    "        word=${typed[i]} before=\n"
    "        if [[ $valued == *\" $word \"* ]]; then\n"
    "            before=$word\n"
    "            ((++i < ${#typed[@]})) && before=\n"
    "            [[ $word == --dir ]] && dir=(--dir \"${typed[i]}\")\n"
    "        elif [[ $word == -- && $arguments == program ]]; then\n"
    "            program=1\n"
    "            break\n"
    "        elif [[ $word == -* ]]; then\n"
    "            continue\n"
    "        elif [[ ! $command || \" $parts \" == *\" $word \"* ]]; then\n"
    "            command=${command:+$command }$word\n"
    "            _pleat_command \"$command\"\n"
    "        elif [[ $arguments == program ]]; then\n"
    "            program=1\n"
    "            break\n"
    "        fi\n"
    "    done\n"
    "    if [[ $program ]]; then\n"
    "        return # the program's own words: files\n"
    "    elif [[ $before ]]; then\n"
    "        _pleat_command \"$command\" \"$before\"\n"
    "    elif [[ $cur == --*=* ]]; then\n"
    "        _pleat_command \"$command\" \"${cur%%=*}\"\n"
    "        cur=${cur#*=}\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        words=$options\n"
    "    elif [[ ! $command || $arguments == commands ]]; then\n"
    "        words=$_pleat_commands\n"
    "    elif [[ $parts ]]; then\n"
    "        words=$parts\n"
    "    elif [[ $arguments == jobs ]]; then\n"
    "        words=$(\"${typed[0]}\" \"${dir[@]}\" help --complete-jobs 2>/dev/null | cut "
    "-f1)\n"
    "    elif [[ $arguments == policies ]]; then\n"
    "        words=$_pleat_policies\n"
    "    elif [[ $arguments == experiments ]]; then\n"
    "        words=$_pleat_experiments\n"
    "    elif [[ $arguments == program ]]; then\n"
    "        COMPREPLY=($(compgen -c -- \"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "    if [[ $cur == *=* ]]; then # bash puts in what is behind the '='\n"
    "        COMPREPLY=(\"${COMPREPLY[@]#\"${cur%%=*}=\"}\")\n"
    "    fi\n"
    "}\n\n";

static void print_bash(void)
{
    printf("# Completion of pleat's commands, options, policies and jobs for bash. Generated by\n"
           "# 'pleat help --completion bash'.\n\n"
           "# COMMAND OPTION: sets what is known of them.\n"
           "_pleat_command()\n{\n    arguments=commands parts= options='--dir --no-color --help "
           "--version' valued=' --dir ' words=\n    case $1 in\n");
    visit_all(bash_command);
    printf("    esac\n}\n\n_pleat_commands='");
    for (size_t i = 0; pleat_command_at(i); i++)
        printf("%s%s", i ? " " : "", pleat_command_at(i)->name);
    printf("'\n_pleat_policies='");
    print_questions();
    printf(" '\n_pleat_experiments='");
    print_experiments();
    printf("'\n");
    fputs(bash_function, stdout);
    printf("complete -o default -o bashdefault -F _pleat pleat\n");
}

static void zsh_command(const struct pleat_cli_command *command,
                        const struct pleat_help_options *options)
{
    printf("    '%s')\n        arguments=%s\n        parts=(", command->name,
           arguments_of(command));
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        printf(" %s", last_word(command->parts[i]->name));
    printf(" )\n        options=(");
    for (size_t i = 0; i < options->count; i++) {
        char both[260];
        snprintf(both, sizeof(both), "%s:%s", options->items[i].name, options->items[i].about);
        putchar(' ');
        print_quoted(both);
    }
    printf(" )\n        valued=(");
    for (size_t i = 0; i < options->count; i++)
        if (options->items[i].has_value)
            printf(" %s", options->items[i].name);
    printf(" )\n        case $2 in\n");
    for (size_t i = 0; i < options->count; i++) {
        struct pleat_string words = {0};
        if (pleat_help_option_words(command, options->items[i].name, &words))
            printf("        (%s) values=(%s) ;;\n", options->items[i].name, words.text);
        pleat_string_finish(&words);
    }
    printf("        esac\n        ;;\n");
}

/* The rest of the function that zsh calls, behind what is known of the commands. */
static const char zsh_function[] =
    "    _pleat_command ''\n"
    "    for ((i = 2; i < CURRENT; i++)); do\n"
    "        word=$words[i] before=''\n"
    "        if (( ${valued[(Ie)$word]} )); then\n"
    "            before=$word\n"
    "            (( ++i < CURRENT )) && before=''\n"
    "            [[ $word == --dir ]] && dir=(--dir $words[i])\n"
    "        elif [[ $word == -- && $arguments == program ]]; then\n"
    "            program=1; break\n"
    "        elif [[ $word == -* ]]; then\n"
    "            continue\n"
    "        elif [[ -z $command ]] || (( ${parts[(Ie)$word]} )); then\n"
    "            command=${command:+$command }$word\n"
    "            _pleat_command $command\n"
    "        elif [[ $arguments == program ]]; then\n"
    "            program=1; break\n"
    "        fi\n"
    "    done\n"
    "    if [[ -n $program ]]; then\n"
    "        _files\n"
    "    elif [[ -n $before ]]; then\n"
    "        _pleat_command \"$command\" $before\n"
    "        (( $#values )) && compadd -a values || _files\n"
    "    elif [[ $words[CURRENT] == -* ]]; then\n"
    "        _describe -o option options\n"
    "    elif [[ -z $command || $arguments == commands ]]; then\n"
    "        _describe command commands\n"
    "    elif (( $#parts )); then\n"
    "        compadd -a parts\n"
    "    elif [[ $arguments == jobs ]]; then\n"
    "        jobs=(${${(f)\"$($words[1] $dir help --complete-jobs 2>/dev/null)\"}/$'\\t'/:})\n"
    "        _describe job jobs\n"
    "    elif [[ $arguments == policies ]]; then\n"
    "        compadd -a policies\n"
    "    elif [[ $arguments == experiments ]]; then\n"
    "        compadd -a experiments\n"
    "    elif [[ $arguments == program ]]; then\n"
    "        _command_names -e || _files\n"
    "    else\n"
    "        _files\n"
    "    fi\n"
    "}\n\n_pleat \"$@\"\n";

static void print_zsh(void)
{
    printf("#compdef pleat\n# Generated by 'pleat help --completion zsh'.\n\n"
           "_pleat_command() {\n    arguments=commands parts=() options=('--dir:use the instance "
           "in DIR' '--no-color:no colour' '--help:print help' '--version:print the version') "
           "valued=(--dir) values=()\n    case $1 in\n");
    visit_all(zsh_command);
    printf(
        "    esac\n}\n\n_pleat() {\n    local -a commands policies experiments parts options "
        "valued values "
        "jobs "
        "dir\n    local command='' arguments='' before='' word='' program=''\n    integer i\n    "
        "commands=(");
    for (size_t i = 0; pleat_command_at(i); i++) {
        char both[130];
        snprintf(both, sizeof(both), "%s:%s", pleat_command_at(i)->name,
                 pleat_command_at(i)->summary);
        putchar(' ');
        print_quoted(both);
    }
    printf(" )\n    policies=(");
    print_questions();
    printf(" )\n    experiments=(");
    print_experiments();
    printf(")\n");
    fputs(zsh_function, stdout);
}

/* ---- fish ---- */

static void fish_command(const struct pleat_cli_command *command,
                         const struct pleat_help_options *options)
{
    char when[120];
    snprintf(when, sizeof(when), "-n '__pleat_in %s'", command->name);
    for (size_t i = 0; command->parts && command->parts[i]; i++) {
        printf("complete -c pleat %s -f -a %s -d ", when, last_word(command->parts[i]->name));
        print_quoted(command->parts[i]->summary);
        putchar('\n');
    }
    for (size_t i = 0; i < options->count; i++) {
        struct pleat_string words = {0};
        const struct pleat_help_option *option = &options->items[i];
        bool is_long = !strncmp(option->name, "--", 2);
        printf("complete -c pleat %s -%c %s%s", when, is_long ? 'l' : 's',
               option->name + (is_long ? 2 : 1), option->has_value ? " -r" : "");
        if (pleat_help_option_words(command, option->name, &words))
            printf(" -f -a '%s'", words.text);
        printf(" -d ");
        print_quoted(option->about);
        putchar('\n');
        pleat_string_finish(&words);
    }
    if (!strcmp(arguments_of(command), "jobs"))
        printf("complete -c pleat %s -f -a '(__pleat_jobs)'\n", when);
    if (!strcmp(arguments_of(command), "policies")) {
        printf("complete -c pleat %s -f -a '", when);
        print_questions();
        printf("'\n");
    }
    if (!strcmp(arguments_of(command), "experiments")) {
        printf("complete -c pleat %s -f -a '", when);
        print_experiments();
        printf("'\n");
    }
}

static void print_fish(void)
{
    fputs("# Generated by 'pleat help --completion fish'.\n\n"
          "# Are the command and its subcommands, without options, exactly these words?\n"
          "function __pleat_in\n"
          "    set -l words (string match -v -r '^-' -- (commandline -opc))\n"
          "    test (count $words) -gt (count $argv); or return 1\n"
          "    for i in (seq (count $argv))\n"
          "        test \"$words[(math $i + 1)]\" = \"$argv[$i]\"; or return 1\n"
          "    end\n"
          "end\n\n"
          "function __pleat_jobs\n"
          "    pleat help --complete-jobs 2>/dev/null\n"
          "end\n\n",
          stdout);
    for (size_t i = 0; pleat_command_at(i); i++) {
        printf("complete -c pleat -n __fish_use_subcommand -f -a %s -d ",
               pleat_command_at(i)->name);
        print_quoted(pleat_command_at(i)->summary);
        putchar('\n');
    }
    visit_all(fish_command);
}

int pleat_completion_print(const char *shell, struct pleat_error *err)
{
    if (!strcmp(shell, "bash"))
        print_bash();
    else if (!strcmp(shell, "zsh"))
        print_zsh();
    else if (!strcmp(shell, "fish"))
        print_fish();
    else
        return pleat_error_set(err, PLEAT_E_INVALID, "no completion for '%s': bash, zsh, fish",
                               shell);
    return 0;
}

void pleat_completion_jobs(void)
{
    struct pleat_paths paths;
    struct pleat_client *client = NULL;
    struct pleat_error ignored;
    struct pleat_term term;
    json_t *jobs = NULL, *job;
    size_t i;
    if (pleat_paths_init(&paths, &ignored) || pleat_client_open(&paths, &client, &ignored))
        return;
    pleat_term_init(&term);
    if (!pleat_daemon_jobs(client, PLEAT_JOBS_BRIEF, &jobs)) {
        json_array_foreach(jobs, i, job)
        {
            struct pleat_string name = {0};
            pleat_term_add(&term, &name, pleat_reply_text(job, "name", ""), 40);
            printf("%lld\t%s (%s)\n", (long long)pleat_reply_int(job, "job", 0),
                   name.text ? name.text : "", pleat_reply_text(job, "state", "?"));
            pleat_string_finish(&name);
        }
        json_decref(jobs);
    }
    pleat_client_close(client);
}
