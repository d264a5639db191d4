/* Files that are replaced as a whole, and sockets that are connected to. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/socket.h"
#include "base/write.h"

static char directory[64], path[96], fresh[104], other[96];

static int begin(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/pleat-base-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/file", directory);
    snprintf(fresh, sizeof(fresh), "%s.new", path);
    snprintf(other, sizeof(other), "%s/other", directory);
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)unlink(fresh);
    (void)unlink(other);
    return rmdir(directory);
}

static void put(const char *where, const char *text)
{
    int fd = open(where, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_int_equal(pleat_write_all(fd, text, strlen(text)), 0);
    close(fd);
}

static void assert_has(const char *where, const char *text)
{
    char found[64] = "";
    int fd = open(where, O_RDONLY);
    assert_int_equal(read(fd, found, sizeof(found) - 1), strlen(text));
    close(fd);
    assert_string_equal(found, text);
}

static void test_replaced(void **state)
{
    struct stat about;
    (void)state;
    assert_int_equal(pleat_write_private(path, "one", 3), 0);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    put(fresh, "of a process that was killed");
    assert_int_equal(pleat_write_private(path, "", 0), 0);
    assert_has(path, "");
    assert_int_equal(access(fresh, F_OK), -1);
}

/* What a link points to, be it in the file's place or in that of the new one, is left alone. */
static void test_links(void **state)
{
    (void)state;
    put(other, "mine");
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(symlink(other, fresh), 0);
    assert_int_equal(pleat_write_private(path, "two", 3), 0);
    assert_has(path, "two");
    assert_has(other, "mine");
}

static void test_not_replaced(void **state)
{
    char nowhere[128], longer[5000];
    (void)state;
    snprintf(nowhere, sizeof(nowhere), "%s/no/file", directory);
    assert_int_equal(pleat_write_private(nowhere, "x", 1), ENOENT);
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(pleat_write_private(longer, "x", 1), ENAMETOOLONG);
    assert_int_equal(mkdir(path, 0700), 0); /* which no file can replace */
    assert_int_equal(pleat_write_private(path, "x", 1), EISDIR);
    assert_int_equal(access(fresh, F_OK), -1);
    assert_int_equal(rmdir(path), 0);
}

static void test_connecting(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char longer[sizeof(address.sun_path) + 1];
    (void)state;
    errno = 0;
    assert_int_equal(pleat_socket_connect(path), -1);
    assert_int_equal(errno, ENOENT);
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(pleat_socket_connect(longer), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int listens = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listens, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(pleat_socket_connect(path), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(listen(listens, 1), 0);
    int fd = pleat_socket_connect(path), peer = accept(listens, NULL, NULL);
    char letter = 0;
    assert_true(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(pleat_write_all(fd, "x", 1), 0);
    assert_int_equal(read(peer, &letter, 1), 1);
    assert_int_equal(letter, 'x');
    close(fd);
    close(peer);
    close(listens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_replaced, begin, end),
        cmocka_unit_test_setup_teardown(test_links, begin, end),
        cmocka_unit_test_setup_teardown(test_not_replaced, begin, end),
        cmocka_unit_test_setup_teardown(test_connecting, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
