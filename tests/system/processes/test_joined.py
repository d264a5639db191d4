"""apps/joined and small programs in other languages: added processes are joined to a communicator of MPI's."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUFFERED, NODES, daemon

JOINED = os.path.join(daemon.BUILD, "apps", "joined")
MPICH = os.path.join(daemon.BUILD, "apps", "mpich", "joined")
LIBRARY = os.path.join(daemon.BUILD, "lib")
HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "include"
LOOPBACK = ("0100007F:", "00000000000000000000000001000000:")
SANITIZED = not os.path.isdir(os.path.join(daemon.BUILD, "python"))
pytestmark = pytest.mark.skipif(not os.path.exists(JOINED), reason="built without MPI")


def result(pleat, number, processors=8):
    """What it has printed; nothing is left of it."""
    ended = pleat.wait_end(number)
    assert ended["state"] == "done", (ended, pleat.output(number), pleat.output(number, "stderr"))
    assert pleat.output(number, "stderr") == ""
    pleat.wait_free(processors)
    return pleat.output(number)


@pytest.mark.parametrize("policy", ["none", "periodic"])
def test_added_processes_join_and_leave(pleat, policy):
    if policy == "periodic":
        pleat.configure(text=BUFFERED)
    number = pleat.submit("--evolving", "--max", 5, "--", JOINED, "--ranks", 4, "--rounds", 2)
    assert result(pleat, number) == "RESULT ok joins=6 leaves=3 lost=0\n"


def test_processes_of_the_start_are_joined_too(pleat):
    number = pleat.submit("--evolving", "-n", 2, "--max", 4, "--", JOINED, "--ranks", 3)
    assert result(pleat, number) == "RESULT ok joins=2 leaves=0 lost=0\n"


def test_those_on_another_node_are_joined(pleat):
    """Two agents on this machine; hosts of their own: tests/system/slurm/test_evolving.py."""
    pleat.configure(text=NODES)
    number = pleat.submit("--evolving", "-n", 2, "--max", 4, "--", JOINED, "--ranks", 4, "--rounds", 2)
    assert result(pleat, number, 4) == "RESULT ok joins=6 leaves=3 lost=0\n"


AWAY = """
import sys
from pleat import errors, joining, processes
with processes.begin() as everybody:
    joining.prepare(everybody)
    from mpi4py import MPI
    if everybody.begun is processes.STARTED:
        leader = everybody.add().process if everybody.self == 0 else None
        message = everybody.receive(leader) if leader else None
        print(message.data.decode() if message else "", flush=True)
    elif everybody.parent == 0:
        other = everybody.add().process
        try:
            joining.join(everybody, MPI.COMM_SELF, other, 60)
        except errors.UnsupportedError as error:
            everybody.receive(other)
            everybody.stop(other)
            everybody.send(0, str(error).encode())
    else:
        everybody.send(everybody.parent, b"MPI has begun")
