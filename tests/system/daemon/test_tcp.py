"""Agents that call over TCP, as those of other machines do: who is let in, what a network may do to a connection,
and what becomes of an agent whose pleatd is gone. (That recovery is the same as over the socket is shown by the
tests of recovery and of nodes, which run once more with PLEAT_TEST_AGENTS=tcp.)"""

import contextlib
import os
import random
import re
import signal
import socket
import stat
import subprocess
import threading

from conftest import BUILD, LIMIT_S, agents_with, is_alive, until_file, wait_until, words_of

AGENT = os.path.join(BUILD, "bin", "pleat-agent")
KEY = re.compile(rb"[0-9a-f]{64}")
CONFIG = 'site "local" {{ processors = 4 agents = tcp background = ignore }}\nbackoff_s = 0.2\ntry_s = 0.1\nidle_exit_s = 0\n{}'


def tcp(pleat, more=""):
    pleat.configure(text=CONFIG.format(more))


def key_path(pleat):
    return pleat.path("agent-local-0.key")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def port_of(pleat):
    return int(read(pleat.path("agents.port")))


def log_of(pleat):
    return read(pleat.path("pleatd.log")).decode(errors="replace")


def runs(path):
    return len(read(path + ".runs").splitlines()) if os.path.exists(path + ".runs") else 0


def start(pleat, name="go"):
    """A job that runs until a file is there. Returns its number and that file."""
    path = pleat.path(name)
    number = pleat.submit("-n", 1, *until_file(path))
    pleat.wait_for(number, "running")
    wait_until(lambda: runs(path), "it runs")
    return number, path


def end(pleat, number, path):
    """The job ends, with all its output, as if nothing had happened."""
    with open(path, "w", encoding="ascii"):
        pass
    job = pleat.wait_end(number)
    assert (job["state"], job["exit_code"], job["attempt"], runs(path)) == ("failed", 7, 0, 1)
    assert pleat.output(number) == "end\n"


def times(pleat, text):
    return log_of(pleat).count(text)


