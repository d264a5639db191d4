/* What Grid Engine's answers are read with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gridengine/ask.h"
#include "gridengine/ask_cluster.h"
#include "gridengine/jobs.h"
#include "gridengine/queue.h"
#include "gridengine/state.h"
#include "gridengine/xml.h"
#include "wire/reply.h"

static json_t *read_xml(const char *text)
{
    json_t *root;
    struct pleat_error err = {0};
    if (pleat_xml_read(text, &root, &err))
        fail_msg("%s: %s", text, err.text);
    return root;
}

static void test_xml(void **state)
{
    (void)state;
    json_t *root =
        read_xml("<?xml version='1.0'?>\n<a x='1'><b>two &lt;&amp;</b> <b>3</b><c/></a>\n");
    assert_true(pleat_xml_is(root, "a"));
    assert_string_equal(pleat_xml_attribute(root, "x"), "1");
    assert_string_equal(pleat_xml_attribute(root, "y"), "");
    assert_string_equal(pleat_xml_text(root, "b"), "two <&");
    assert_string_equal(pleat_xml_text(root, "c"), "");
    assert_string_equal(pleat_xml_text(root, "d"), "");
    assert_int_equal(json_array_size(pleat_xml_elements(root)), 3);
    json_decref(root);
    /* what is no UTF-8, or no character */
    root = read_xml("<a>\xe9\xc3\xa9\x01\xed\xa0\x80\xef\xbf\xbf\xc0\x80\xf5\xc3</a>");
    assert_string_equal(pleat_xml_own_text(root), "?\xc3\xa9???????????");
    json_decref(root);
}

static void test_what_is_no_xml(void **state)
{
    (void)state;
    char deep[200] = "", *at = deep;
    for (int i = 0; i < 20; i++)
        at += sprintf(at, "<a>");
    for (int i = 0; i < 20; i++)
        at += sprintf(at, "</a>");
    const char *const wrong[] = {"",
                                 "text",
                                 "<a>",
                                 "<a></b>",
                                 "<a/><b/>",
                                 "<a>&x;</a>",
                                 "<a x='1' x='2'/>",
                                 "<!DOCTYPE a><a/>",
                                 "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
                                 deep};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pleat_error err = {0};
        json_t *root;
        assert_int_equal(pleat_xml_read(wrong[i], &root, &err), PLEAT_E_PROTOCOL);
        assert_null(root);
        assert_non_null(strstr(err.text, "XML"));
    }
}

static void test_states(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"r", "running", ""},         {"Rr", "running", ""},        {"s", "running", ""},
        {"t", "pending", "Starting"}, {"qw", "pending", "?"},       {"hqw", "pending", "Held"},
        {"Eqw", "pending", "Error"},  {"Rq", "pending", "?"},       {"dr", "ending", "DELETED"},
        {"dqw", "ended", "DELETED"},  {"dRr", "ending", "DELETED"}, {"", "pending", "Starting"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *reason;
        assert_string_equal(pleat_gridengine_state(rows[i][0], &reason), rows[i][1]);
        assert_string_equal(reason, rows[i][2]);
    }
    assert_string_equal(pleat_gridengine_instance(""), "");
    assert_string_equal(pleat_gridengine_instance("a"), "");
    assert_string_equal(pleat_gridengine_instance("au"), "down");
    assert_string_equal(pleat_gridengine_instance("d"), "drained");
    assert_string_equal(pleat_gridengine_instance("E"), "drained");
}

