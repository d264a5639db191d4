#include "agent/malleable_watch.h"

#include <stdlib.h>
#include <unistd.h>

#include "agent/checkpoint.h"
#include "agent/ending.h"
#include "agent/notify.h"
#include "agent/outcomes.h"
#include "agent/owner.h"
#include "agent/part_mailbox.h"
#include "agent/remote.h"
#include "agent/resize.h"
#include "base/clock.h"
#include "base/grid.h"

#define RESIZE_POLL_MS 20
#define PROGRESS_MS 1000

/* How long a section in which the program must not be resized lasts before it is told; less where
 * it holds a resize back. Most sections are over at once, and need not be known. The end of a
 * section is told with the progress, so no more often than that, however many sections there
 * are. */
#define SECTION_NS UINT64_C(1000000000)
#define SECTION_HOLDS_NS UINT64_C(200000000)

/* Tests, which wait for progress, may want it more often. */
static uint64_t progress_ms(void)
{
    const char *text = getenv("PLEAT_TEST_PROGRESS_MS");
    long every = text ? strtol(text, NULL, 10) : 0;
    return every > 0 ? (uint64_t)every : PROGRESS_MS;
}

static void look(struct pleat_malleable *malleable)
{
    pleat_malleable_look(malleable);
    pleat_agreement_tend(malleable);
    if (malleable->run->succession) /* one of the two generations may have to end */
        pleat_runs_sweep(malleable->run->agent);
}

static void on_bell(uv_poll_t *poll, int status, int events)
{
    struct pleat_malleable *malleable = poll->data;
    char bytes[256];
    (void)status;
    (void)events;
    while (read(malleable->bell[0], bytes, sizeof(bytes)) == sizeof(bytes))
        ;
    if (malleable->run)
        look(malleable);
}

void pleat_malleable_watch(struct pleat_malleable *malleable)
{
    /* cannot fail for a fresh handle */
    (void)uv_poll_start(&malleable->doorbell, UV_READABLE, on_bell);
}

/* Adds the named adaptation points, if there are any. */
static void add_points(const struct pleat_malleable *malleable, json_t *params)
{
    struct pleat_mailbox_point points[PLEAT_MAILBOX_POINTS];
    uint32_t count = pleat_mailbox_points(malleable->mailbox, points);
    json_t *list = count ? json_array() : NULL;
    for (uint32_t i = 0; list && i < count; i++)
        (void)json_array_append_new(
            list,
            json_pack("{s:o, s:b, s:o, s:o}", "name", pleat_json_text(points[i].name), "resizes",
                      points[i].resizes, "passed", pleat_outcome_number(points[i].passed),
                      "mean_us", pleat_outcome_number(points[i].mean_ns / 1000)));
    if (list)
        (void)json_object_set_new(params, "points", list);
}

/* Adds what the program expects: iterations are turned into time as they go now. */
static void add_expectation(const struct pleat_malleable *malleable,
                            const struct pleat_mailbox_status *now, json_t *params)
{
    struct pleat_mailbox_expectation expects;
    if (!pleat_mailbox_get_expectation(malleable->mailbox, &expects))
        return;
    double end_s = (double)expects.end_us / 1e6;
    if (expects.iteration && now->iteration_ns)
        end_s = (double)pleat_clock_real_us() / 1e6 +
                (expects.iteration > now->iteration ? (double)(expects.iteration - now->iteration) *
                                                          (double)now->iteration_ns / 1e9
                                                    : 0);
    (void)json_object_set_new(params, "expects",
                              json_pack("{s:o, s:o}", "end_s",
                                        end_s > 0 ? json_real(end_s) : json_null(), "bytes",
                                        pleat_outcome_number(expects.bytes)));
}

/* A resize that may be refused waits for the program. */
static bool is_waited_for(const struct pleat_malleable *malleable)
{
    return malleable->kind == PLEAT_REQUEST_RESIZE && !malleable->request.mandatory;
}

static bool section_lasts(const struct pleat_malleable *malleable,
                          const struct pleat_mailbox_status *now)
{
    if (malleable->told_section)
        return now->not_now > 0;
    return now->not_now > 0 &&
           now->section_ns >= (is_waited_for(malleable) ? SECTION_HOLDS_NS : SECTION_NS);
}

/* Reads the mailbox's status, and adds the sections of ranks on other nodes. */
static void look_everywhere(const struct pleat_malleable *malleable,
                            struct pleat_mailbox_status *now)
{
    uint64_t longest_ns;
    pleat_mailbox_status(malleable->mailbox, now);
    now->not_now += pleat_remote_sections(malleable->run, &longest_ns);
    now->section_ns = longest_ns > now->section_ns ? longest_ns : now->section_ns;
}

