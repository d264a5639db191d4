/* Commands and helpers on a loop: what is told of them, and that nothing of them is left. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/command.h"

struct bench {
    uv_loop_t loop;
    struct pleat_commands *commands;
    int told, lines;
    uint64_t token;
    struct pleat_command_result result;
    struct pleat_string output, errors;
    struct pleat_helper *helper;
};

static void begin(struct bench *b)
{
    memset(b, 0, sizeof(*b));
    assert_int_equal(uv_loop_init(&b->loop), 0);
    assert_int_equal(pleat_commands_create(&b->loop, &b->commands), 0);
}

static void end(struct bench *b)
{
    pleat_commands_end(b->commands);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&b->loop), 0); /* no handle is left */
    pleat_commands_destroy(b->commands);
    pleat_string_finish(&b->output);
    pleat_string_finish(&b->errors);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and no process */
    assert_int_equal(errno, ECHILD);
}

static void done(void *arg, uint64_t token, const struct pleat_command_result *result)
{
    struct bench *b = arg;
    b->told++;
    b->token = token;
    b->result = *result;
    assert_int_equal(result->output[result->output_length], '\0');
    pleat_string_add_bytes(&b->output, result->output, result->output_length);
    pleat_string_add(&b->errors, result->errors);
}

static void run(struct bench *b, const struct pleat_command *command)
{
    b->told = 0;
    b->output.length = b->errors.length = 0;
    pleat_commands_run(b->commands, command, done, b, 7);
    assert_int_equal(b->told, 0); /* never from within */
    uv_run(&b->loop, UV_RUN_DEFAULT);
    assert_int_equal(b->told, 1);
    assert_int_equal(b->token, 7);
}

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_output_input_and_environment(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    run(&b, &(struct pleat_command){.argv = ARGV("cat"), .input = "a\nb\0c", .input_length = 5});
    assert_int_equal(b.result.end, PLEAT_COMMAND_EXITED);
    assert_int_equal(b.result.code, 0);
    assert_int_equal(b.output.length, 5);
    assert_memory_equal(b.output.text, "a\nb\0c", 5);
    /* words are words: nothing is expanded, nothing is split */
    run(&b, &(struct pleat_command){.argv = ARGV("printf", "%s|", "$HOME", "a b", "`id`", "; ls")});
    assert_string_equal(b.output.text, "$HOME|a b|`id`|; ls|");
    assert_int_equal(setenv("PLEAT_TEST_HERE", "old", 1), 0);
    run(&b, &(struct pleat_command){
                .argv = ARGV("sh", "-c",
                             "echo $PLEAT_TEST_HERE $PLEAT_TEST_HERE_TOO; echo no >&2; exit 3"),
                .environment = ARGV("PLEAT_TEST_HERE=new", "PLEAT_TEST_HERE_TOO=too")});
    assert_string_equal(b.output.text, "new too\n");
    assert_string_equal(b.errors.text, "no\n");
    assert_int_equal(b.result.end, PLEAT_COMMAND_EXITED);
    assert_int_equal(b.result.code, 3);
    run(&b, &(struct pleat_command){.argv = ARGV("sh", "-c", "kill -TERM $$")});
    assert_int_equal(b.result.end, PLEAT_COMMAND_KILLED);
    assert_int_equal(b.result.code, SIGTERM);
    /* one that does not read its input */
    char *much = calloc(1, 4000000);
    run(&b, &(struct pleat_command){.argv = ARGV("true"), .input = much, .input_length = 4000000});
    assert_int_equal(b.result.end, PLEAT_COMMAND_EXITED);
    free(much);
    end(&b);
}

static void test_limits(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    run(&b, &(struct pleat_command){.argv = ARGV("seq", "100000"), .output_max = 10});
    assert_true(b.result.truncated);
    assert_int_equal(b.result.code, 0);
    assert_int_equal(b.output.length, 10);
    /* with what it has started */
    run(&b, &(struct pleat_command){.argv = ARGV("sh", "-c", "echo begun; sleep 600 & wait"),
                                    .limit_us = 300000});
    assert_int_equal(b.result.end, PLEAT_COMMAND_TIMED_OUT);
    /* output that others hold open is not waited for */
    run(&b, &(struct pleat_command){
                .argv = ARGV("sh", "-c", "setsid sh -c 'echo $$; exec sleep 600' & read nothing"),
                .input = "\n",
                .input_length = 1});
    assert_int_equal(b.result.end, PLEAT_COMMAND_EXITED);
    assert_int_equal(kill(atoi(b.output.text), SIGKILL), 0);
    end(&b);
}

static void test_what_cannot_be_started(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    run(&b, &(struct pleat_command){.argv = ARGV("pleat-no-such-program")});
    assert_int_equal(b.result.end, PLEAT_COMMAND_NOT_STARTED);
    assert_non_null(strstr(b.errors.text, "pleat-no-such-program"));
    assert_non_null(strstr(b.errors.text, "PATH"));
    run(&b, &(struct pleat_command){.argv = ARGV("/etc/passwd")});
    assert_int_equal(b.result.end, PLEAT_COMMAND_NOT_STARTED);
    run(&b, &(struct pleat_command){.argv = ARGV("")});
    assert_int_equal(b.result.end, PLEAT_COMMAND_NOT_STARTED);
    end(&b);
}

/* ---- helpers ---- */

