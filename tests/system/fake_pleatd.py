"""A pleatd that says what a test tells it to: for how the command line handles answers, also odd ones."""

import json
import os
import socket
import threading


class Failure(Exception):
    """An error answer of the daemon."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code, self.text = code, text


class Hang(Exception):
    """No answer at all."""


class FakeDaemon:
    """Listens in directory `path` (give it to pleat as PLEAT_DIR).

    answers: {method: result, or function of (params, connection)}. A function may return a result, or
    (result, bytes), or raise Failure or Hang. `requests` lists what was asked, as (method, params).
    """

    def __init__(self, path, answers=None, hello=None):
        self.answers = answers or {}
        self.hello = hello or {"method": "hello", "params": {
            "protocol": 1, "version": "0.1.0", "role": "daemon", "features": [], "instance": "fake"}}
        self.requests = []
        self.changed = threading.Condition()
        os.makedirs(path, mode=0o700, exist_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        address = os.path.join(path, "pleatd.sock")
        if os.path.exists(address):
            os.unlink(address)  # of an earlier one
        self.listener.bind(address)
        self.listener.listen()
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        # shutdown first: it wakes the thread that accepts
        for sock in [self.listener] + [c.sock for c in self.connections]:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()

    def asked(self, method):
        return [params for name, params in self.requests if name == method]

    def wait_asked(self, method, count=1, limit=30):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.asked(method)) >= count, limit), \
                f"{method} was not asked {count} times: {[name for name, _ in self.requests]}"

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            connection = Connection(self, sock)
            self.connections.append(connection)
            threading.Thread(target=connection.serve, daemon=True).start()


class Connection:
    def __init__(self, daemon, sock):
        self.daemon, self.sock = daemon, sock
        self.lock = threading.Lock()

    def send(self, message, attachment=b""):
        if attachment:
            message["bytes"] = len(attachment)
        self.send_raw(json.dumps(message).encode() + b"\n" + attachment)

    def send_raw(self, data):
        with self.lock:
            try:
                self.sock.sendall(data)
            except OSError:
                pass

    def notify(self, event):
        self.send({"method": "event", "params": event})

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def serve(self):
        self.send(self.daemon.hello)
        with self.sock.makefile("rb") as lines:
            try:
                for line in lines:  # an answer may wait for a later request
                    threading.Thread(target=self._take, args=(json.loads(line),),
                                     daemon=True).start()
            except OSError:
                pass

    def _take(self, message):
        if "id" not in message:
            return  # the hello
        method, params = message["method"], message.get("params", {})
        with self.daemon.changed:
            self.daemon.requests.append((method, params))
            self.daemon.changed.notify_all()
        try:
            answer = self.daemon.answers[method]
            if callable(answer):
                answer = answer(params, self)
            attachment = b""
            if isinstance(answer, tuple):
                answer, attachment = answer
            self.send({"id": message["id"], "result": answer}, attachment)
        except KeyError as key:
            self._fail(message, -1, f"the fake daemon has no answer to {key}")
        except Failure as failure:
            self._fail(message, failure.code, failure.text)
        except Hang:
            pass

    def _fail(self, message, code, text):
        self.send({"id": message["id"], "error": {"code": code, "name": "?", "text": text}})
