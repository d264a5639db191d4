#include "slurm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TENTHS_MOST 900 /* tenths of a second to wait until something has happened */

static char dir[512];
static char script[600];
static pid_t munged, controller, node; /* 0: not running */

static const char *find(const char *program)
{
    static char path[64];
    static const char *const places[] = {"/usr/sbin", "/usr/bin", "/usr/local/sbin",
                                         "/usr/local/bin"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", places[i], program);
        if (!access(path, X_OK))
            return path;
    }
    return NULL;
}

const char *bench_slurm_missing(void)
{
    static const char *const programs[] = {"slurmctld", "slurmd", "munged", "sbatch",
                                           "squeue",    "sinfo",  "scancel"};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        if (!find(programs[i]))
            return programs[i];
    return NULL;
}

const char *bench_slurm_script(void)
{
    return script;
}

static bool put(const char *name, const void *bytes, size_t size, mode_t mode)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    bool done = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
    if (fd >= 0)
        close(fd);
    return done;
}

/* A port that nobody listened on a moment ago. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int port = fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address)) &&
                       !getsockname(fd, (struct sockaddr *)&address, &size)
                   ? ntohs(address.sin_port)
                   : 0;
    if (fd >= 0)
        close(fd);
    return port;
}

static bool write_files(void)
{
    static const char job[] = "#!/bin/sh\nexec sleep 100000\n";
    char text[4096], host[256], key[1024];
    const struct passwd *me = getpwuid(geteuid());
    if (!me || gethostname(host, sizeof(host)) || getrandom(key, sizeof(key), 0) != sizeof(key))
        return false;
    host[sizeof(host) - 1] = 0;
    host[strcspn(host, ".")] = 0;
    int length = snprintf(
        text, sizeof(text),
        "ClusterName=bench\nSlurmctldHost=%s(127.0.0.1)\nSlurmctldPort=%d\n"
        "SlurmUser=%s\nSlurmdUser=%s\n"
        "AuthType=auth/munge\nAuthInfo=socket=%s/munge.socket\nCredType=cred/munge\n"
        "StateSaveLocation=%s/state\nSlurmdSpoolDir=%s/spool\n"
        "SlurmctldPidFile=%s/slurmctld.pid\nSlurmdPidFile=%s/slurmd.pid\n"
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
        "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/backfill\n"
        "SwitchType=switch/none\nMpiDefault=none\nReturnToService=2\nMailProg=/bin/true\n"
        "SlurmdParameters=config_overrides\nKillWait=1\nMaxJobCount=200000\n"
        "NodeName=bench NodeHostname=localhost NodeAddr=127.0.0.1 Port=%d CPUs=4 RealMemory=100\n"
        "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
        host, free_port(), me->pw_name, me->pw_name, dir, dir, dir, dir, dir, free_port());
    return length > 0 && (size_t)length < sizeof(text) &&
           put("slurm.conf", text, (size_t)length, 0644) &&
           put("munge.key", key, sizeof(key), 0600) && put("job.sh", job, sizeof(job) - 1, 0755);
}

/* Starts a program in the foreground, with its output in a file; it is ended when this process
 * ends. */
static pid_t start(const char *log, char *const argv[])
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid)
        return pid > 0 ? pid : 0;
    char path[600];
    snprintf(path, sizeof(path), "%s/%s", dir, log);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || getppid() != parent)
        _exit(127);
    execv(argv[0], argv);
    _exit(127);
}

static pid_t start_munged(void)
{
    static const char *const names[] = {"key-file", "socket", "pid-file", "log-file", "seed-file"};
    static char options[5][640];
    /* --force: munged wants its socket to be accessible to everybody; here only this user may use
     * it */
    char *argv[] = {strdup(find("munged")), "-F", "-f", NULL, NULL, NULL, NULL, NULL, NULL};
    for (int i = 0; i < 5; i++) {
        snprintf(options[i], sizeof(options[i]), "--%s=%s/munge.%.*s", names[i], dir,
                 (int)strcspn(names[i], "-"), names[i]);
        argv[3 + i] = options[i];
    }
    pid_t pid = start("munged.out", argv);
    free(argv[0]);
    return pid;
}

