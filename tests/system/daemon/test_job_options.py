"""What a job can be given: files, environment, a time limit; batch scripts."""

import ctypes
import getpass
import os
import shutil

import pytest

from conftest import LOOP, PLEAT, is_alive, loop, until_file, wait_until


def write(pleat, name, text, mode=0o600):
    path = pleat.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def read(pleat, name):
    with open(pleat.path(name), encoding="utf-8") as file:
        return file.read()


def run(pleat, *words, code=0):
    return pleat.pleat("run", *words, check=code)


class Readers:
    """Whether anybody has had a file open for reading, and closed it."""

    IN_CLOSE_NOWRITE = 0x10

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self.fd >= 0 and libc.inotify_add_watch(self.fd, os.fsencode(path), self.IN_CLOSE_NOWRITE) >= 0, ctypes.get_errno()

    def any(self):
        try:
            return bool(os.read(self.fd, 1 << 12))
        except BlockingIOError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


def test_umask(pleat):
    """What a job makes is as open as its user's shell would make it, not as Pleat's own files."""
    for mask in (0o022, 0o027):
        before = os.umask(mask)
        try:
            run(pleat, "sh", "-c", f"touch made-{mask:o}")
        finally:
            os.umask(before)
        assert os.stat(pleat.path(f"made-{mask:o}")).st_mode & 0o777 == 0o666 & ~mask


