/* agreement.h - a resize, or a checkpoint, of a run over several nodes, on the agent that leads it:
 * when the ranks of all nodes change (shm/mailbox.h).
 *
 * Each step is an order to the agents of the other nodes, through pleatd, which they answer
 * (remote.h). An order that is not answered is sent again; agents carry each out once.
 *
 *   stage      the ranks                                ends by
 *   NONE       know of nothing                          the resize is posted everywhere: ASKED
 *   ASKED      sleep where they come to what they have  all nodes hold it: SETTLING, at the latest
 * K; agreed on, node by node                  one cannot, or does not answer: NONE SETTLING   go on
 * until K                            all nodes know K: SETTLED SETTLED    go on until K, and enter
 * they enter; or it is unwanted: HOLDING HOLDING    sleep where they come to K all nodes
 * hold it: BACK; ranks of one are inside already: SETTLING, for good BACK       sleep where they
 * come to K               withdrawn: NONE
 *
 * In GOING new processes have taken over: ranks on other nodes wait until their agents know it.
 */
#ifndef PLEAT_AGENT_AGREEMENT_H
#define PLEAT_AGENT_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct pleat_malleable;
struct pleat_mailbox_status;

enum pleat_agreement_stage {
    PLEAT_AGREEMENT_NONE,
    PLEAT_AGREEMENT_ASKED,
    PLEAT_AGREEMENT_SETTLING,
    PLEAT_AGREEMENT_SETTLED,
    PLEAT_AGREEMENT_HOLDING,
    PLEAT_AGREEMENT_BACK,
    PLEAT_AGREEMENT_GOING
};

struct pleat_agreement {
    enum pleat_agreement_stage stage;
    uint32_t order;   /* number of the last one */
    uint64_t k;       /* from SETTLING on; in GOING the generation of the state */
    bool checkpoint;  /* malleable->wish is posted, else malleable->request */
    bool for_good;    /* ranks are inside: the request cannot be withdrawn any more */
    int64_t since_us; /* of the last order (monotonic), */
    int64_t sent_us;  /* and when it was sent last */
    int64_t pause_us; /* the request is not posted again before that */
};

/* Posts the outstanding resize, of a run on one node or on several. PLEAT_E_BUSY: not now, it is to
 * be tried again. */
int pleat_agreement_post(struct pleat_malleable *malleable,
                         const struct pleat_mailbox_status *status);
/* Posts the wanted checkpoint likewise. */
int pleat_agreement_post_checkpoint(struct pleat_malleable *malleable);
/* Withdraws the posted request. PLEAT_E_STATE: that is not possible, or takes a while: to be called
 * again. */
int pleat_agreement_withdraw(struct pleat_malleable *malleable);
/* Goes on with the posted request, as agents have answered. False: it is not posted any more, and
 * is to be posted again. */
bool pleat_agreement_look(struct pleat_malleable *malleable,
                          const struct pleat_mailbox_status *status);
/* New processes on all nodes have waited, and are the run's: those on other nodes are to go on from
 * the state of that generation, too. */
void pleat_agreement_go(struct pleat_malleable *malleable, uint64_t generation);
/* Whether an agent has not answered the last order yet, which may be one to let go. */
bool pleat_agreement_waits(const struct pleat_malleable *malleable);
/* To be called from time to time while pleat_agreement_waits: sends the order again to the agents
 * that have not answered. */
void pleat_agreement_tend(struct pleat_malleable *malleable);

#endif