static void test_notices(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds;
    } rows[] = {{"qname all.q\nnotify                00:00:60\nowner_list NONE\n", 60},
                {"notify 00:01:30,[g1=00:00:10]\n", 90},
                {"notify 45\n", 45},
                {"notify INFINITY\n", 0},
                {"notify 00:00\n", 0},
                {"notify -5\n", 0},
                {"notifyx 5\n", 0},
                {"", 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(pleat_gridengine_notice_of(rows[i].text), rows[i].seconds);
}

#define ROW(number, name, state, more)                                                             \
    "<job_list><JB_job_number>" number "</JB_job_number><JB_name>" name "</JB_name><state>" state  \
    "</state>" more "</job_list>"

static void test_jobs(void **state)
{
    (void)state;
    json_t *root =
        read_xml("<job_info><queue_info>" ROW(
            "1", "p=1=2.x", "r",
            "<JAT_start_time>2026-11-24T03:24:04</JAT_start_time><queue_name>all.q@g1.x"
            "</queue_name><slots>3</slots><hard_request name='h_rt'>60</hard_request>")
                     ROW("2", "p", "dr", "") "</queue_info><job_info>" ROW("3", "p", "qw", "")
                         ROW("x", "p", "qw", "") ROW("4", "p", "qw", "<tasks>1-3:1</tasks>")
                             ROW("99999999", "p", "qw", "") "</job_info></job_info>");
    json_t *jobs = pleat_gridengine_jobs_of(root);
    assert_int_equal(json_array_size(jobs), 3);
    const json_t *one = json_array_get(jobs, 0),
                 *node = json_array_get(json_object_get(one, "nodes"), 0);
    assert_true(pleat_reply_is(one, "name", "p:1:2.x"));
    assert_true(pleat_reply_is(node, "name", "g1.x"));
    assert_int_equal(pleat_reply_int(node, "cpus", 0), 3);
    assert_int_equal(pleat_reply_int(one, "end", 0), pleat_reply_int(one, "start", 0) + 60);
    assert_true(pleat_reply_is(json_array_get(jobs, 1), "state", "ending"));
    assert_true(pleat_reply_is(json_array_get(jobs, 2), "reason", "?"));
    json_decref(jobs);
    json_decref(root);
}

#define ON(host, role)                                                                             \
    ROW("5", "p", "r",                                                                             \
        "<queue_name>q@" host "</queue_name><master>" role "</master><slots>1</slots>"             \
        "<granted_pe name='x'>3</granted_pe>")

/* The nodes of job 5 as "name:cpus ...". */
static const char *nodes_of(const char *rows)
{
    static char said[64];
    char text[2000];
    size_t i;
    json_t *node;
    snprintf(text, sizeof(text), "<j><q>%s</q></j>", rows);
    json_t *root = read_xml(text), *jobs = pleat_gridengine_jobs_of(root);
    assert_int_equal(json_array_size(jobs), 1);
    said[0] = '\0';
    json_array_foreach(json_object_get(json_array_get(jobs, 0), "nodes"), i, node)
    {
        size_t length = strlen(said);
        snprintf(said + length, sizeof(said) - length, "%s%s:%d", i ? " " : "",
                 pleat_reply_text(node, "name", ""), (int)pleat_reply_int(node, "cpus", 0));
    }
    json_decref(jobs);
    json_decref(root);
    return said;
}

static void test_nodes_of_a_job(void **state)
{
    (void)state;
    assert_string_equal(
        nodes_of(ON("a", "MASTER") ON("a", "SLAVE") ON("a", "SLAVE") ON("b", "SLAVE")), "a:2 b:1");
    assert_string_equal(nodes_of(ON("a", "MASTER") ON("b", "SLAVE") ON("b", "SLAVE")), "a:1 b:2");
    assert_string_equal(
        nodes_of(ON("a", "MASTER") ON("b", "SLAVE") ON("b", "SLAVE") ON("c", "SLAVE")), "b:2 c:1");
    assert_string_equal(
        nodes_of(ROW("5", "p", "r", "<queue_name>q@a</queue_name><slots>2</slots>")), "a:2");
}

/* Why job 7 waits, of three that do. */
static const char *why(const char *queues, const char *before)
{
    char text[1500];
    static char reason[32];
    snprintf(text, sizeof(text),
             "<job_info><queue_info>%s</queue_info><job_info>%s%s%s</job_info></job_info>", queues,
             before, ROW("7", "p", "qw", "<slots>4</slots>"), ROW("8", "p", "qw", ""));
    json_t *root = read_xml(text),
           *jobs = json_pack("[{sisssss[]}]", "job", 7, "state", "pending", "reason", "?", "nodes");
    pleat_gridengine_explain(jobs, root);
    snprintf(reason, sizeof(reason), "%s", pleat_reply_text(json_array_get(jobs, 0), "reason", ""));
    json_decref(jobs);
    json_decref(root);
    return reason;
}

#define QUEUE(used, total, state)                                                                  \
    "<Queue-List><slots_used>" used "</slots_used><slots_total>" total                             \
    "</slots_total><state>" state "</state></Queue-List>"

static void test_why_jobs_wait(void **state)
{
    (void)state;
    assert_string_equal(why(QUEUE("0", "4", ""), ""), "Scheduling");
    assert_string_equal(why(QUEUE("1", "4", "") QUEUE("2", "4", ""), ""), "Resources");
    assert_string_equal(why(QUEUE("1", "4", ""), ROW("6", "x", "qw", "")), "Priority");
    assert_string_equal(why(QUEUE("1", "4", ""), ROW("6", "x", "hqw", "")), "Resources");
    assert_string_equal(why(QUEUE("0", "4", "d") QUEUE("0", "4", "au"), ""), "Down");
    assert_string_equal(why("", ""), "Down");
}

static void test_nodes(void **state)
{
    (void)state;
    json_t *root = read_xml(
        "<qhost><host name='global'><hostvalue name='num_proc'>-</hostvalue></host>"
        "<host name='g1'><hostvalue name='num_proc'>4</hostvalue><hostvalue name='load_avg'>0.50"
        "</hostvalue><hostvalue name='mem_total'>1.5G</hostvalue>"
        "<queue name='a'><queuevalue name='slots'>3</queuevalue><queuevalue name='slots_used'>1"
        "</queuevalue><queuevalue name='state_string'></queuevalue></queue>"
        "<queue name='b'><queuevalue name='slots'>3</queuevalue><queuevalue "
        "name='state_string'>d</queuevalue></queue></host>"
        "<host name='g2'><hostvalue name='num_proc'>2</hostvalue><queue name='a'><queuevalue "
        "name='slots'>8</queuevalue><queuevalue name='state_string'>au</queuevalue></queue></host>"
        "</qhost>");
    json_t *nodes = pleat_gridengine_nodes_of(root);
    assert_int_equal(json_array_size(nodes), 2);
    const json_t *one = json_array_get(nodes, 0), *other = json_array_get(nodes, 1);
    assert_int_equal(pleat_reply_int(one, "cpus", 0), 4); /* two queues, one machine */
    assert_int_equal(pleat_reply_int(one, "used", 0), 1);
    assert_int_equal(pleat_reply_int(one, "memory_mb", 0), 1536);
    assert_true(pleat_reply_is(one, "state", "used"));
    assert_int_equal(pleat_reply_int(other, "cpus", 0), 8); /* as its queue says */
    assert_true(pleat_reply_is(other, "state", "down"));
    json_decref(nodes);
    json_decref(root);
}

static void test_values_and_names(void **state)
{
    (void)state;
    static const char shown[] = "pe_name            smp\nslots              999\n"
                                "allocation_rule    $pe_slots  \ncontrol_slaves\tTRUE\nempty   \n";
    char value[16], name[PLEAT_ADAPTER_NAME_MAX + 1];
    assert_string_equal(pleat_gridengine_value(shown, "pe_name", value, sizeof(value)), "smp");
    assert_string_equal(pleat_gridengine_value(shown, "allocation_rule", value, sizeof(value)),
                        "$pe_slots");
    assert_string_equal(pleat_gridengine_value(shown, "control_slaves", value, sizeof(value)),
                        "TRUE");
    assert_string_equal(pleat_gridengine_value(shown, "slots", value, 3), "99");
    assert_string_equal(pleat_gridengine_value(shown, "empty", value, sizeof(value)), "");
    assert_string_equal(pleat_gridengine_value(shown, "slot", value, sizeof(value)), "");
    pleat_gridengine_name_out("pleat-7-c:3:12.0a", name);
    assert_string_equal(name, "pleat-7-c=3=12.0a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xml),
        cmocka_unit_test(test_what_is_no_xml),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_notices),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_nodes_of_a_job),
        cmocka_unit_test(test_why_jobs_wait),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_values_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
