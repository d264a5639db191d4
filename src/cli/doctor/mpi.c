/* The MPIs: is the launcher there, does a program of two ranks start as Pleat starts one, and is
 * libpleat the one of this MPI. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/detach.h"
#include "cli/doctor/check.h"
#include "launch/detect.h"
#include "launch/fold.h"
#include "launch/library.h"
#include "launch/pmi.h"

extern char **environ;

struct kind {
    enum pleat_mpi mpi;
    const char *name, *launcher, *package, *library; /* names of Debian's packages */
};

static const struct kind openmpi = {PLEAT_MPI_OPENMPI, "Open MPI", "mpirun.openmpi", "openmpi-bin",
                                    "libpleat-openmpi"};
static const struct kind mpich = {PLEAT_MPI_MPICH, "MPICH", "mpiexec.mpich", "mpich",
                                  "libpleat-mpich"};

/* Copies the first number with a dot in it, such as 4.1.4, of a text. */
static void version_of(const char *text, char *version, size_t size)
{
    for (*version = '\0'; *text; text++) {
        size_t length = strspn(text, "0123456789.");
        if (isdigit((unsigned char)*text) && memchr(text, '.', length)) {
            snprintf(version, size, "%.*s", (int)length, text);
            return;
        }
        if (length)
            text += length - 1;
    }
}

static bool look_at_launcher(struct doctor *doctor, const struct kind *kind, char *version,
                             size_t size)
{
    char advice[200];
    struct pleat_string output = {0};
    char *argv[] = {(char *)kind->launcher, (char *)"--version", NULL};
    int status = doctor_execute(argv, NULL, &output);
    snprintf(advice, sizeof(advice), "if programs of %s are to run here, install it (Debian: %s)",
             kind->name, kind->package);
    version_of(output.text ? output.text : "", version, size);
    if (status == 127)
        doctor_tell(doctor, DOCTOR_UNCHECKED, "launcher", advice, "there is no %s in PATH",
                    kind->launcher);
    else if (status)
        doctor_tell(doctor, DOCTOR_FAILED, "launcher", "try this command by hand",
                    "'%s --version' ended with %d: %s", kind->launcher, status,
                    doctor_first_line(&output));
    else
        doctor_tell(doctor, DOCTOR_OK, "launcher", NULL, "%s is version %s", kind->launcher,
                    *version ? version : "(not told)");
    pleat_string_finish(&output);
    return status == 0;
}

static void look_at_folding(struct doctor *doctor, const struct kind *kind)
{
    char path[4200];
    struct pleat_error err;
    if (pleat_launch_fold_library(kind->mpi, path, sizeof(path), &err))
        doctor_tell(doctor, DOCTOR_UNCHECKED, "folding",
                    "if programs are to be folded, install Pleat anew while this MPI is there",
                    "%s", err.text);
    else
        doctor_tell(doctor, DOCTOR_OK, "folding", NULL, "%s is there", path);
}

/* Starts the program with two ranks as jobs are started. Returns its exit status; below 0: *err. */
static int start_two(struct doctor *doctor, const struct kind *kind, const char *program,
                     struct pleat_string *output, struct pleat_error *err)
{
    char pmi[4200], loopback[4200], *preload = NULL;
    bool changed;
    char **env = pleat_detach_environment(environ, &preload, &changed);
    struct pleat_launch_command command;
    const char *const argv[] = {program, NULL};
    struct pleat_launch_request request = {.mpi = kind->mpi,
                                           .processes = 2,
                                           .argv = argv,
                                           .env = (const char *const *)env,
                                           .scratch = *doctor->scratch ? doctor->scratch : NULL,
                                           .oversubscribed = true,
                                           .is_root = geteuid() == 0};
    int rc = kind->mpi == PLEAT_MPI_MPICH ? pleat_launch_pmi(pmi, sizeof(pmi), err)
                                          : pleat_launch_loopback(loopback, sizeof(loopback), err);
    if (rc)
        return -1;
    if (kind->mpi == PLEAT_MPI_MPICH)
        request.pmi = pmi;
    else
        request.loopback = loopback;
    if (pleat_launch_compose(&request, &command, err))
        return -1;
    return doctor_execute(command.argv, command.env, output);
}

