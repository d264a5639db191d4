/* launch_words.c - prints, each ending with NUL, the words of the command that pleat_launch_compose
 * gives for a program and this process's environment, an empty word, and its environment.
 *
 *   launch-words PROCESSES PROGRAM [ARGUMENT...]      PROGRAM: a path; its MPI is detected
 *   launch-words openmpi|mpich:PROCESSES PROGRAM ...  as if it had been
 *
 * LAUNCH_SCRATCH, LAUNCH_PRELOAD and LAUNCH_NODES ("HOST:SLOTS,...") in the environment are what
 * else is asked of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/detect.h"
#include "launch/library.h"
#include "launch/pmi.h"

static int fail(const struct pleat_error *err)
{
    fprintf(stderr, "launch-words: %s\n", err->text);
    return 1;
}

/* Of "HOST:SLOTS,HOST:SLOTS"; the text is cut into pieces. */
static size_t read_nodes(char *text, struct pleat_launch_node *nodes, size_t room)
{
    size_t count = 0;
    char *rest;
    for (char *one = text ? strtok_r(text, ",", &rest) : NULL; one && count < room;
         one = strtok_r(NULL, ",", &rest)) {
        char *colon = strchr(one, ':');
        if (colon)
            *colon = '\0';
        nodes[count++] = (struct pleat_launch_node){one, colon ? (uint32_t)atoi(colon + 1) : 1};
    }
    return count;
}

int main(int argc, char **argv)
{
    struct pleat_error err;
    struct pleat_launch_detected detected = {PLEAT_MPI_NONE, false};
    struct pleat_launch_command command;
    struct pleat_launch_node nodes[8];
    char pmi[4096], loopback[4096];
    if (argc < 3)
        return 2;
    char *colon = strchr(argv[1], ':');
    if (colon) {
        *colon = '\0';
        if (pleat_mpi_parse(argv[1], &detected.mpi, &err))
            return fail(&err);
    } else if (pleat_launch_detect(argv[2], &detected, &err)) {
        return fail(&err);
    }
    if (pleat_launch_pmi(pmi, sizeof(pmi), &err) ||
        pleat_launch_loopback(loopback, sizeof(loopback), &err))
        return fail(&err);
    struct pleat_launch_request request = {
        .mpi = detected.mpi,
        .processes = (uint32_t)atoi(colon ? colon + 1 : argv[1]),
        .argv = (const char *const *)(argv + 2),
        .env = (const char *const *)environ,
        .nodes = nodes,
        .node_count = read_nodes(getenv("LAUNCH_NODES"), nodes, sizeof(nodes) / sizeof(*nodes)),
        .preload = getenv("LAUNCH_PRELOAD"),
        .pmi = pmi,
        .loopback = loopback,
        .scratch = getenv("LAUNCH_SCRATCH"),
        .is_root = geteuid() == 0,
        .oversubscribed = true};
    if (pleat_launch_compose(&request, &command, &err))
        return fail(&err);
    for (size_t i = 0; i < command.argc; i++)
        fwrite(command.argv[i], 1, strlen(command.argv[i]) + 1, stdout);
    fputc('\0', stdout);
    for (size_t i = 0; i < command.env_count; i++)
        fwrite(command.env[i], 1, strlen(command.env[i]) + 1, stdout);
    pleat_launch_command_finish(&command);
    return 0;
}
