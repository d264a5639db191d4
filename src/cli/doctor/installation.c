/* What is installed, and how it is configured. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor/check.h"
#include "launch/library.h"

static const char install_anew[] = "install Pleat anew, all of its programs together";

/* Whether others than its owner and root can replace the file. */
static bool open_to_others(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 &&
           ((st.st_mode & S_IWOTH) || (st.st_uid && st.st_uid != geteuid()));
}

static bool look_at_program(struct doctor *doctor, const char *name)
{
    char path[4200], wanted[80];
    struct pleat_string output = {0};
    struct pleat_error err;
    char *argv[] = {path, (char *)"--version", NULL};
    bool good = false;
    snprintf(wanted, sizeof(wanted), "%s " PLEAT_VERSION, name);
    if (pleat_paths_beside(name, path, sizeof(path), &err)) {
        doctor_tell(doctor, DOCTOR_FAILED, name, install_anew, "%s", err.text);
        return false;
    }
    if (access(path, X_OK)) {
        doctor_tell(doctor, DOCTOR_FAILED, name, install_anew, "%s: %s", path, strerror(errno));
        return false;
    }
    int status = doctor_execute(argv, NULL, &output);
    const char *line = doctor_first_line(&output);
    if (status)
        doctor_tell(doctor, DOCTOR_FAILED, name, install_anew, "'%s --version' ended with %d: %s",
                    path, status, line);
    else if (strcmp(line, wanted))
        doctor_tell(doctor, DOCTOR_FAILED, name, install_anew, "%s is '%s', but this is %s", path,
                    line, PLEAT_VERSION);
    else if (open_to_others(path))
        doctor_tell(doctor, DOCTOR_WARNING, name, "have it belong to you or to root, and chmod o-w",
                    "others could replace %s", path);
    else
        good = true;
    pleat_string_finish(&output);
    return good;
}

void doctor_programs(struct doctor *doctor)
{
    static const char *const names[] = {"pleatd",       "pleat-agent", "pleat-pmi",
                                        "pleat-remote", "pleat-slurm", "pleat-gridengine"};
    const size_t count = sizeof(names) / sizeof(names[0]);
    char path[4200];
    struct pleat_error err;
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = look_at_program(doctor, names[i]) && good;
    if (pleat_launch_loopback(path, sizeof(path), &err)) {
        doctor_tell(doctor, DOCTOR_FAILED, "libpleat-loopback", install_anew, "%s", err.text);
        good = false;
    }
    if (good)
        doctor_tell(doctor, DOCTOR_OK, NULL, NULL,
                    "pleatd and the %zu programs that are started for it are version %s, as this "
                    "program",
                    count - 1, PLEAT_VERSION);
}

void doctor_configuration(struct doctor *doctor)
{
    char path[4200];
    struct pleat_string output = {0};
    struct pleat_error err;
    char *argv[] = {path, (char *)"--check", NULL};
    if (pleat_paths_beside("pleatd", path, sizeof(path), &err) || access(path, X_OK)) {
        doctor_tell(doctor, DOCTOR_UNCHECKED, NULL, install_anew, "there is no pleatd to read it");
        return;
    }
    int status = doctor_execute(argv, NULL, &output);
    if (status)
        doctor_tell(doctor, DOCTOR_FAILED, NULL,
                    "mend the line; 'pleatd --check' says whether the file is good now", "%s",
                    doctor_first_line(&output));
    else
        doctor_tell(doctor, DOCTOR_OK, NULL, NULL, "%s", doctor_first_line(&output));
    pleat_string_finish(&output);
}