static pid_t start_slurm(const char *daemon, const char *log)
{
    static char conf[600];
    snprintf(conf, sizeof(conf), "%s/slurm.conf", dir);
    bool is_node = !strcmp(daemon, "slurmd");
    char *argv[] = {strdup(find(daemon)),     "-D", "-f", conf, is_node ? "-N" : "-i",
                    is_node ? "bench" : NULL, NULL};
    pid_t pid = start(log, argv);
    free(argv[0]);
    return pid;
}

/* Whether the command prints `want` as its first line ("": nothing). */
static bool prints(const char *command, const char *want)
{
    char line[256] = "";
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return false;
    if (!fgets(line, sizeof(line), pipe))
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    while (fgetc(pipe) != EOF)
        ;
    return pclose(pipe) == 0 && !strcmp(line, want);
}

static bool until_prints(const char *command, const char *want, int tenths)
{
    for (int i = 0; i < tenths; i++) {
        if (prints(command, want))
            return true;
        usleep(100000);
    }
    return false;
}

static bool socket_comes(void)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/munge.socket", dir);
    for (int i = 0; i < TENTHS_MOST; i++) {
        if (waitpid(munged, NULL, WNOHANG)) {
            munged = 0;
            return false;
        }
        if (!access(path, F_OK))
            return true;
        usleep(100000);
    }
    return false;
}

bool bench_slurm_start(const char *directory, char *why, size_t size)
{
    char path[600], command[800];
    snprintf(dir, sizeof(dir), "%s/slurm", directory);
    snprintf(script, sizeof(script), "%s/job.sh", dir);
    const char *step = "its files";
    bool ok = !mkdir(dir, 0755);
    snprintf(path, sizeof(path), "%s/state", dir);
    ok = ok && !mkdir(path, 0755);
    snprintf(path, sizeof(path), "%s/spool", dir);
    ok = ok && !mkdir(path, 0755) && write_files();
    snprintf(path, sizeof(path), "%s/slurm.conf", dir);
    setenv("SLURM_CONF", path, 1);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* slurmd lets go of what runs its jobs */
    if (ok) {
        step = "munged";
        munged = start_munged();
        ok = munged && socket_comes();
    }
    if (ok) {
        step = "slurmctld and slurmd";
        controller = start_slurm("slurmctld", "slurmctld.out");
        node = start_slurm("slurmd", "slurmd.out");
        ok = controller && node && until_prints("sinfo -h -o %T 2>/dev/null", "idle", TENTHS_MOST);
    }
    if (ok) {
        step = "a job";
        snprintf(command, sizeof(command),
                 "sbatch --parsable --exclusive -n 4 -D / -o /dev/null %s 2>/dev/null", script);
        ok = prints(command, "1") &&
             until_prints("squeue -h -o %T 2>/dev/null", "RUNNING", TENTHS_MOST);
    }
    if (ok)
        return true;
    snprintf(why, size, "the cluster for sbatch does not start: %s; see %s/*.out", step, dir);
    bench_slurm_stop();
    return false;
}

static void end(pid_t *pid)
{
    if (!*pid)
        return;
    kill(*pid, SIGTERM);
    for (int i = 0; i < TENTHS_MOST; i++) {
        if (waitpid(*pid, NULL, WNOHANG)) {
            *pid = 0;
            return;
        }
        usleep(100000);
    }
    kill(*pid, SIGKILL);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

void bench_slurm_stop(void)
{
    bool ran = controller && node;
    if (ran && prints("scancel --quiet --state=PENDING -u $(id -un) 2>&1", "") &&
        prints("scancel --quiet -u $(id -un) 2>&1", ""))
        until_prints("squeue -h 2>/dev/null", "", TENTHS_MOST);
    end(&node);
    end(&controller);
    end(&munged);
    for (int i = 0; ran && i < TENTHS_MOST && waitpid(-1, NULL, WNOHANG) >= 0; i++)
        usleep(10000);
}
