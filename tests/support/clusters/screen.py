"""A terminal on a cluster's first host, with `pleat run --pty` in its foreground."""

import signal

from terminal import Terminal

from .pleat import BIN
from .world import LIMIT_S, USER, wait_until


class Screen(Terminal):
    def __init__(self, pleat, *words):
        super().__init__(LIMIT_S)
        self.pleat = pleat
        self.process = pleat.head.start(f"{BIN}/pleat", "run", "--pty", *words, user=USER, env=pleat.env | {"TERM": "dumb"},
                                        stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
                                        preexec_fn=self.take_it)

    def more(self):
        return self.pleat.log()

    def end(self):
        """The exit code; all that was shown since is in `text`; the terminal is as it was."""
        self.read_until(self.process.has_ended, "its end")
        self.read_rest()
        wait_until(self.is_usual, "the terminal is as it was")
        self.close()
        return self.process.wait()


def shell(pleat):
    """One that reads what is typed, and has said that it does."""
    screen = Screen(pleat, "-n", 1, "--env", "PS1=ready> ", "--", "bash", "--norc", "--noprofile", "-i")
    screen.until("ready> ")
    return screen


def its_user_is_gone(pleat):
    """A test of each kind of cluster: nothing is left of the job."""
    screen = shell(pleat)
    screen.type("tail -f /dev/null\n")
    wait_until(lambda: any(node.pids("tail") for node in pleat.cluster.nodes), "it waits")
    screen.process.signal(signal.SIGKILL)
    assert screen.end() == 128 + signal.SIGKILL
    wait_until(lambda: not any(node.pids("tail") for node in pleat.cluster.nodes), "nothing is left")
    pleat.cluster.until_empty()
