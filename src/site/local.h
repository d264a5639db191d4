/* local.h - options of sites of the kind local: this machine. */
#ifndef PLEAT_SITE_LOCAL_H
#define PLEAT_SITE_LOCAL_H

#include "site/option.h"

enum pleat_local_background {
    PLEAT_LOCAL_AUTO, /* measured unless the site is oversubscribed */
    PLEAT_LOCAL_MEASURE,
    PLEAT_LOCAL_IGNORE
};

/* How its agents reach pleatd. */
enum pleat_local_agents {
    PLEAT_LOCAL_SOCKET, /* by pleatd's unix socket */
    PLEAT_LOCAL_TCP     /* as those of other machines would */
};

/* One of zero bytes is as usual. */
struct pleat_local_options {
    int64_t nodes;  /* into which the machine is divided; 0: one */
    int background; /* enum pleat_local_background */
    int agents;     /* enum pleat_local_agents */
    char *cpus;     /* "auto", or a list: the CPUs of the slots, in their order; NULL: "auto" */
    int64_t claim_delay_us; /* artificial: from a claim to its answer; 0: none */
    const char *root;       /* of tests: where proc/ is; NULL: the real one */
};

/* The rows of these options. */
extern const struct pleat_site_option pleat_local_option_rows[];

/* The number of CPUs that options name; 0: they name none. */
int32_t pleat_local_options_cpus(const struct pleat_local_options *options);

#endif