def test_files(pleat):
    os.mkdir(pleat.path("sub"))
    write(pleat, "in.txt", "one\ntwo\n")
    write(pleat, "sub/out", "old\n")
    run(pleat, "--input", "../in.txt", "--output", "out", "--error", "%x.%j-%u%%", "--name", "a/b",
        "--chdir", "sub", "sh", "-c", "cat; echo err >&2")
    assert read(pleat, "sub/out") == "one\ntwo\n"
    assert read(pleat, f"sub/a_b.1-{getpass.getuser()}%") == "err\n"
    job = pleat.job(1)
    assert job["stdout"] == pleat.path("sub/out") and job["input"] == "../in.txt"
    assert os.listdir(pleat.path("jobs/1")) == ["run"]  # which run of it was the last
    assert pleat.pleat("log", 1, check=0).stdout == "one\ntwo\n"
    assert pleat.pleat("log", "--stderr", 1, check=0).stdout == "err\n"

    run(pleat, "--output", "sub/out", "--error", "sub/out", "--append",
        "sh", "-c", "echo more; echo and >&2")
    assert read(pleat, "sub/out") == "one\ntwo\nmore\nand\n"
    # what is there already is shown, too: a file has one content
    assert pleat.pleat("log", 2, check=0).stdout == "one\ntwo\nmore\nand\n"

    done = run(pleat, "--input", "not-there", "true", code=125)
    assert "cannot open the input file" in done.stderr and "not-there" in done.stderr
    done = run(pleat, "--output", "no/such/directory/x", "true", code=125)
    assert "cannot open the output file" in done.stderr
    run(pleat, "--output", "/dev/null", "echo", "x")
    os.mkfifo(pleat.path("pipe"))
    with Readers(pleat.path("pipe")) as readers:
        done = run(pleat, "--output", "pipe", "echo", "x", code=125)  # nobody reads it: no waiting
        assert "cannot open the output file" in done.stderr and not readers.any()
        reader = os.open(pleat.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
        run(pleat, "--output", "pipe", "echo", "x")  # what shows a job's output is no reader, either: it looks at the end, too
        assert os.read(reader, 100) == b"x\n" and not readers.any()
        os.close(reader)
        assert readers.any()
    done = pleat.pleat("submit", "--output", "%q", "true", check=2)
    assert "'%q' in '%q' stands for nothing" in done.stderr


def test_environment(pleat):
    pleat.env["OTHER"] = "o"
    pleat.env["MINE"] = "m"

    def has(*options):
        out = run(pleat, *options, "env").stdout.splitlines()
        return dict(line.split("=", 1) for line in out if "=" in line)

    env = has("--env", "MINE=changed", "--env", "NEW=a b=c", "--env", "NEW=2")
    assert (env["MINE"], env["NEW"], env["OTHER"]) == ("changed", "2", "o")
    env = has("--export", "none")
    assert "MINE" not in env and "OTHER" not in env and env["PATH"] == pleat.env["PATH"]
    env = has("--export", "MINE,ABSENT", "--env", "OTHER=set")
    assert (env["MINE"], env["OTHER"]) == ("m", "set") and "ABSENT" not in env
    env = has("--min", "2", "--max", "5", "--initial", "3", "--moldable", "--name", "n", "--chdir", "/")
    assert {name: env[name] for name in env if name.startswith("PLEAT_") and name not in (
        "PLEAT_RUN", "PLEAT_NODE", "PLEAT_AGENT_PID", "PLEAT_DIR", "PLEAT_TEST_PROGRESS_MS")} == {
            "PLEAT_JOB": "4", "PLEAT_JOB_NAME": "n", "PLEAT_PROCESSORS": "3", "PLEAT_MIN": "2",
            "PLEAT_MAX": "5", "PLEAT_SUBMIT_DIR": pleat.dir}
    assert pleat.pleat("submit", "--env", "NOVALUE", "true", check=2).stderr.count("is not NAME=VALUE")


def test_what_is_about_another_job_is_not_passed_on(pleat):
    pleat.env.update(PLEAT_JOB="99", PLEAT_SCRIPT="/x", PLEAT_PROCESSORS="99")
    out = run(pleat, "sh", "-c", "echo $PLEAT_JOB $PLEAT_PROCESSORS ${PLEAT_SCRIPT-none}").stdout
    assert out == "1 1 none\n"


def test_time_limit(pleat):
    job = pleat.submit("--time-limit", "1s", "sleep", "1000")
    shown = pleat.job(job)
    assert (shown["limit_s"], shown["estimate_s"]) == (1, 1)
    shown = pleat.wait_end(job)
    assert (shown["state"], shown["reason"]) == ("failed", "time limit reached")
    assert shown["run_s"] >= 1
    # changed while it runs: what has passed counts
    longer = pleat.submit("--time-limit", "1000000s", "--estimate", "5s", "sleep", "1000")
    assert pleat.job(longer)["estimate_s"] == 5
    pleat.wait_for(longer, "running")
    assert "time limit" in pleat.pleat("show", longer, check=0).stdout
    pleat.pleat("limits", longer, "--time-limit", "none", check=0)
    assert pleat.job(longer)["limit_s"] is None
    pleat.pleat("limits", longer, "--time-limit", "10ms", check=2)
    pleat.pleat("limits", longer, "--time-limit", "0.1s", check=0)
    assert pleat.wait_end(longer)["reason"] == "time limit reached"
    assert pleat.pleat("limits", longer, "--time-limit", "1h", check=1).stderr
    assert "must be above 0" in pleat.pleat("submit", "--time-limit", "0", "true", check=2).stderr


SCRIPT = """#!/bin/sh
# a job
#PLEAT -n 3 --name 'the job'
#PLEAT --output from-%j.txt   # where it goes

echo "$PLEAT_JOB $PLEAT_PROCESSORS $PLEAT_JOB_NAME"
echo "$(basename "$0") $PLEAT_SCRIPT $PLEAT_SUBMIT_DIR $*"
echo "$0" > where
while [ ! -e go ]; do sleep 0.05; done
echo end
#PLEAT --name late
"""


def test_a_script_is_taken_when_it_is_submitted(pleat):
    """Its copy runs, at the same name, with what was in it then; and is removed."""
    path = write(pleat, "job.sh", SCRIPT)  # not executable: that does not matter
    done = pleat.pleat("submit", "job.sh", "x", "y z", check=0)
    assert "job.sh:11: this #PLEAT line is not read" in done.stderr
    number = int(done.stdout)
    wait_until(lambda: os.path.exists(pleat.path("where")) and read(pleat, "where"), "it runs")
    copy = read(pleat, "where").strip()
    assert copy == pleat.path(f"scripts/{number}/job.sh")
    assert os.stat(copy).st_mode & 0o777 == 0o700
    assert os.stat(os.path.dirname(copy)).st_mode & 0o777 == 0o700
    write(pleat, "job.sh", "#!/bin/sh\necho changed\n")
    assert pleat.job(number)["script"] == SCRIPT
    assert "script" not in pleat.call("jobs", all=True)["jobs"][0]
    write(pleat, "go", "")
    job = pleat.wait_end(number)
    assert (job["state"], job["name"], job["min"], job["max"]) == ("done", "the job", 3, 3)
    assert job["argv"] == [path, "x", "y z"]
    assert read(pleat, f"from-{number}.txt") == \
        f"{number} 3 the job\njob.sh {path} {pleat.dir} x y z\nend\n"
    wait_until(lambda: not os.path.exists(os.path.dirname(copy)), "the copy is removed")
    assert run(pleat, "./job.sh").stdout == "changed\n"


def test_the_command_line_wins(pleat):
    write(pleat, "job.sh", "#!/bin/sh\n#PLEAT -n 4 --name script --priority 3\n#PLEAT --env A=1\n"
          "echo $PLEAT_MIN $PLEAT_MAX $PLEAT_JOB_NAME $A\n")
    assert run(pleat, "job.sh").stdout == "4 4 script 1\n"
    assert run(pleat, "-n", "2", "--name", "line", "--env", "A=2", "job.sh").stdout == "2 2 line 2\n"
    assert run(pleat, "--min", "2", "--max", "6", "--moldable", "job.sh").stdout == "2 6 script 1\n"
    assert pleat.job(3)["priority"] == 3


@pytest.mark.parametrize("text, said", [
    ("#!/bin/sh\n\n#PLEAT --mim 2\n", "job.sh:3: unknown option '--mim'; did you mean '--min'?"),
    ("#!/bin/sh\n#PLEAT --min\n#PLEAT 2\n", "job.sh:2: option '--min' needs a value"),
    ("#!/bin/sh\n#PLEAT -n two\n", "job.sh:2: --processors: 'two' is not a whole number"),
    ("#!/bin/sh\n#PLEAT -n 2 sleep\n", "job.sh:2: 'sleep' is no option"),
    ("#!/bin/sh\n#PLEAT --name 'x\n", "job.sh:2: a ' is not closed"),
    ("#PLEAT -n 2\n", "job.sh:1: a batch script begins with its interpreter"),
    ("#!/bin/sh\r\n#PLEAT -n 2\r\n", "job.sh:1: its lines end as on DOS"),
    ("#!/bin/sh\n#PLEAT --help\n", "job.sh:2: unknown option '--help'"),
])
def test_wrong_scripts(pleat, text, said):
    write(pleat, "job.sh", text)
    done = pleat.pleat("submit", "job.sh", check=2)
    assert said in done.stderr and done.stdout == ""


def test_scripts_that_are_run_where_they_are(pleat):
    write(pleat, "binary.sh", "#!/bin/sh\necho $0\nexit\n\0\n", 0o755)
    done = run(pleat, "./binary.sh")
    assert done.stdout == pleat.path("binary.sh") + "\n" and "run where it is" in done.stderr
    os.mkdir(pleat.path("bin"))
    write(pleat, "bin/tool", "#!/bin/sh\n#PLEAT -n 7\necho $0 $PLEAT_PROCESSORS\n", 0o755)
    pleat.env["PATH"] = pleat.path("bin") + ":" + pleat.env["PATH"]
    assert run(pleat, "tool").stdout == pleat.path("bin/tool") + " 1\n"


def test_the_interpreter_is_honoured(pleat):
    write(pleat, "job.py", "#!/usr/bin/env python3\n#PLEAT -n 2\nimport os\n"
          "print(1 + 1, os.environ['PLEAT_PROCESSORS'])\n")
    assert run(pleat, "job.py").stdout == "2 2\n"
    write(pleat, "bad.sh", "#!/no/such/interpreter\n")
    done = run(pleat, "bad.sh", code=127)
    assert "interpreter" in done.stderr


def test_a_script_survives_the_daemon(pleat):
    """A daemon that died neither runs it twice nor forgets its copy."""
    write(pleat, "job.sh", "#!/bin/sh\necho run >> runs\nwhile [ ! -e go ]; do sleep 0.05; done\n")
    number = pleat.submit("job.sh")
    wait_until(lambda: os.path.exists(pleat.path("runs")), "it runs")
    pleat.kill_daemon()
    write(pleat, "go", "")
    wait_until(lambda: not any(map(is_alive, pleat.job_pids(number))), "it has ended meanwhile")
    assert pleat.wait_end(number)["state"] == "done" and read(pleat, "runs") == "run\n"
    wait_until(lambda: not os.listdir(pleat.path("scripts")), "the copy is removed")
    # one that was left by a daemon that died before it could remove it
    os.makedirs(pleat.path(f"scripts/{number}"), mode=0o700)
    write(pleat, f"scripts/{number}/job.sh", "x")
    pleat.kill_daemon()
    assert pleat.job(number)["state"] == "done"
    assert not os.listdir(pleat.path("scripts"))


# ---- notification

def told(pleat):
    return read(pleat, "told").splitlines() if os.path.exists(pleat.path("told")) else []


def events(pleat, job, kind):
    return [event for event in pleat.call("events", job=job)["events"] if event["kind"] == kind]


TELL = 'echo "$PLEAT_EVENT $PLEAT_JOB $PLEAT_STATE $PLEAT_EXIT_CODE $PLEAT_REASON" >> told'


def test_notification(pleat):
    run(pleat, "--notify", TELL, "--notify-on", "start,end,fail", "true")
    wait_until(lambda: len(told(pleat)) == 2, "start and end are told")
    assert [line.split()[:2] for line in told(pleat)] == [["start", "1"], ["end", "1"]]
    assert told(pleat)[1] == "end 1 done 0 exited"
    run(pleat, "--notify", TELL, "sh", "-c", "exit 3", code=3)  # end and fail, without being told so
    wait_until(lambda: len(told(pleat)) == 3, "the failure is told")
    assert told(pleat)[2].startswith("fail 2 failed 3")
    pleat.submit("-n", "8", "sleep", "1000")
    waiting = pleat.submit("-n", "8", "--notify", TELL, "true")
    pleat.pleat("cancel", waiting, check=0)  # it never ran
    wait_until(lambda: len(told(pleat)) == 4, "the cancellation is told")
    assert told(pleat)[3].startswith(f"fail {waiting} cancelled") and "cancelled" in told(pleat)[3]
    assert not [e for job in (1, 2, waiting) for e in events(pleat, job, "notify")]
    shown = pleat.pleat("show", 1, check=0).stdout
    assert "(on start, end, fail)" in shown
    assert "--notify-on needs --notify" in pleat.pleat("submit", "--notify-on", "end", "true",
                                                       check=2).stderr
    assert "'ends' is none of" in pleat.pleat("submit", "--notify", "x", "--notify-on", "end,ends",
                                              "true", check=2).stderr


def test_notifications_of_a_resize_and_a_warning(pleat):
    tell = 'echo "$PLEAT_EVENT $PLEAT_FROM $PLEAT_TO $PLEAT_OUTCOME $PLEAT_TEXT" >> told'
    number = pleat.submit("--notify", tell, "--notify-on", "resize,warning",
                          *loop(smallest=1, largest=4, more=("--initial", "2")))
    wait_until(lambda: "resize 2 4 grown " in told(pleat), "the growth is told")
    pleat.pleat("cancel", number, check=0)
    pleat.wait_end(number)
    broken = pleat.submit("--notify", tell, "--notify-on", "warning", "--input", "absent", "true")
    wait_until(lambda: any("absent" in line for line in told(pleat)), "the warning is told")
    assert pleat.wait_end(broken)["state"] == "failed"


def test_notifications_that_fail(pleat):
    """A failure is an event, once, and is not told itself; nothing waits for a slow one."""
    pleat.configure("notify_limit_s = 0.2")
    run(pleat, "--notify", "echo said; exit 9", "--notify-on", "end,warning", "true")
    wait_until(lambda: events(pleat, 1, "notify"), "the failure is an event")
    assert "ended with code 9" in events(pleat, 1, "notify")[0]["text"]
    assert read(pleat, "jobs/1/notify") == "said\n"
    run(pleat, "--notify", "sleep 1000", "true")
    run(pleat, "--notify", "kill -TERM $$", "true")
    run(pleat, "--notify", "no-such-command-at-all", "true")
    for job, text in ((2, "took more than 0 s and was ended"), (3, "was ended by signal 15"),
                      (4, "ended with code 127")):
        wait_until(lambda: events(pleat, job, "notify"), "it is an event")
        assert text in events(pleat, job, "notify")[0]["text"]
    assert [len(events(pleat, job, "notify")) for job in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert "notify: the command for" in pleat.pleat("events", 4, check=0).stdout


def test_nothing_is_told_twice(pleat):
    """Also not by a daemon that reads what another one wrote."""
    go = pleat.path("go")
    number = pleat.submit("--notify", TELL, "--notify-on", "start,end,fail", *until_file(go))
    wait_until(lambda: len(told(pleat)) == 1, "its start is told")
    for _ in range(2):
        pleat.kill_daemon()
        assert pleat.wait_for(number, "running")
    write(pleat, "go", "")
    pleat.wait_end(number)  # with 7
    wait_until(lambda: len(told(pleat)) == 2, "its end is told")
    pleat.kill_daemon()
    assert pleat.job(number)["state"] == "failed"
    later = pleat.submit("--notify", TELL, "true")
    wait_until(lambda: any(line.startswith(f"end {later}") for line in told(pleat)), "the next end")
    assert [line.split()[:2] for line in told(pleat)] == \
        [["start", str(number)], ["fail", str(number)], ["end", str(later)]]


def test_a_daemon_that_is_stopped_lets_them_end(pleat):
    number = pleat.submit("--notify", "sleep 0.3; " + TELL, "--notify-on", "end,fail", "sleep", "1000")
    pleat.wait_for(number, "running")
    pleat.pleat("stop", "--force", check=0)
    pleat.connection = None
    assert [line.split()[:2] for line in told(pleat)] == [["fail", str(number)]]


# ---- launch

def test_launch_needs_a_job(pleat):
    done = pleat.pleat("launch", "true", check=125)
    assert "not inside a job" in done.stderr
    write(pleat, "job.sh", f"#!/bin/sh\n{PLEAT} launch no-such-program || exit $?\n")
    done = run(pleat, "job.sh", code=127)
    assert "no-such-program" in done.stderr


def test_launch(pleat):
    """On as many processors as the job has, by the launcher of the program's MPI."""
    write(pleat, "job.sh", "#!/bin/sh\n#PLEAT -n 3\n"
          f"{PLEAT} launch sh -c 'echo one process'\n{PLEAT} launch -n 2 --print {LOOP} a\n"
          f"{PLEAT} launch --mpi mpich --print prog\n"
          f"exec {PLEAT} launch {LOOP} --iterations 3\n")
    write(pleat, "prog", "", 0o755)
    pleat.env["PATH"] += ":" + pleat.dir
    done = run(pleat, "job.sh")
    lines = done.stdout.splitlines()
    assert lines[0] == "one process" and "not linked with an MPI" in done.stderr
    assert "mpirun" in lines[1] and lines[1].endswith(f"-n 2 {LOOP} a")
    assert lines[2].endswith("/pleat-pmi -n 3 -- prog")
    assert "/dev/shm/pleat-" in lines[1]
    assert any("RESULT ok" in line for line in lines[3:]), lines
    assert "ranks=3" in done.stdout, done.stdout


@pytest.mark.parametrize("cpus", [[], ["taskset", "-c", "0"]], ids=["", "one-cpu"])
def test_a_plain_mpirun_takes_what_the_job_has(pleat, cpus):
    """Also where the job may use a single CPU, and whatever a job around it left in the environment."""
    pleat.env.update(OMPI_MCA_orte_set_default_slots="7", HYDRA_HOST_FILE="/nowhere")
    launchers = [name for name in ("mpirun.openmpi", "mpiexec.mpich") if shutil.which(name)]
    lines = [" ".join([*cpus, name, "sh -c", f"'echo one of {name}'"]) for name in launchers]
    write(pleat, "job.sh", "#!/bin/sh\n#PLEAT -n 3\n" + "\n".join(lines) + f"\n{PLEAT} launch {LOOP} --iterations 2\n")
    done = run(pleat, "job.sh")
    for name in launchers:
        assert done.stdout.count(f"one of {name}\n") == 3, (name, done.stdout, done.stderr)
    assert "ranks=3" in done.stdout


def test_sbatch_lines(pleat):
    write(pleat, "job.sh", "#!/bin/sh\n#SBATCH --job-name=s -n 2\n#SBATCH -t 1:30:00 --mem-per-cpu=4G\ntrue\n")
    done = pleat.pleat("submit", "job.sh", check=0)
    assert done.stderr.count("#SBATCH") == 1 and "--sbatch" in done.stderr and "job.sh:2" in done.stderr
    job = pleat.wait_end(int(done.stdout))
    assert (job["name"], job["min"], job["limit_s"]) == ("job.sh", 1, None)
    done = pleat.pleat("submit", "--sbatch", "--name", "mine", "job.sh", check=0)
    assert done.stderr.strip().endswith("these have no equivalent: --mem-per-cpu"), done.stderr
    job = pleat.wait_end(int(done.stdout))
    assert (job["name"], job["min"], job["max"], job["limit_s"]) == ("mine", 2, 2, 5400)
    write(pleat, "both.sh", "#!/bin/sh\n#SBATCH -n 2\n#PLEAT --sbatch --min 3 --max 4 --moldable\ntrue\n")
    job = pleat.wait_end(pleat.submit("both.sh"))
    assert (job["min"], job["max"]) == (3, 4)
    write(pleat, "bad.sh", "#!/bin/sh\n#SBATCH -n many\ntrue\n")
    done = pleat.pleat("submit", "--sbatch", "bad.sh", check=2)
    assert "bad.sh:2: --ntasks wants a number" in done.stderr


def test_a_malleable_script(pleat):
    """It prepares at its first size; what it launches is resized; the next one starts at that size."""
    write(pleat, "job.sh", "#!/bin/sh\n#PLEAT --min 1 --max 8 --initial 2 --malleable\n"
          f"{PLEAT} launch {LOOP} --resizes 1 --pause 5\n"
          f"{PLEAT} launch {LOOP} --iterations 3 --pause 5\n")
    number = pleat.submit("--name", "script", "job.sh")
    job = pleat.wait_end(number)
    assert (job["state"], job["kind"], job["grown"]) == ("done", "malleable", 1), pleat.output(number)
    sizes = [step["processors"] for step in pleat.job(number)["history"]["sizes"]]
    ranks = [line.split("ranks=")[1].split()[0]
             for line in pleat.output(number).splitlines() if "ranks=" in line]
    assert ranks[-1] == str([size for size in sizes if size][-1]), (sizes, ranks)
