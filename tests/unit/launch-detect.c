/* Which MPI a program's file names. The ELF files are written here, byte by byte, so that the test
 * needs no MPI, and then broken at every byte and at every length. */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/detect.h"

struct image {
    Elf64_Ehdr header;
    Elf64_Shdr sections[3]; /* null, .dynamic, .dynstr */
    Elf64_Dyn dynamic[8];
    char strings[256];
};

static char directory[64];
static char file[96];

static void image_build(struct image *image, const char *const *needed)
{
    memset(image, 0, sizeof(*image));
    memcpy(image->header.e_ident, ELFMAG, SELFMAG);
    image->header.e_ident[EI_CLASS] = ELFCLASS64;
    image->header.e_ident[EI_DATA] = ELFDATA2LSB;
    image->header.e_ident[EI_VERSION] = EV_CURRENT;
    image->header.e_type = ET_DYN;
    image->header.e_machine = EM_X86_64;
    image->header.e_version = EV_CURRENT;
    image->header.e_ehsize = sizeof(Elf64_Ehdr);
    image->header.e_shoff = offsetof(struct image, sections);
    image->header.e_shentsize = sizeof(Elf64_Shdr);
    image->header.e_shnum = 3;
    image->header.e_shstrndx = 2;
    image->sections[1] = (Elf64_Shdr){.sh_type = SHT_DYNAMIC,
                                      .sh_offset = offsetof(struct image, dynamic),
                                      .sh_size = sizeof(image->dynamic),
                                      .sh_link = 2,
                                      .sh_addralign = 8,
                                      .sh_entsize = sizeof(Elf64_Dyn)};
    image->sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                      .sh_offset = offsetof(struct image, strings),
                                      .sh_size = sizeof(image->strings),
                                      .sh_addralign = 1};
    size_t used = 1;
    for (size_t i = 0; needed[i]; i++) {
        image->dynamic[i].d_tag = DT_NEEDED;
        image->dynamic[i].d_un.d_val = used;
        memcpy(image->strings + used, needed[i], strlen(needed[i]) + 1);
        used += strlen(needed[i]) + 1;
        assert_true(i < 7 && used < sizeof(image->strings));
    }
}

static void file_write(const void *bytes, size_t count)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), (ssize_t)count);
    close(fd);
}

static void expect(const char *const *needed, enum pleat_mpi mpi, bool malleable)
{
    struct image image;
    struct pleat_launch_detected detected;
    struct pleat_error err = {0};
    image_build(&image, needed);
    file_write(&image, sizeof(image));
    assert_int_equal(pleat_launch_detect(file, &detected, &err), 0);
    assert_int_equal(detected.mpi, mpi);
    assert_int_equal(detected.malleable, malleable);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_libraries(void **state)
{
    (void)state;
    expect(LIST("libm.so.6", "libc.so.6"), PLEAT_MPI_NONE, false);
    expect(LIST("libmpi.so.40", "libc.so.6"), PLEAT_MPI_OPENMPI, false);
    expect(LIST("libmpi_mpifh.so.40"), PLEAT_MPI_OPENMPI, false);
    expect(LIST("libmpi_usempif08.so.40"), PLEAT_MPI_OPENMPI, false);
    expect(LIST("libc.so.6", "libmpich.so.12"), PLEAT_MPI_MPICH, false);
    expect(LIST("libmpi.so.12"), PLEAT_MPI_MPICH, false);
    expect(LIST("libpleat-openmpi.so.0", "libmpi.so.40"), PLEAT_MPI_OPENMPI, true);
    expect(LIST("libmpi.so.40", "libpleat-openmpi.so.0"), PLEAT_MPI_OPENMPI, true);
    expect(LIST("libpleat-mpich.so.0"), PLEAT_MPI_MPICH, true);
    /* names that only look alike */
    expect(LIST("libmpi.so.123"), PLEAT_MPI_OPENMPI, false);
    expect(LIST("libmpibar.so.1", "mylibmpi.so.40", "libmpich", ""), PLEAT_MPI_NONE, false);
}

static void test_two_mpis(void **state)
{
    (void)state;
    struct image image;
    struct pleat_launch_detected detected;
    struct pleat_error err = {0};
    image_build(&image, LIST("libpleat-openmpi.so.0", "libmpich.so.12"));
    file_write(&image, sizeof(image));
    assert_int_equal(pleat_launch_detect(file, &detected, &err), PLEAT_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "libmpich.so.12"));
    assert_int_equal(detected.mpi, PLEAT_MPI_NONE);
}