static void tell_started(struct doctor *doctor, const struct kind *kind, const char *line,
                         const char *launcher_version)
{
    char version[64];
    const char *library = strstr(line, "ranks: ");
    library = library ? library + strlen("ranks: ") : "";
    doctor_tell(doctor, DOCTOR_OK, "start", NULL, "two ranks started and met");
    version_of(library, version, sizeof(version));
    if (*version && *launcher_version && strcmp(version, launcher_version))
        doctor_tell(doctor, DOCTOR_WARNING, "libpleat",
                    "have programs, libpleat and launcher of one version: see PATH, "
                    "LD_LIBRARY_PATH and loaded modules",
                    "libpleat runs with %.100s, but the launcher is version %s", library,
                    launcher_version);
    else
        doctor_tell(doctor, DOCTOR_OK, "libpleat", NULL, "%s works with %.100s", kind->library,
                    library);
}

/* The line of `output` that the program printed, ended; NULL: it printed none. */
static const char *told_line(const struct pleat_string *output)
{
    char *line = output->text ? strstr(output->text, "pleat-try ") : NULL;
    if (line)
        line[strcspn(line, "\n")] = '\0';
    return line ? line + strlen("pleat-try ") : NULL;
}

static void try_start(struct doctor *doctor, const struct kind *kind, const char *program,
                      const char *launcher_version)
{
    struct pleat_string output = {0};
    struct pleat_error err = {0};
    int status = start_two(doctor, kind, program, &output, &err);
    const char *line = told_line(&output);
    if (status < 0)
        doctor_tell(doctor, DOCTOR_FAILED, "start", "see the check 'programs'", "%s", err.text);
    else if (line && !strncmp(line, "libpleat", strlen("libpleat")))
        doctor_tell(doctor, DOCTOR_FAILED, "libpleat", "install Pleat's libraries of one version",
                    "two ranks started, but %s", line);
    else if (line && !strncmp(line, "2 of 2", strlen("2 of 2")) && status == 0)
        tell_started(doctor, kind, line, launcher_version);
    else if (line && status == 0)
        doctor_tell(doctor, DOCTOR_FAILED, "start",
                    "the program's MPI is not the launcher's: see PATH and LD_LIBRARY_PATH",
                    "two ranks were started, but did not meet: %s", line);
    else
        doctor_tell(doctor, DOCTOR_FAILED, "start",
                    "run a program of this MPI by hand; if that works, report this",
                    "a start of two ranks ended with %d: %s", status, doctor_first_line(&output));
    pleat_string_finish(&output);
}

static void look_at(struct doctor *doctor, const struct kind *kind)
{
    char version[64], file[64], program[4200], advice[200];
    struct pleat_launch_detected detected;
    struct pleat_error err;
    if (!look_at_launcher(doctor, kind, version, sizeof(version)))
        return;
    look_at_folding(doctor, kind);
    snprintf(file, sizeof(file), "pleat-try-%s", pleat_mpi_name(kind->mpi));
    snprintf(advice, sizeof(advice), "if programs of %s are to change their size, install %s0",
             kind->name, kind->library);
    if (pleat_launch_library(file, program, sizeof(program), &err))
        doctor_tell(doctor, DOCTOR_UNCHECKED, "libpleat", advice, "%s is not installed: %s",
                    kind->library, err.text);
    else if (pleat_launch_detect(program, &detected, &err))
        doctor_tell(doctor, DOCTOR_FAILED, "libpleat", "install Pleat anew", "%s", err.text);
    else if (detected.mpi != kind->mpi || !detected.malleable)
        doctor_tell(doctor, DOCTOR_FAILED, "libpleat", "install Pleat anew",
                    "%s is linked with another MPI, or without libpleat", program);
    else
        try_start(doctor, kind, program, version);
}

void doctor_openmpi(struct doctor *doctor)
{
    look_at(doctor, &openmpi);
}

void doctor_mpich(struct doctor *doctor)
{
    look_at(doctor, &mpich);
}
