/* own.c - policies of the program that uses the library.
 *
 * Policies have no argument of their own, and are the same for all simulations. So each thread
 * knows which simulation it runs: that is whose program is asked. Apart from that these are
 * policies like others; what they decide is checked by the core. */
#include "policy/pass.h"
#include "simlib/simulation.h"

static _Thread_local struct pleat_simulation *current;

struct pleat_simulation *own_policies_of(struct pleat_simulation *simulation)
{
    struct pleat_simulation *before = current;
    current = simulation;
    return before;
}

/* Asks the program; *left (may be NULL): of the processors that it is asked for. Once it has ended
 * the run it is not asked any more. */
static int64_t ask(enum pleat_question which, const struct question *question, int32_t *left)
{
    const struct own_policy *own = &current->own[which];
    struct question before = current->question; /* one question may lead to another one */
    int64_t component = question->waiter != PLEAT_NONE ? (int64_t)question->waiter : -1;
    current->question = *question;
    int64_t answer = current->ended ? -1
                                    : own->answer(own->context, question->asked, component,
                                                  question->site, question->left);
    if (left)
        *left = current->question.left;
    current->question = before;
    return answer;
}

static int32_t own_grow(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    const struct question question = {.asked = PLEAT_ASKED_GROW,
                                      .pass = pass,
                                      .site = site,
                                      .waiter = PLEAT_NONE,
                                      .left = processors};
    int32_t left;
    (void)ask(PLEAT_MALLEABILITY, &question, &left);
    return left;
}

static int32_t own_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                          uint32_t waiter)
{
    const struct question question = {.asked = PLEAT_ASKED_SHRINK,
                                      .pass = pass,
                                      .site = site,
                                      .waiter = waiter,
                                      .left = processors};
    int32_t left;
    (void)ask(PLEAT_MALLEABILITY, &question, &left);
    return left;
}

/* Does a component of that number stand in the queue, and does no decision of this pass start it?
 */
static bool waits(const struct pleat_pass *pass, int64_t component)
{
    if (component < 0 || component >= (int64_t)pass->view->component_count)
        return false;
    const struct pleat_component *of = &pass->view->components[component];
    return of->state == PLEAT_QUEUED && of->aside == PLEAT_ASIDE_NOT &&
           !pleat_plan_starts(pass->plan, (uint32_t)component);
}

static uint32_t own_start(struct pleat_pass *pass)
{
    const struct question question = {
        .asked = PLEAT_ASKED_START, .pass = pass, .site = PLEAT_NONE, .waiter = PLEAT_NONE};
    int64_t waiter = ask(PLEAT_QUEUE, &question, NULL);
    if (!waits(pass, waiter))
        return PLEAT_NONE;
    pleat_plan_tried(pass->plan, (uint32_t)waiter);
    return (uint32_t)waiter;
}

static int64_t own_key(const struct pleat_component *component)
{
    const struct question question = {
        .asked = PLEAT_ASKED_KEY, .arrived = component, .site = PLEAT_NONE, .waiter = PLEAT_NONE};
    return ask(PLEAT_ORDER, &question, NULL);
}

enum { OWN_NUMBER = INT32_MAX }; /* in no list, and in no log */

static const struct pleat_policy own_malleability = {.number = OWN_NUMBER,
                                                     .version = 1,
                                                     .question = PLEAT_MALLEABILITY,
                                                     .name = "own",
                                                     .source = "the program that simulates",
                                                     .summary = "as the program says",
                                                     .shrinks = true,
                                                     .grow = own_grow,
                                                     .shrink = own_shrink};
static const struct pleat_policy own_queue = {.number = OWN_NUMBER,
                                              .version = 1,
                                              .question = PLEAT_QUEUE,
                                              .name = "own",
                                              .source = "the program that simulates",
                                              .summary = "as the program says",
                                              .needs = PLEAT_NEEDS_ENDS,
                                              .start = own_start};
static const struct pleat_policy own_order = {.number = OWN_NUMBER,
                                              .version = 1,
                                              .question = PLEAT_ORDER,
                                              .name = "own",
                                              .source = "the program that simulates",
                                              .summary = "as the program says",
                                              .key = own_key};

const struct pleat_policy *own_policy_of(enum pleat_question question)
{
    return question == PLEAT_MALLEABILITY ? &own_malleability
           : question == PLEAT_QUEUE      ? &own_queue
           : question == PLEAT_ORDER      ? &own_order
                                          : NULL;
}

void pleat_simulation_fail(struct pleat_simulation *simulation, const char *text)
{
    if (simulation->ended)
        return;
    simulation->ended = true;
    pleat_error_set(&simulation->why, PLEAT_E_CLOSED, "%s", text);
}

/* ---- deciding ---- */

/* Is the program asked that now, and is the component a running malleable one at the site that the
 * question is about? */
static bool is_offered(const struct question *question, int asked, int64_t component)
{
    if (question->asked != asked || component < 0 ||
        component >= (int64_t)question->pass->view->component_count)
        return false;
    const struct pleat_component *of = &question->pass->view->components[component];
    return of->state == PLEAT_RUNNING && of->kind == PLEAT_MALLEABLE && of->site == question->site;
}

int64_t pleat_simulation_offer_grow(struct pleat_simulation *simulation, int64_t component,
                                    int64_t processors)
{
    struct question *question = &simulation->question;
    int32_t offered = processors < question->left ? (int32_t)processors : question->left;
    if (offered <= 0 || !is_offered(question, PLEAT_ASKED_GROW, component))
        return 0;
    int32_t taken = pleat_plan_offer_grow(question->pass->plan, (uint32_t)component, offered);
    question->left -= taken;
    return taken;
}

int64_t pleat_simulation_offer_shrink(struct pleat_simulation *simulation, int64_t component,
                                      int64_t processors)
{
    struct question *question = &simulation->question;
    int32_t wanted = processors < PLEAT_SIZE_MAX ? (int32_t)processors : PLEAT_SIZE_MAX;
    if (processors <= 0 || !is_offered(question, PLEAT_ASKED_SHRINK, component))
        return 0;
    int32_t given = pleat_plan_offer_shrink(question->pass->plan, (uint32_t)component, wanted,
                                            question->waiter);
    question->left -= given;
    return given;
}

int pleat_simulation_start(struct pleat_simulation *simulation, int64_t component)
{
    const struct question *question = &simulation->question;
    return question->asked == PLEAT_ASKED_START && waits(question->pass, component) &&
           pleat_pass_start(question->pass, (uint32_t)component);
}