static void expect_none(const char *path)
{
    struct pleat_launch_detected detected = {PLEAT_MPI_MPICH, true};
    assert_int_equal(pleat_launch_detect(path, &detected, NULL), 0);
    assert_int_equal(detected.mpi, PLEAT_MPI_NONE);
    assert_false(detected.malleable);
}

static void test_other_files(void **state)
{
    (void)state;
    static const char script[] = "#!/bin/sh\nexec libmpi.so.40\n";
    file_write(script, sizeof(script) - 1);
    expect_none(file);
    file_write("", 0);
    expect_none(file);
    file_write("!<arch>\n", 8);
    expect_none(file);
    expect_none("/dev/null");
    expect_none(directory);
    struct pleat_launch_detected detected;
    struct pleat_error err;
    assert_int_equal(pleat_launch_detect("/nonexistent/x", &detected, &err), PLEAT_E_NOTFOUND);
    assert_non_null(strstr(err.text, "/nonexistent/x"));
}

/* Whatever the bytes are, the answer is one of those that exist, and the program goes on. */
static void expect_some_answer(void)
{
    struct pleat_launch_detected detected;
    int result = pleat_launch_detect(file, &detected, NULL);
    assert_true(result == 0 || result == PLEAT_E_UNSUPPORTED);
    assert_in_range(detected.mpi, PLEAT_MPI_NONE, PLEAT_MPI_MPICH);
}

static void test_broken(void **state)
{
    (void)state;
    struct image image;
    image_build(&image, LIST("libpleat-openmpi.so.0", "libmpi.so.40", "libc.so.6"));
    for (size_t length = 0; length < sizeof(image); length++) {
        file_write(&image, length);
        expect_some_answer();
    }
    static const unsigned char masks[] = {0xff, 0x01, 0x80};
    size_t end = offsetof(struct image, dynamic) + 4 * sizeof(Elf64_Dyn);
    for (size_t at = 0; at < end; at++) {
        for (size_t m = 0; m < sizeof(masks); m++) {
            struct image broken = image;
            ((unsigned char *)&broken)[at] ^= masks[m];
            file_write(&broken, sizeof(broken));
            expect_some_answer();
        }
    }
    /* strings without an end */
    struct image broken = image;
    memset(broken.strings, 'x', sizeof(broken.strings));
    file_write(&broken, sizeof(broken));
    expect_none(file);
}

static void test_find(void **state)
{
    (void)state;
    char found[128];
    char tiny[8];
    char search[160];
    struct pleat_error err;
    file_write("#!/bin/sh\n", 10);
    const char *name = strrchr(file, '/') + 1;
    assert_int_equal(pleat_launch_find(file, NULL, "/", found, sizeof(found), NULL), 0);
    assert_string_equal(found, file);
    snprintf(search, sizeof(search), "/nonexistent:%s:/bin", directory);
    assert_int_equal(pleat_launch_find(name, search, NULL, found, sizeof(found), NULL), 0);
    assert_string_equal(found, file);
    snprintf(search, sizeof(search), "./%s", name);
    assert_int_equal(pleat_launch_find(search, NULL, directory, found, sizeof(found), NULL), 0);
    assert_int_equal(access(found, X_OK), 0);
    /* an empty part of PATH is the working directory */
    assert_int_equal(pleat_launch_find(name, "/bin:", directory, found, sizeof(found), NULL), 0);
    assert_string_equal(found, file);
    assert_int_equal(pleat_launch_find("sh", NULL, NULL, found, sizeof(found), NULL), 0);

    assert_int_equal(chmod(file, 0600), 0);
    assert_int_equal(pleat_launch_find(name, directory, NULL, found, sizeof(found), &err),
                     PLEAT_E_NOTFOUND);
    assert_non_null(strstr(err.text, name));
    assert_int_equal(pleat_launch_find(file, NULL, NULL, found, sizeof(found), NULL),
                     PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_launch_find("", NULL, NULL, found, sizeof(found), NULL),
                     PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_launch_find("/bin/some-program", NULL, NULL, tiny, sizeof(tiny), NULL),
                     PLEAT_E_TOOBIG);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/pleat-detect-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(file, sizeof(file), "%s/program", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libraries),   cmocka_unit_test(test_two_mpis),
        cmocka_unit_test(test_other_files), cmocka_unit_test(test_broken),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