static void on_line(void *arg, const char *line, size_t length)
{
    struct bench *b = arg;
    b->lines++;
    assert_int_equal(line[length], '\0');
    pleat_string_add_bytes(&b->output, line, length);
    pleat_string_add(&b->output, "|");
    if (!strcmp(line, "more"))
        assert_int_equal(pleat_helper_say(b->helper, "3"), 0);
    if (!strcmp(line, "drop"))
        pleat_commands_drop(b->commands, b);
}

static void on_end(void *arg, const struct pleat_command_result *result)
{
    struct bench *b = arg;
    b->told++;
    b->result = *result;
    b->helper = NULL;
}

static void help(struct bench *b, const char *const *argv)
{
    static const struct pleat_helper_callbacks callbacks = {on_line, on_end};
    b->told = b->lines = 0;
    b->output.length = 0;
    b->helper =
        pleat_commands_help(b->commands, &(struct pleat_command){.argv = argv}, &callbacks, b);
    assert_non_null(b->helper);
    assert_int_equal(b->told, 0);
}

static void until_lines(struct bench *b, int lines)
{
    while (b->lines < lines && b->told == 0)
        uv_run(&b->loop, UV_RUN_ONCE);
    assert_int_equal(b->lines, lines);
}

static void test_a_helper_speaks_in_lines(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    help(&b, ARGV("sed", "-u", "-e", "s/^1$/more/", "-e", "s/^2$/a\\nb/", "-e", "/^3$/q5"));
    assert_int_equal(pleat_helper_say(b.helper, ""), 0);
    assert_int_equal(pleat_helper_say(b.helper, "2"), 0);
    until_lines(&b, 3);
    assert_string_equal(b.output.text, "|a|b|");
    assert_int_equal(pleat_helper_say(b.helper, "1"), 0); /* it asks for more, and ends with that */
    uv_run(&b.loop, UV_RUN_DEFAULT);
    assert_string_equal(b.output.text, "|a|b|more|3|");
    assert_int_equal(b.told, 1);
    assert_int_equal(b.result.end, PLEAT_COMMAND_EXITED);
    assert_int_equal(b.result.code, 5);
    help(&b, ARGV("pleat-no-such-program"));
    assert_true(pleat_helper_say(b.helper, "x") < 0);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    assert_int_equal(b.told, 1);
    assert_int_equal(b.result.end, PLEAT_COMMAND_NOT_STARTED);
    end(&b);
}

static void test_a_helper_that_does_not_read(void **state)
{
    struct bench b;
    (void)state;
    char *line = malloc(1000001);
    memset(line, 'x', 1000000);
    line[1000000] = '\0';
    begin(&b);
    help(&b, ARGV("sleep", "600"));
    int said = 0, rc = 0;
    while (!rc && said++ < 1000)
        rc = pleat_helper_say(b.helper, line);
    assert_int_equal(rc, PLEAT_E_BUSY);
    free(line);
    end(&b); /* it is killed with all that it was told */
    assert_int_equal(b.told, 0);
}

/* A line that never ends is no line. */
static void test_a_helper_that_talks_nonsense(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    help(&b, ARGV("cat", "/dev/zero"));
    uv_run(&b.loop, UV_RUN_DEFAULT);
    assert_int_equal(b.told, 1);
    assert_int_equal(b.lines, 0);
    assert_int_equal(b.result.end, PLEAT_COMMAND_KILLED);
    assert_true(b.result.truncated);
    end(&b);
}

static void test_dropping(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    help(&b, ARGV("sh", "-c", "echo drop; echo never; sleep 600"));
    pleat_commands_run(b.commands, &(struct pleat_command){.argv = ARGV("sleep", "600")}, done, &b,
                       1);
    pleat_commands_run(b.commands, &(struct pleat_command){.argv = ARGV("pleat-no-such")}, done, &b,
                       1);
    int other = 0;
    pleat_commands_drop(b.commands, &other); /* nobody's */
    while (b.lines == 0)                     /* what could not be started may be told before */
        uv_run(&b.loop, UV_RUN_ONCE);
    uv_run(&b.loop, UV_RUN_DEFAULT); /* it ends: nothing is left */
    assert_int_equal(b.lines, 1);
    assert_true(b.told <= 1);
    end(&b);
    begin(&b);
    help(&b, ARGV("cat"));
    pleat_commands_end(b.commands);
    b.told = 0;
    pleat_commands_run(b.commands, &(struct pleat_command){.argv = ARGV("true")}, done, &b, 1);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    assert_int_equal(b.told, 0);
    end(&b);
}

/* A driver that is killed leaves no command behind. */
static void test_the_driver_is_killed(void **state)
{
    struct bench b;
    int ends[2];
    char byte;
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    /* what the driver leaves comes to us */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t driver = fork();
    if (driver == 0) {
        close(ends[0]);
        begin(&b);
        help(&b, ARGV("sh", "-c", "echo 1; exec sleep 600"));
        until_lines(&b, 1);
        raise(SIGKILL);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    int status, ended = 0;
    while (waitpid(-1, &status, 0) > 0) /* it would wait for ten minutes */
        ended += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    assert_int_equal(ended, 2);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static int ignore_pipes(void **state)
{
    (void)state;
    return signal(SIGPIPE, SIG_IGN) == SIG_ERR;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_input_and_environment),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_what_cannot_be_started),
        cmocka_unit_test(test_a_helper_speaks_in_lines),
        cmocka_unit_test(test_a_helper_that_does_not_read),
        cmocka_unit_test(test_a_helper_that_talks_nonsense),
        cmocka_unit_test(test_dropping),
        cmocka_unit_test(test_the_driver_is_killed),
    };
    return cmocka_run_group_tests(tests, ignore_pipes, NULL);
}
