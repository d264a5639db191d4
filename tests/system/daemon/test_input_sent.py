"""Standard input of `pleat run` goes to an agent that calls over TCP through pleatd: whole, once and in order."""

import hashlib
import os
import re
import subprocess

import pytest

from conftest import PLEAT, wait_until
from test_standard_input import RANKS
from test_tcp import proxied, tcp

TEXT = "".join(f"line {number} of many\n" for number in range(300000))  # 6 MB


def test_all_of_it_and_its_end(pleat):
    tcp(pleat)
    assert pleat.pleat("run", "--", "md5sum", given=TEXT, check=0).stdout == hashlib.md5(TEXT.encode()).hexdigest() + "  -\n"
    assert pleat.pleat("run", "--", "cat", given="", check=0).stdout == ""
    assert pleat.pleat("run", "--", "cat", check=0).stdout == ""
    assert pleat.pleat("run", "--", "true", given=TEXT, check=0).stdout == ""
    # it is text for nobody: any bytes
    some = bytes(range(256)) * 300
    done = subprocess.run([PLEAT, "run", "--", "md5sum"], env=pleat.env, input=some, capture_output=True, timeout=60, check=True)
    assert done.stdout.decode() == hashlib.md5(some).hexdigest() + "  -\n"
    assert not [name for name in os.listdir(pleat.dir) if name.startswith("stdin-")]


def test_line_by_line(pleat):
    tcp(pleat)
    with subprocess.Popen([PLEAT, "run", "--", "sh", "-c", "while read x; do echo got $x; done"], env=pleat.env,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for word in ("one", "two"):
            process.stdin.write(word + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"got {word}\n"
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.parametrize("mpi", ["openmpi", pytest.param("mpich", marks=pytest.mark.skipif(
    not os.path.exists(RANKS), reason="no MPICH"))])
def test_rank_0_has_it(pleat, mpi):
    tcp(pleat)
    code = 'case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 0) md5sum;; *) echo "others $(wc -c)";; esac'
    done = pleat.pleat("run", "-n", "3", "--mpi", mpi, "--runner", "mpi", "--", "sh", "-c", code, given=TEXT, check=0)
    assert sorted(done.stdout.splitlines()) == [hashlib.md5(TEXT.encode()).hexdigest() + "  -", "others 0", "others 0"]


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def test_who_sends_waits_and_nothing_is_lost(pleat):
    """The job reads a little, stops, and goes on; meanwhile connections are cut and pleatd is killed."""
    with proxied(pleat) as proxy:
        code = 'head -c 100000 >part; while [ ! -e go ]; do sleep 0.05; done; cat part - | md5sum'
        with subprocess.Popen([PLEAT, "run", "--", "sh", "-c", code], env=pleat.env, cwd=pleat.dir, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            sent = 0
            fd = process.stdin.fileno()
            os.set_blocking(fd, False)
            data = TEXT.encode()

            def send():
                nonlocal sent
                try:
                    sent += os.write(fd, data[sent:sent + 65536])
                except BlockingIOError:
                    return False
                return True
            wait_until(lambda: os.path.exists(pleat.path("part")) and os.path.getsize(pleat.path("part")) == 100000 or
                       (send(), False)[1], "the job reads")
            daemons = [pleat.daemon_pid(), pleat.agent_pid()]
            before = [resident_kb(pid) for pid in daemons]
            wait_until(lambda: not any(send() for _ in range(2000)), "who sends waits")
            assert sent < 2000000
            assert all(resident_kb(pid) - kb < 4096 for pid, kb in zip(daemons, before))
            proxy.cut()
            pleat.kill_daemon()
            with open(pleat.path("go"), "w", encoding="ascii"):
                pass
            for part in range(3):
                wait_until(lambda part=part: send() and sent > len(data) * (part + 1) // 4, "the job reads on")
                proxy.cut()
                pleat.kill_daemon()
            os.set_blocking(fd, True)
            while sent < len(data):
                sent += os.write(fd, data[sent:])
            process.stdin.close()
            assert process.stdout.read().decode() == hashlib.md5(data).hexdigest() + "  -\n"
            assert process.wait(60) == 0
        pleat.pleat("stop", "--force", check=0)


def test_who_takes_its_place_goes_on_with_what_is_left(pleat):
    """The agent is killed by the job, which is queued again, and started again: nothing hangs, and the end comes."""
    tcp(pleat)
    code = "read x; echo got $x; [ -e once ] && exec cat; touch once; kill -9 $(ps -o ppid= $PPID); exec sleep 60"
    with subprocess.Popen([PLEAT, "run", "--", "sh", "-c", code], env=pleat.env, cwd=pleat.dir, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write("one\n")
        process.stdin.flush()
        assert process.stdout.readline() == "got one\n"
        wait_until(lambda: any(j["attempt"] == 1 and j["state"] == "running" for j in pleat.call("jobs")["jobs"]), "it runs again")
        process.stdin.write("two\nthree\n")
        process.stdin.close()
        assert process.stdout.read() == "got two\nthree\n"
        assert process.wait(60) == 0
