"""A process of an evolving job that does what a test tells it. It speaks the protocol of docs/protocol.md ("Processes of
evolving runs") by itself, so that it can also say what no library says. WHERE/N.sock: lines from the test, which it hands to
the agent as they are, but for EXIT CODE, REOPEN, STUBBORN and SILENT. WHERE/N.log: lines from the agent."""
import json
import os
import signal
import socket
import sys
import threading
import time

WHERE = os.environ["TEST_WHERE"]
ME = os.environ["PLEAT_PROCESS"]


class Process:
    def __init__(self):
        self.agent = None
        self.stubborn = False
        self.lock = threading.Lock()
        self.log = open(f"{WHERE}/{ME}.log", "a", encoding="utf-8")

    def note(self, line):
        with self.lock:
            self.log.write(line + "\n")
            self.log.flush()

    def connect(self):
        end = time.monotonic() + 20
        while True:
            try:
                agent = socket.socket(socket.AF_UNIX)
                agent.connect(os.environ["PLEAT_PROCESS_SOCKET"])
                break
            except OSError:
                if time.monotonic() > end:
                    os._exit(9)
                time.sleep(0.02)
        hello = {"do": "hello", "process": int(ME), "pid": os.getpid(),
                 "address": os.environ.get(f"TEST_ADDRESS_{ME}") or f"ipc://{os.environ['PLEAT_PROCESS_DIR']}/{ME}"}
        if os.environ.get(f"TEST_UNREACHABLE_{ME}") and "PLEAT_PROCESS_REACH" in os.environ:
            hello["unreachable"] = os.environ[f"TEST_UNREACHABLE_{ME}"]
        agent.sendall(json.dumps(hello).encode() + b"\n")
        self.agent = agent

    def listen(self):
        while True:
            agent = self.agent
            rest = b""
            while True:
                try:
                    more = agent.recv(65536)
                except OSError:
                    more = b""
                if not more:
                    break
                rest += more
                *lines, rest = rest.split(b"\n")
                for line in lines:
                    self.note(line.decode())
                    if json.loads(line).get("do") == "leave" and not self.stubborn:
                        os._exit(0)
            self.note('{"do":"lost"}')
            self.connect()

    def obey(self):
        control = socket.socket(socket.AF_UNIX)
        control.bind(f"{WHERE}/{ME}.tmp")
        control.listen(8)
        os.rename(f"{WHERE}/{ME}.tmp", f"{WHERE}/{ME}.sock")
        while True:
            test, _ = control.accept()
            for line in test.makefile("rb"):
                if line.startswith(b"EXIT"):
                    os._exit(int(line.split()[1]))
                elif line.startswith(b"REOPEN"):
                    self.agent.shutdown(socket.SHUT_RDWR)
                elif line.startswith(b"STUBBORN"):
                    self.stubborn = True
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    self.note('{"do":"stubborn"}')
                elif line.startswith(b"EAT"):
                    self.kept = bytearray(int(line.split()[1]) << 20)
                else:
                    try:
                        self.agent.sendall(line)
                    except OSError as error:
                        self.note(json.dumps({"do": "error", "text": str(error)}))
            test.close()


if "TEST_SILENT" in os.environ:
    time.sleep(1000)
process = Process()
process.note(json.dumps({"do": "begun", "pid": os.getpid(), "cpus": sorted(os.sched_getaffinity(0)),
                         "secret": oct(os.stat(os.environ["PLEAT_PROCESS_SECRET"]).st_mode & 0o777),
                         "socket": oct(os.stat(os.environ["PLEAT_PROCESS_SOCKET"]).st_mode & 0o777)}))
process.connect()
threading.Thread(target=process.listen, daemon=True).start()
print(f"process {ME}", flush=True)
process.obey()
