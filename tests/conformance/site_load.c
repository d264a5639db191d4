/* What sites of batch systems tell of processors that others use. */
#include "host.h"

#include <jansson.h>

#include "model/records.h"
#include "played_slurm.h"

enum { PROCESSORS = 8, SITE = 3 };

struct bed {
    const struct pleat_site_ops *ops;
    struct played_host host;
    struct pleat_site_instance *site;
    void *own;
    struct played_slurm slurm;
};

static void set(struct bed *bed, const char *name, const char *value)
{
    const struct pleat_site_option *option = pleat_site_option_find(bed->ops, name);
    assert_non_null(option);
    assert_int_equal(pleat_site_own_set(bed->own, option, value, NULL), 0);
}

/* Two hosts of four processors each; the option of that name, if any, has that value. */
static void begin(struct bed *bed, const struct pleat_site_ops *ops, int32_t processors,
                  const char *name, const char *value)
{
    *bed = (struct bed){.ops = ops};
    played_host_init(&bed->host);
    bed->host.agent_us = 5000;
    played_slurm_init(&bed->slurm, PROCESSORS, 2);
    bed->slurm.role = ops->name;
    bed->host.programs = &bed->slurm.programs;
    assert_int_equal(pleat_site_own_make(ops, &bed->own), 0);
    if (name)
        set(bed, name, value);
    const struct pleat_site_options options = {.name = "subject",
                                               .index = SITE,
                                               .processors = processors,
                                               .threshold = 1,
                                               .own = bed->own};
    assert_int_equal(ops->open(&options, &bed->host.host, &bed->site, NULL), 0);
    bed->host.site = bed->site;
    played_host_run(&bed->host);
}

static void finish(struct bed *bed)
{
    bed->ops->close(bed->site);
    pleat_site_own_free(bed->ops, bed->own);
    played_host_finish(&bed->host);
}

/* A second passes, and the batch system is asked again. */
static void poll(struct bed *bed)
{
    bed->host.now_us += 1000000;
    assert_int_equal(bed->site->ops->probe(bed->site, NULL), 0);
    played_host_run(&bed->host);
}

/* What was told last of what others use; -1: nothing since the mark. */
static int32_t told(const struct bed *bed, uint16_t *flags)
{
    struct pleat_event event;
    if (played_host_count(&bed->host, PLEAT_EV_BACKGROUND, &event) == 0)
        return -1;
    assert_int_equal(event.component, SITE);
    *flags = event.flags;
    return event.u.site.background;
}

#define FOR_BOTH_KINDS(ops)                                                                        \
    for (const struct pleat_site_ops *ops = &pleat_site_slurm; ops;                                \
         ops = ops == &pleat_site_slurm ? &pleat_site_gridengine : NULL)

static void test_what_others_use_is_told(void **state)
{
    (void)state;
    FOR_BOTH_KINDS(ops)
    {
        struct bed bed;
        uint16_t flags = 0;
        begin(&bed, ops, 0, NULL, NULL);
        const struct pleat_site_wish wish = {.id = 1, .index = 1, .count = 2};
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        played_host_run(&bed.host);
        poll(&bed);
        assert_int_equal(told(&bed, &flags), -1); /* its own are nobody else's */
        bed.slurm.others_on[1] = 3;
        poll(&bed);
        assert_int_equal(told(&bed, &flags), -1); /* it may be on its way back */
        poll(&bed);
        assert_int_equal(told(&bed, &flags), 3);
        assert_int_equal(flags, PLEAT_SITE_QUEUES);
        bed.slurm.others_on[1] = 1;
        poll(&bed);
        assert_int_equal(told(&bed, &flags), 1); /* less is believed at once */
        finish(&bed);
    }
}

/* A cluster is larger than an answer may be. */
static void test_nodes_come_in_parts(void **state)
{
    (void)state;
    FOR_BOTH_KINDS(ops)
    {
        struct bed bed;
        uint16_t flags = 0;
        begin(&bed, ops, 0, NULL, NULL);
        bed.slurm.page = 1;
        bed.slurm.others_on[0] = bed.slurm.others_on[1] = 1;
        poll(&bed);
        poll(&bed);
        assert_int_equal(told(&bed, &flags), 2);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_SITE, NULL), 2);
        struct pleat_site_nodes nodes = {0};
        bed.site->ops->nodes(bed.site, &nodes);
        assert_int_equal(json_array_size(nodes.list), 2);
        json_decref(nodes.list);
        json_decref(nodes.offer);
        finish(&bed);
    }
}

/* Of a node on which nothing is claimed neither processors nor load count. */
static void test_a_shut_node_and_a_part_of_a_cluster(void **state)
{
    (void)state;
    FOR_BOTH_KINDS(ops)
    {
        struct bed bed;
        uint16_t flags = 0;
        begin(&bed, ops, 6, NULL, NULL);
        bed.slurm.others_on[0] = 3;
        poll(&bed);
        poll(&bed);
        assert_int_equal(told(&bed, &flags), 1); /* of 8 two are not the site's */
        json_t *names = json_pack("[s]", "n1");
        bed.site->ops->shut_hosts(bed.site, names);
        json_decref(names);
        bed.host.now_us += 1000000;
        played_host_run(&bed.host);
        struct pleat_event event;
        assert_true(played_host_count(&bed.host, PLEAT_EV_SITE, &event) > 0);
        assert_int_equal(event.u.site.capacity, 4);
        assert_int_equal(event.u.site.threshold, 1);
        assert_int_equal(event.u.site.background, 0);
        finish(&bed);
    }
}

static void test_what_it_counts_for_is_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        int32_t told;
        uint16_t flags;
    } cases[] = {{"background", "ignore", -1, 0},
                 {"background", "grow", 2, PLEAT_SITE_QUEUES},
                 {"background", "start", 2, 0},
                 {"grow_s", "60", -1, 0}}; /* a growth waits in the queue */
    FOR_BOTH_KINDS(ops)
    {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            struct bed bed;
            uint16_t flags = 0;
            begin(&bed, ops, 0, cases[i].name, cases[i].value);
            bed.slurm.others_on[0] = 2;
            poll(&bed);
            poll(&bed);
            assert_int_equal(told(&bed, &flags), cases[i].told);
            assert_int_equal(flags, cases[i].flags);
            finish(&bed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_others_use_is_told),
        cmocka_unit_test(test_nodes_come_in_parts),
        cmocka_unit_test(test_a_shut_node_and_a_part_of_a_cluster),
        cmocka_unit_test(test_what_it_counts_for_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
