"""pleat-pmi starts the processes of MPICH programs, and is to them what mpiexec is: but no other process can reach
it."""

import os
import select
import signal
import subprocess

import pytest

BUILD = os.environ["PLEAT_BUILD"]
PMI = os.path.join(BUILD, "bin", "pleat-pmi")
RANKS = os.path.join(BUILD, "tests", "test-pmi-ranks")
# as src/launch sets it: UCX would listen by itself
ENV = {**{k: v for k, v in os.environ.items() if not k.startswith(("PMI_", "LD_PRELOAD"))}, "UCX_TLS": "^tcp"}
LISTENING = "0A"


def run(*words, processes=3, **more):
    return subprocess.run([PMI, "-n", str(processes), "--", *words], env=ENV, capture_output=True, text=True, timeout=60,
                          check=False, **more)


def start(*words, processes=3):
    """Started, and all of its processes have said that they are ready."""
    process = subprocess.Popen([PMI, "-n", str(processes), "--", *words], env=ENV, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(processes):
        assert process.stdout.readline() == "ready\n"
    return process


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def program_of(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def listeners(pid):
    """Inodes of TCP sockets of that process which take connections."""
    waiting = set()
    for table in ("tcp", "tcp6"):
        try:
            with open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
                waiting |= {line.split()[9] for line in list(file)[1:] if line.split()[3] == LISTENING}
        except FileNotFoundError:
            pass
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        target = os.readlink(f"/proc/{pid}/fd/{fd}")
        if target.startswith("socket:[") and target[8:-1] in waiting:
            found.add(target)
    return found


def test_they_find_each_other():
    done = run(RANKS, "sum")
    assert (done.returncode, done.stdout, done.stderr) == (0, "sum 3\n", "")
    done = run(RANKS, "sum", processes=1)
    assert (done.returncode, done.stdout, done.stderr) == (0, "sum 0\n", "")
    done = run(RANKS, "sum", processes=9)
    assert (done.returncode, done.stdout, done.stderr) == (0, "sum 36\n", "")


def test_nobody_listens():
    process = start(RANKS, "wait")
    ranks = children(process.pid)
    assert len(ranks) == 3
    assert {pid: listeners(pid) for pid in [process.pid, *ranks]} == {pid: set() for pid in [process.pid, *ranks]}
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM
    assert process.stderr.read() == ""  # it was told to end: there is nothing to complain about
    assert all(is_gone(pid) for pid in ranks)


def test_standard_input_is_that_of_the_first():
    text = "".join(f"line {number}\n" for number in range(50000))
    done = run(RANKS, "cat", input=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == text


@pytest.mark.parametrize("how, number, code, said", [
    ("abort", 7, 7, "MPI_Abort(MPI_COMM_WORLD, 7)"),
    ("exit", 3, 3, "rank 1 (process "),
    ("exit", 0, 1, "without MPI_Finalize: all others were ended, too"),
    ("late", 3, 3, None),
    ("early", 3, 3, "ended with exit code 3, before MPI_Init: all others were ended, too"),
    ("early", 0, 1, "ended with exit code 0, before MPI_Init: all others were ended, too"),
    ("shot", signal.SIGKILL, 137, "was ended by signal 9 (Killed): all others were ended, too"),
    ("signal", signal.SIGKILL, 137, "was ended by signal 9 (Killed): all others were ended, too"),
    ("signal", signal.SIGSEGV, 139, "was ended by signal 11"),
    ("deaf", signal.SIGKILL, 137, "was ended by signal 9"),
])
def test_one_fails(how, number, code, said):
    """And with it all: the exit code is its own, whatever becomes of the others."""
    done = run(RANKS, how, str(int(number)))
    assert done.returncode == code, done
    if said:
        assert said in done.stderr and "BAD TERMINATION" not in done.stderr
    else:
        assert done.stderr == ""


def on_two_hosts(*words, options=(), **more):
    """Started by MPICH's own mpiexec, as on two hosts: ranks 0 and 1 on the first, 2 on the other."""
    hosts = f"localhost:2,{os.uname().nodename}:1"
    return subprocess.run(["mpiexec.mpich", "-launcher", "fork", "-iface", "lo", "-hosts", hosts, "-n", "3", PMI, "--rank",
                           *options, "--", *words], **{"env": ENV, **more}, capture_output=True, text=True, timeout=60,
                          check=False)


@pytest.mark.parametrize("how, number, code, said", [
    ("sum", 0, 0, None),
    ("abort", 7, 7, None),
    ("exit", 3, 3, "ended with exit code 3, without MPI_Finalize: all others were ended, too"),
    ("late", 3, 3, None),
    ("exit", 0, 1, "ended with exit code 0, without MPI_Finalize: all others were ended, too"),
    ("early", 3, 3, "ended with exit code 3, before MPI_Init: all others were ended, too"),
    ("early", 0, 1, "ended with exit code 0, before MPI_Init: all others were ended, too"),
    ("shot", signal.SIGKILL, None, None),
    ("signal", signal.SIGSEGV, None, None),
])
def test_one_fails_that_mpiexec_has_started(how, number, code, said):
    done = on_two_hosts(RANKS, how, str(int(number)))
    assert done.returncode == code if code is not None else done.returncode, done
    assert "pleat-pmi: rank 1 (process " in done.stderr and said in done.stderr if said else "pleat-pmi" not in done.stderr, done
    if how == "sum":
        assert done.stdout == "sum 3\n"


@pytest.mark.parametrize("gone", ["0", "2", "0 1", "1 2"])
@pytest.mark.parametrize("others", ["later", "before"])
def test_ranks_that_exit_before_the_others_call_mpi_init(gone, others):
    """With 0, on one host or on both: the others would wait for them for ever. The program says so, and ends with 1."""
    first, last = ("", "sleep 1;") if others == "later" else ("sleep 1;", "")
    done = on_two_hosts("sh", "-c", f'for gone in {gone}; do test $PMI_RANK = $gone && {{ {first} exit 0; }}; done; {last} exec "$@"', "sh",
                        RANKS, "sum")
    assert done.returncode == 1 and "ended with exit code 0, before MPI_Init: all others were ended, too" in done.stderr, done
    assert "sum" not in done.stdout


def test_a_program_of_mpi_that_does_not_come_to_mpi_init():
    """All exit before, at different times: that is no error."""
    done = on_two_hosts("sh", "-c", "sleep 0.$PMI_RANK; echo $PMI_RANK")
    assert (done.returncode, sorted(done.stdout.split()), done.stderr) == (0, ["0", "1", "2"], "")


def test_a_directory_that_is_another_one_on_each_node(tmp_path):
    """Under both launchers: what is in PLEAT_SCRATCH, and not where the launcher is."""
    env = {**ENV, "PLEAT_SCRATCH": str(tmp_path)}
    here = f"{tmp_path}\n{tmp_path}\n"
    done = on_two_hosts("sh", "-c", 'echo "$PWD"; pwd -P', options=("--scratch",), env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, here * 3, "")
    words = [PMI, "--scratch", "--", "sh", "-c", 'echo "$PWD"; pwd -P']
    assert subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout == here
    for scratch in ({"PLEAT_SCRATCH": "/nosuchdir"}, {}):
        done = subprocess.run(words, env={**ENV, **scratch}, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (125, "") and "cannot go to the directory PLEAT_SCRATCH" in done.stderr
    assert subprocess.run([PMI, "-n", "1", "--scratch", "true"], env=env, capture_output=True, check=False).returncode == 2


def test_no_mpi_program_that_mpiexec_has_started():
    done = on_two_hosts("sh", "-c", 'test "$PMI_RANK" = 1 || echo "$PMI_RANK"')
    assert (done.returncode, sorted(done.stdout.split()), done.stderr) == (0, ["0", "2"], "")
    done = on_two_hosts("./no-such-program")
    assert done.returncode == 127 and "No such file" in done.stderr
    # the first one has the input, and no other one waits for it
    done = on_two_hosts("cat", input="to rank 0\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "to rank 0\n", "")
    alone = subprocess.run([PMI, "--rank", "true"], env=ENV, capture_output=True, text=True, check=False)
    assert alone.returncode == 125 and "hydra" in alone.stderr


@pytest.mark.parametrize("others", ["later", "before"])
def test_one_that_ends_before_the_others_come(tmp_path, others):
    """Whether they call MPI_Init after it has ended or before, they would wait in it for ever."""
    go = tmp_path / "go"
    wait = f"until test -e {go}; do sleep 0.01; done;"
    last, first = (wait, "") if others == "later" else ("", wait)
    process = start("sh", "-c", f"echo ready; test $PMI_RANK = 1 && {{ {first} exit 3; }}; {last} exec {RANKS} sum")
    if others == "later":
        while len(children(process.pid)) > 2:
            select.select([], [], [], 0.01)
    else:
        while sum("ranks" in program_of(pid) for pid in children(process.pid)) < 2:
            select.select([], [], [], 0.01)
    go.touch()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3 and "before MPI_Init: all others were ended, too" in said, said


def test_no_more_can_be_started():
    done = run(RANKS, "spawn")
    assert done.returncode != 0 and "Error in spawn call" in done.stderr


def test_no_mpi_program():
    done = run("sh", "-c", "test $PMI_RANK = 1 && exit 5; echo $PMI_RANK $PMI_SIZE")
    assert (done.returncode, sorted(done.stdout.splitlines()), done.stderr) == (5, ["0 3", "2 3"], "")
    done = run("bash", "-c", "echo gut >&$PMI_FD; exec sleep 60")
    assert done.returncode == 1 and "does not speak PMI-1" in done.stderr
    done = run("sh", "-c", "printf 'mcmd=spawn\\nnprocs=1\\nendcmd\\n' >&$PMI_FD; read answer <&$PMI_FD; echo $answer",
               processes=1)
    assert done.stdout == "cmd=spawn_result info=not_supported rc=-1 msg=not_supported\n"
    assert "wants to start more processes" in done.stderr


def test_what_cannot_be_started(tmp_path):
    done = run("./no-such-program")
    assert done.returncode == 127 and "No such file" in done.stderr
    (tmp_path / "text").write_text("text")
    done = run(str(tmp_path / "text"))
    assert done.returncode == 126 and "Permission denied" in done.stderr
    assert subprocess.run([PMI, "-n", "0", "x"], capture_output=True, check=False).returncode == 2
    assert subprocess.run([PMI, "x"], capture_output=True, check=False).returncode == 2


def test_signals_reach_all():
    process = start("sh", "-c", "trap 'echo told; exit 0' USR1; echo ready; while :; do sleep 0.05; done")
    process.send_signal(signal.SIGUSR1)
    assert process.communicate(timeout=30) == ("told\n" * 3, "")
    assert process.returncode == 0


def test_a_second_request_kills():
    process = start("sh", "-c", "trap '' TERM INT; echo ready; while :; do sleep 0.05; done")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGKILL
    assert process.stderr.read() == ""


def test_they_do_not_outlive_it():
    process = start(RANKS, "wait")
    ranks = children(process.pid)
    process.kill()
    process.wait(30)
    for pid in ranks:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        assert select.select([fd], [], [], 30)[0]
        os.close(fd)


def test_lines_stay_whole():
    """MPICH writes parts of lines."""
    done = run("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do printf a; printf $PMI_RANK; printf 'b\\n'; done; printf end", processes=8)
    lines = done.stdout.replace("end", "").splitlines()
    assert sorted(lines) == sorted(f"a{rank}b" for rank in range(8) for _ in range(9))
    # a part of one, when nothing follows: somebody is asked for an answer
    with subprocess.Popen([PMI, "-n", "2", "sh", "-c", "test $PMI_RANK = 1 || { printf 'name? '; read name; echo $name; }"],
                          env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.read(6) == b"name? "
        process.stdin.write(b"x\n")
        process.stdin.close()
        assert process.stdout.read() == b"x\n"


def test_nobody_reads():
    """Then a process gets SIGPIPE, as everywhere; and before that it waits."""
    with subprocess.Popen([PMI, "-n", "2", "yes"], env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        assert process.stdout.read(4) == b"y\ny\n"
        process.stdout.close()
        assert process.wait(30) == 128 + signal.SIGPIPE
