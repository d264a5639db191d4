"""usage: python3 tests/support/clusters [NAME:NODES]...      (default: a:2 b:2)

Starts Slurm clusters and a shell on the first one's head, as an ordinary user. All of it is gone when the shell ends."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from clusters import Slurm, World, cannot  # noqa: E402
from clusters.slurm import PROGRAMS  # noqa: E402
from clusters.world import USER  # noqa: E402


def main(words):
    if any(word.startswith("-") for word in words):
        sys.exit(__doc__)
    why_not = cannot(*PROGRAMS)
    if why_not:
        sys.exit(why_not)
    wanted = [(name, int(nodes or 2)) for name, _, nodes in (word.partition(":") for word in words or ["a", "b"])]
    with World([host for name, nodes in wanted for host in Slurm.hosts(name, nodes)]) as world:
        slurms = [Slurm(world, name, nodes=nodes) for name, nodes in wanted]
        for slurm in slurms:
            slurm.start()
        for slurm in slurms:
            slurm.until_idle()
            print(f"{slurm.name}: {', '.join(slurm.states())}   SLURM_CONF={slurm.conf}")
        head = slurms[0].head
        subprocess.run(head.enter("bash", "-i", user=USER), env=head.environment(USER, **slurms[0].env), check=False)


main(sys.argv[1:])