class Proxy:
    """Between agents (which call 127.0.0.2) and pleatd (at 127.0.0.1), at the same port."""

    def __init__(self, listener):
        self.listener = listener
        self.port = listener.getsockname()[1]
        self.pairs = []  # (agent's socket, pleatd's)
        self.heard = []  # what the agent of each pair said
        self.tells = True  # whether one end hears of the other's end
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                agent, _ = self.listener.accept()
            except OSError:
                return
            try:
                daemon = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                agent.close()
                continue
            said = bytearray()
            self.pairs.append((agent, daemon))
            self.heard.append(said)
            threading.Thread(target=self.pump, args=(agent, daemon, said), daemon=True).start()
            threading.Thread(target=self.pump, args=(daemon, agent, None), daemon=True).start()

    def pump(self, source, target, said):
        try:
            while data := source.recv(65536):
                if said is not None:
                    said += data
                target.sendall(data)
            if self.tells:
                target.shutdown(socket.SHUT_WR)
        except OSError:  # one of the two is gone, in the middle of what it was sent
            for end_of in (source, target) if self.tells else ():
                with contextlib.suppress(OSError):
                    end_of.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Both ends see their connection end, without a word."""
        for pair in self.pairs:
            for end_of in pair:
                with contextlib.suppress(OSError):
                    end_of.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()
        for pair in self.pairs:
            for end_of in pair:
                end_of.close()


@contextlib.contextmanager
def proxied(pleat, more="", configure=tcp):
    """The ports from which the kernel chooses for others begin above these."""
    for _ in range(100):
        listener = socket.socket()
        port = random.randrange(20000, 32000)
        try:
            listener.bind(("127.0.0.2", port))
            with socket.socket() as other:
                other.bind(("127.0.0.1", port))
            break
        except OSError:
            listener.close()
    listener.listen()
    proxy = Proxy(listener)
    configure(pleat, f'agent_port = {port}\nagent_host = "127.0.0.2"\n{more}')
    try:
        yield proxy
    finally:
        proxy.close()


def test_the_key_is_nowhere_to_be_seen(pleat):
    tcp(pleat)
    number, path = start(pleat)
    agent = pleat.agent_pid()
    words = words_of(agent)
    assert words[words.index("--connect") + 1] == f"127.0.0.1:{port_of(pleat)}" and "--daemon" not in words
    assert stat.S_IMODE(os.stat(key_path(pleat)).st_mode) == 0o600
    key = read(key_path(pleat))
    assert KEY.fullmatch(key)
    for pid in [agent, *pleat.job_pids(number)]:
        for what in ("cmdline", "environ"):
            assert key not in read(f"/proc/{pid}/{what}")
    assert key not in read(pleat.path("pleatd.log"))
    end(pleat, number, path)
    # the next agent has another one, and the old one counts no more
    os.kill(agent, signal.SIGKILL)
    number, path = start(pleat, "again")
    assert read(key_path(pleat)) != key
    old = by_hand(pleat, key.decode(), given=True)
    wait_until(lambda: times(pleat, "callers turned away at the port"), "it is turned away")
    assert os.readlink(f"/proc/{old.pid}/fd/0") == "/dev/null"  # where it read its key
    old.kill()
    old.wait()
    end(pleat, number, path)
    # an agent that ends in order takes its key with it
    agent = pleat.agent_pid()
    pleat.pleat("stop", check=0)
    wait_until(lambda: not is_alive(agent), "the agent has ended")
    assert not os.path.exists(key_path(pleat))


def test_nothing_listens_unless_an_agent_calls(pleat):
    number, path = start(pleat)
    assert not os.path.exists(pleat.path("agents.port")) and not os.path.exists(key_path(pleat))
    end(pleat, number, path)


def by_hand(pleat, key, *words, given=False):
    """An agent that somebody else starts, with this key: in its environment, or given to its standard input. It has
    no lock."""
    env = pleat.env if given else {**pleat.env, "PLEAT_AGENT_KEY": f"local/0:{key}"}
    agent = subprocess.Popen([AGENT, "--connect", f"127.0.0.1:{port_of(pleat)}", "--instance", pleat.instance_id,
                              "--site", "local", "--node", "0", *words, *(["--key-fd", "0"] if given else [])],
                             env=env, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if given:
        agent.stdin.write(f"local/0:{key}\n".encode())
        agent.stdin.close()
        agent.stdin = None
    pleat.started.append(agent)
    return agent


def test_wrong_callers(pleat):
    tcp(pleat)
    number, path = start(pleat)
    wrong = by_hand(pleat, "0" * 64, "--call", "100000")
    wait_until(lambda: times(pleat, "callers turned away at the port"), "it is turned away")
    assert "does not prove that it has the same key" in log_of(pleat)
    # it does not hand on what it was given
    assert b"0" * 64 not in read(f"/proc/{wrong.pid}/environ")
    # a client in plain text is not even answered
    with socket.create_connection(("127.0.0.1", port_of(pleat))) as plain:
        plain.settimeout(30)
        plain.sendall(b'{"method":"hello","params":{"protocol":1,"version":"0.1.0","role":"client"}}\n')
        with contextlib.suppress(ConnectionResetError):
            assert plain.recv(100) == b""
    # no key, and a line that is none
    for env in ({}, {"PLEAT_AGENT_KEY": "local/0"}):
        refused = subprocess.run([AGENT, "--connect", "127.0.0.1:1", "--instance", "x", "--site", "local", "--node", "0"],
                                 env={**pleat.env, **env}, capture_output=True, text=True, timeout=60, check=False)
        assert refused.returncode == 1 and "key" in refused.stderr, refused
    end(pleat, number, path)
    assert wrong.wait(LIMIT_S) == 0  # it is told to call for long, but not with a key that nobody knows


def test_a_second_caller_with_the_right_key(pleat):
    tcp(pleat)
    number, path = start(pleat)
    end(pleat, number, path)
    first = pleat.agent_pid()
    second = by_hand(pleat, read(key_path(pleat)).decode())
    wait_until(lambda: times(pleat, "its node has another one"), "it is refused, as the first answers")
    assert not times(pleat, "does not answer")
    os.kill(first, signal.SIGSTOP)
    try:
        wait_until(lambda: times(pleat, "the one before does not answer"), "it takes over")
    finally:
        refused = times(pleat, "its node has another one")
        os.kill(first, signal.SIGCONT)
    wait_until(lambda: times(pleat, "its node has another one") > refused, "now the first is refused")
    second.kill()
    second.wait()
    number, path = start(pleat, "again")
    end(pleat, number, path)
    assert agents_with(f"PLEAT_DIR={pleat.dir}") == [first]


def test_the_network_cuts(pleat):
    with proxied(pleat) as proxy:
        number, path = start(pleat)
        for _ in range(3):
            count = len(proxy.pairs)
            proxy.cut()
            wait_until(lambda count=count: len(proxy.pairs) > count, "the agent calls again")
        # only the agent hears of this cut: its next call takes the place of the connection that pleatd still has
        wait_until(lambda: proxy.heard[-1].count(b"\x17\x03\x03") > 2, "it was asked what it runs, and has answered")
        proxy.tells = False
        proxy.pairs[-1][0].shutdown(socket.SHUT_RDWR)
        wait_until(lambda: times(pleat, "has called again"), "its call takes the place of the first")
        end(pleat, number, path)
        pleat.pleat("stop", "--force", check=0)


def test_what_was_heard_is_said_again(pleat):
    with proxied(pleat) as proxy:
        number, path = start(pleat)
        with socket.create_connection(("127.0.0.1", proxy.port)) as thief:
            thief.settimeout(30)
            thief.sendall(bytes(proxy.heard[0]))
            thief.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                while thief.recv(65536):
                    pass
        wait_until(lambda: times(pleat, "callers turned away at the port"), "it is turned away")
        assert not times(pleat, "called again") and not times(pleat, "another one")
        end(pleat, number, path)
        pleat.pleat("stop", "--force", check=0)


def test_pleatd_comes_back_at_another_port(pleat):
    tcp(pleat)
    number, path = start(pleat)
    port = port_of(pleat)
    pleat.kill_daemon()
    assert read(pleat.path("agents.port")) == b"%d\n" % port
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        pleat.call("info")
        assert port_of(pleat) != port
        end(pleat, number, path)


def test_an_agent_without_pleatd_ends_its_jobs(pleat):
    tcp(pleat, "agent_orphan_s = 0.5\n")
    number, path = start(pleat)
    agent, own = pleat.agent_pid(), pleat.job_pids(number)
    pleat.kill_daemon()
    wait_until(lambda: not is_alive(agent) and not any(map(is_alive, own)), "nothing is left")
    assert "no daemon for 0.5 s: ending all runs" in log_of(pleat)
    assert not [name for name in os.listdir("/dev/shm") if pleat.instance_id in name]
    # the next pleatd knows: it runs again
    wait_until(lambda: pleat.job(number)["attempt"] == 1 and pleat.job(number)["state"] == "running", "it runs again")
    wait_until(lambda: runs(path) == 2, "its program, too")
    with open(path, "w", encoding="ascii"):
        pass
    assert pleat.wait_end(number)["exit_code"] == 7