static void tell_progress(struct pleat_malleable *malleable)
{
    struct pleat_mailbox_status now;
    const struct pleat_mailbox_status *then = &malleable->told;
    look_everywhere(malleable, &now);
    if (!now.attached || malleable->unbegun)
        return;
    bool lasts = section_lasts(malleable, &now);
    if (malleable->told_anything && now.size == then->size && now.iteration == then->iteration &&
        now.iteration_ns == then->iteration_ns && now.passages == then->passages &&
        now.not_now == then->not_now && lasts == malleable->told_section)
        return;
    malleable->told = now;
    malleable->told_anything = true;
    malleable->told_section = lasts;
    json_t *params = json_pack(
        "{s:I, s:I, s:o, s:o, s:b}", "run", (json_int_t)malleable->run->id, "processes",
        (json_int_t)pleat_run_processors(malleable->run, pleat_malleable_size(malleable, &now)),
        "iteration", pleat_outcome_number(now.iteration), "iteration_us",
        pleat_outcome_number(now.iteration_ns / 1000), "attached", true);
    if (params && now.iterations)
        (void)json_object_update_new(params, json_pack("{s:o, s:f}", "measured",
                                                       pleat_outcome_number(now.iterations),
                                                       "squares_us2", now.squares));
    char grid[PLEAT_GRID_TEXT];
    if (params && now.grid)
        (void)json_object_set_new(params, "grid", json_string(pleat_grid_text(now.grid, grid)));
    if (params && now.kept)
        (void)json_object_set_new(params, "saved",
                                  json_pack("{s:o, s:o, s:f}", "iteration",
                                            pleat_outcome_number(now.kept), "save_us",
                                            pleat_outcome_number(now.kept_ns / 1000), "time_s",
                                            (double)now.kept_at_us / 1e6));
    if (params)
        add_points(malleable, params);
    if (params)
        add_expectation(malleable, &now, params);
    if (params && now.not_now)
        (void)json_object_set_new(params, "not_now", json_integer(now.not_now));
    if (params && lasts)
        (void)json_object_set_new(params, "section", json_true());
    pleat_agent_notify(malleable->run->agent, "progress", params);
}

/* A section that holds a resize back is told as soon as it lasts. */
static void look_at_section(struct pleat_malleable *malleable)
{
    struct pleat_mailbox_status now;
    if (!malleable->mailbox || malleable->told_section || !is_waited_for(malleable))
        return;
    look_everywhere(malleable, &now);
    if (section_lasts(malleable, &now))
        tell_progress(malleable);
}

static void on_resizing(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    for (size_t i = 0; i < agent->runs.count; i++)
        if (agent->runs.items[i]->malleable)
            look(agent->runs.items[i]->malleable);
    for (size_t i = 0; i < agent->runs.count; i++)
        pleat_part_mailbox_look(agent->runs.items[i]);
    for (size_t i = 0; i < agent->runs.count; i++)
        if (agent->runs.items[i]->malleable)
            look_at_section(agent->runs.items[i]->malleable);
}

static void on_progress(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    for (size_t i = 0; i < agent->runs.count; i++)
        if (agent->runs.items[i]->malleable && agent->runs.items[i]->malleable->mailbox) {
            tell_progress(agent->runs.items[i]->malleable);
            pleat_wish_tell_wanted(agent->runs.items[i]->malleable);
        }
    for (size_t i = 0; i < agent->runs.count; i++)
        pleat_part_mailbox_tell_section(agent->runs.items[i]);
}

static void arm(uv_timer_t *timer, uv_timer_cb callback, bool wanted, uint64_t every_ms)
{
    if (!wanted)
        uv_timer_stop(timer);
    else if (!uv_is_active((const uv_handle_t *)timer))
        uv_timer_start(timer, callback, every_ms, every_ms);
}

void pleat_malleables_arm(struct pleat_agent *agent)
{
    bool resizing = false;
    bool progress = false;
    if (agent->closing)
        return;
    for (size_t i = 0; i < agent->runs.count; i++) {
        const struct pleat_malleable *malleable = agent->runs.items[i]->malleable;
        resizing = resizing || pleat_part_mailbox_holds(agent->runs.items[i]);
        progress = progress || agent->runs.items[i]->part_mailbox;
        if (!malleable || !malleable->mailbox)
            continue;
        progress = true;
        resizing = resizing || pleat_agreement_waits(malleable) ||
                   malleable->kind != PLEAT_REQUEST_NONE || malleable->wish.id;
    }
    arm(&agent->resizing, on_resizing, resizing, RESIZE_POLL_MS);
    arm(&agent->progress, on_progress, progress && agent->connection && agent->reporting,
        progress_ms());
}

void pleat_malleables_forget_progress(struct pleat_agent *agent)
{
    for (size_t i = 0; i < agent->runs.count; i++)
        if (agent->runs.items[i]->malleable)
            agent->runs.items[i]->malleable->told_anything = false;
}
