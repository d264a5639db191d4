/* The kind slurm: nodes of a Slurm cluster. */
#include <string.h>

#include "site/batch_kind.h"

enum whole { CORES, NODES };
enum by { BY_AUTO, BY_COMMANDS };
enum keys { KEYS_AUTO, KEYS_CLEAR };
enum give_back { GIVE_ALLOCATIONS, GIVE_NODES };

struct slurm_options {
    struct pleat_batch_options common;
    char *conf; /* path of slurm.conf; "auto": where Slurm has it */
    char *partition, *account, *qos, *constraint, *reservation; /* "auto": not said */
    int whole, by, keys, give_back; /* enum whole, by, keys, give_back */
};

static const struct pleat_site_option rows[] = {
    {.name = "conf",
     .type = PLEAT_OPTION_TEXT,
     .offset = offsetof(struct slurm_options, conf),
     .usual = "auto",
     .check = pleat_batch_check_path,
     .help = "the cluster's slurm.conf"},
    PLEAT_BATCH_WORD(struct slurm_options, partition, "the partition that is asked"),
    PLEAT_BATCH_WORD(struct slurm_options, account, "the account that is charged"),
    PLEAT_BATCH_WORD(struct slurm_options, qos, "the quality of service"),
    PLEAT_BATCH_WORD(struct slurm_options, constraint, "which features nodes must have"),
    PLEAT_BATCH_WORD(struct slurm_options, reservation, "the reservation whose nodes are used"),
    {.name = "whole",
     .type = PLEAT_OPTION_CHOICE,
     .offset = offsetof(struct slurm_options, whole),
     .usual = "cores",
     .choices = "cores nodes", /* in the order of enum whole */
     .help = "whether whole nodes are asked for"},
    {.name = "by",
     .type = PLEAT_OPTION_CHOICE,
     .offset = offsetof(struct slurm_options, by),
     .usual = "auto",
     .choices = "auto commands", /* in the order of enum by */
     .help = "how Slurm is asked"},
    {.name = "keys",
     .type = PLEAT_OPTION_CHOICE,
     .offset = offsetof(struct slurm_options, keys),
     .usual = "auto",
     .choices = "auto clear", /* in the order of enum keys */
     .help = "how agents' keys are sent over Slurm's network"},
    {.name = "give_back",
     .type = PLEAT_OPTION_CHOICE,
     .offset = offsetof(struct slurm_options, give_back),
     .usual = "allocations",
     .choices = "allocations nodes", /* in the order of enum give_back */
     .help = "what is given back when it is unused"},
    PLEAT_BATCH_ROWS,
    {0}};

static void words(const void *own, const char **argv, int *count)
{
    const struct slurm_options *options = own;
    if (strcmp(options->conf, "auto") != 0) {
        argv[(*count)++] = "--conf";
        argv[(*count)++] = options->conf;
    }
    if (options->by == BY_COMMANDS)
        argv[(*count)++] = "--commands";
    if (options->keys == KEYS_CLEAR)
        argv[(*count)++] = "--no-munge";
}

static void wish(const void *own, json_t *params)
{
    const struct slurm_options *options = own;
    pleat_batch_set_text(params, "partition", options->partition);
    pleat_batch_set_text(params, "account", options->account);
    pleat_batch_set_text(params, "qos", options->qos);
    pleat_batch_set_text(params, "constraint", options->constraint);
    pleat_batch_set_text(params, "reservation", options->reservation);
    if (options->whole == NODES)
        json_object_set_new(params, "exclusive", json_true());
}

static const char *part(const void *own)
{
    const struct slurm_options *options = own;
    return strcmp(options->partition, "auto") != 0 ? options->partition : NULL;
}

static const char *kept(const void *own)
{
    const struct slurm_options *options = own;
    return strcmp(options->reservation, "auto") != 0 ? options->reservation : NULL;
}

static bool gives_nodes(const void *own)
{
    const struct slurm_options *options = own;
    return options->give_back == GIVE_NODES;
}

static const struct pleat_batch_wait waits[] = {{"Resources", PLEAT_WAIT_RESOURCES},
                                                {"Licenses", PLEAT_WAIT_RESOURCES},
                                                {"Priority", PLEAT_WAIT_TURN},
                                                {"Held", PLEAT_WAIT_HELD},
                                                {"BeginTime", PLEAT_WAIT_HELD},
                                                {"Dependency", PLEAT_WAIT_HELD},
                                                {"Assoc", PLEAT_WAIT_LIMIT},
                                                {"QOS", PLEAT_WAIT_LIMIT},
                                                {"Limit", PLEAT_WAIT_LIMIT},
                                                {"NodeDown", PLEAT_WAIT_DOWN},
                                                {"NotAvail", PLEAT_WAIT_DOWN},
                                                {"PartitionDown", PLEAT_WAIT_DOWN},
                                                {"PartitionInactive", PLEAT_WAIT_DOWN},
                                                {"Reservation", PLEAT_WAIT_DOWN},
                                                {0}};

static const struct pleat_batch_kind slurm = {.ops = &pleat_site_slurm,
                                              .title = "Slurm",
                                              .program = "pleat-slurm",
                                              .role = "slurm",
                                              .spreads = true,
                                              .waits = waits,
                                              .words = words,
                                              .wish = wish,
                                              .gives_nodes = gives_nodes,
                                              .part = part,
                                              .kept = kept};

static int slurm_open(const struct pleat_site_options *options, const struct pleat_host *host,
                      struct pleat_site_instance **out, struct pleat_error *err)
{
    return pleat_batch_open(&slurm, options, host, out, err);
}

const struct pleat_site_ops pleat_site_slurm = {.name = "slurm",
                                                .options = rows,
                                                .own_size = sizeof(struct slurm_options),
                                                .open = slurm_open,
                                                PLEAT_BATCH_OPERATIONS};
