/* try.c - the program that `pleat doctor` starts with two ranks of an MPI, once for each MPI:
 * whether they meet, and whether libpleat is the one of this MPI. Rank 0 prints one line. */
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int try_libpleat(char *text, size_t size)
{
    struct pleat_session *session = NULL;
    struct pleat_error err = {0};
    int rc = pleat_session_create(&session, &err);
    if (rc)
        snprintf(text, size, "%s", err.text);
    pleat_session_finish(session);
    return rc;
}

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "",
         wrong[sizeof(((struct pleat_error *)0)->text)] = "";
    int size = 0, rank = 0, one = 1, sum = 0, length = 0;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return EXIT_FAILURE;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = '\0';
    for (char *blank; (blank = strchr(version, '\t'));)
        *blank = ' ';
    int rc = try_libpleat(wrong, sizeof(wrong));
    if (rank == 0 && rc)
        printf("pleat-try libpleat: %s\n", wrong);
    else if (rank == 0)
        printf("pleat-try %d of %d ranks: %s\n", sum, size, version);
    MPI_Finalize();
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
