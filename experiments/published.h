/* published.h - every figure and table of the papers: where it is done again, and what came out.
 *
 * The labels are those of the pages in docs/experiments, as those were made last; a test compares
 * them (tests/system/cli/test_cli_experiment.py). */
#ifndef PLEAT_EXPERIMENTS_PUBLISHED_H
#define PLEAT_EXPERIMENTS_PUBLISHED_H

#include <stddef.h>

/* A page on which a figure or table is done again. */
struct pleat_published_page {
    const char *page; /* a folder of docs/experiments; NULL: there is none */
    /* the number of statements about it with each label: "2 claimed, 1 not found"; of a live page:
     * "3 yes, 1 no, 2 unclear". "": it is shown, without a statement about it */
    const char *labels;
};

enum { PLEAT_PUBLISHED_LIVE = 2 }; /* pages at most */

struct pleat_published {
    const char *paper; /* "Buisson et al. 2007" */
    const char *what;  /* "figure 7a"; several of a kind: "figures 1 to 3" */
    struct pleat_published_page simulated;
    struct pleat_published_page live[PLEAT_PUBLISHED_LIVE]; /* run with real programs */
    const char *note; /* where it is not done again: what the figure or table shows; else NULL */
};

/* The i-th, in the order of the papers; NULL: after the last. */
const struct pleat_published *pleat_published_at(size_t i);
/* "simulated", "live", "both", "neither". */
const char *pleat_published_how(const struct pleat_published *published);
/* The command that makes a page of live runs, in the source tree; NULL: it is not one. */
const char *pleat_published_command(const char *live_page);

#endif