"""


@pytest.mark.skipif(SANITIZED, reason="a sanitizer comes with programs in C")
def test_rank_0_has_to_be_on_the_node_of_process_0(pleat, tmp_path):
    program(tmp_path, ".py")
    pleat.configure(text=NODES)
    env = ["--env", f"PYTHONPATH={os.path.join(daemon.BUILD, 'python')}"]
    number = pleat.submit("--evolving", "-n", 2, "--max", 4, *env, "--", sys.executable, "-c", AWAY)
    assert "rank 0 is on another node than process 0 of the run: let process 0, or" in result(pleat, number, 4)


def test_one_that_dies_before_it_joins_holds_up_nobody(pleat):
    number = pleat.submit("--evolving", "--max", 5, "--", JOINED, "--ranks", 4, "--lose", 2)
    told = result(pleat, number).splitlines()
    assert re.match(r"process 2 was not joined: process 2 is gone \(it died\)", told[0]), told
    assert told[1:] == ["RESULT ok joins=3 leaves=0 lost=1"]


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's library comes before one that is preloaded")
@pytest.mark.parametrize("connects", [0, 1])
def test_one_that_dies_while_it_is_joined_ends_the_run(pleat, connects):
    """No call of MPI returns then, whether rank 0 waits in it alone, or all do; those who are in it say so, and end."""
    preloaded = os.path.join(daemon.BUILD, "tests", "libprocess-dies-connecting.so")
    number = pleat.submit("--evolving", "--max", 5, "--env", f"LD_PRELOAD={preloaded}", "--env", f"PLEAT_TEST_DIES=2:{connects}",
                          "--", JOINED, "--ranks", 4)
    assert pleat.wait_end(number)["state"] == "failed"
    text = "pleat: process 0 ends: process 2 died while it was being joined to a communicator, and the call of MPI that waits"
    daemon.wait_until(lambda: text in pleat.output(number, "stderr"), f"it says why: {pleat.output(number, 'stderr')!r}", 10)
    pleat.wait_free()


def listening(pids):
    """The addresses on which these processes listen, as in /proc/net/tcp."""
    inodes = set()
    for pid in pids:
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{fd}"))
                inodes |= {found[1]} if found else set()
        except OSError:
            pass  # it has ended
    rows = [row.split() for name in ("tcp", "tcp6") for row in open(f"/proc/net/{name}", encoding="ascii").readlines()[1:]]
    return [row[1] for row in rows if row[3] == "0A" and row[9] in inodes]


@pytest.mark.parametrize("preloaded", [False, True])
def test_only_this_user_reaches_it_and_it_can_be_cancelled(pleat, preloaded):
    """Open MPI's daemons, and with libpleat-loopback preloaded also the processes."""
    env = ["--env", f"LD_PRELOAD={LIBRARY}/libpleat-loopback.so"] if preloaded else []
    number = pleat.submit("--evolving", "--max", 4, *env, "--", JOINED, "--ranks", 3, "--rounds", 10000)
    pleat.wait_size(number, 3)
    def looked_at():
        return [pid for pid in pleat.job_pids(number) if preloaded or daemon.comm_of(pid) in ("orted", "ompi-server")]
    addresses = daemon.wait_until(lambda: listening(looked_at()), "its daemons listen")
    assert not [address for address in addresses if not address.startswith(LOOPBACK)]
    pleat.call("cancel", job=number)
    assert pleat.wait_end(number)["state"] == "cancelled"
    pleat.wait_free()


def test_alone(tmp_path):
    env = {name: value for name, value in os.environ.items() if not name.startswith("PLEAT_PROCESS")}
    done = subprocess.run([JOINED, "--ranks", "1"], env=env | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "RESULT ok joins=0 leaves=0 lost=0\n"), done
    done = subprocess.run([JOINED], env=env | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "pleat run --evolving" in done.stdout, done


@pytest.mark.skipif(not os.path.exists(MPICH), reason="built without MPICH")
def test_mpich_is_refused(pleat):
    number = pleat.submit("--evolving", "--max", 4, "--", MPICH)
    assert pleat.wait_end(number)["state"] == "failed"
    told = pleat.output(number)
    assert "process 0: prepare: with MPICH an added process cannot be joined" in told, told
    assert "pleat_process_send" in told and "--malleable" in told, told
    pleat.wait_free()


def program(tmp, suffix):
    if suffix == ".py":
        if subprocess.run([sys.executable, "-c", "import mpi4py"], check=False, stderr=subprocess.DEVNULL).returncode:
            pytest.skip("no mpi4py")
        return [sys.executable, HERE / "two.py"]
    wrapper = shutil.which({".cpp": "mpicxx.openmpi", ".f90": "mpifort.openmpi"}[suffix])
    if not wrapper or (suffix == ".f90" and not shutil.which("gfortran")):
        pytest.skip("no compiler")
    flags = ["-std=c++11", "-DOMPI_SKIP_MPICXX", f"-I{INCLUDE}"]
    if suffix == ".f90":
        flags = [f"-J{tmp}", INCLUDE / "pleat.f90", INCLUDE / "pleat-process.f90"]
    subprocess.run([wrapper, *flags, HERE / f"two{suffix}", "-o", tmp / "two", f"-L{LIBRARY}", "-lpleat-openmpi", "-lpleat-process",
                    f"-Wl,-rpath,{LIBRARY}"], check=True, timeout=120)
    return [tmp / "two"]


@pytest.mark.skipif(SANITIZED, reason="a sanitizer comes with programs in C")
@pytest.mark.parametrize("suffix", [".cpp", ".f90", ".py"])
def test_other_languages(pleat, tmp_path, suffix):
    path = os.path.join(daemon.BUILD, "python")
    number = pleat.submit("--evolving", "--max", 3, "--env", f"PYTHONPATH={path}", "--", *program(tmp_path, suffix))
    assert result(pleat, number) == "3 of 1\n"
