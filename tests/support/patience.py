"""How many times as long as usual tests wait before they give up (PLEAT_TEST_PATIENCE): scripts/test finds out how slowly this
machine starts processes. What a test waits for does not change, and no test that passes takes longer.

Where processes start very slowly, a test that is there for each MPI is run with one of them: imported into a conftest, the hook
below sees to that."""

import collections
import os
import zlib

PATIENCE = float(os.environ.get("PLEAT_TEST_PATIENCE", "1"))
SLOW = PATIENCE > 2


def pytest_collection_modifyitems(config, items):
    """Of tests that differ by their parameter mpi alone one is left where it is SLOW, always the same one: of some that with Open
    MPI, of others that with MPICH."""
    if not SLOW:
        return
    same = collections.defaultdict(list)
    for item in items:
        values = getattr(item, "callspec", None) and dict(item.callspec.params)
        if values and values.pop("mpi", None):
            same[item.originalname, repr(sorted(values.items(), key=str))].append(item)
    dropped = {item for group in same.values()
               for item in group if item is not group[zlib.crc32(group[0].nodeid.encode()) % len(group)]}
    if dropped:
        config.hook.pytest_deselected(items=sorted(dropped, key=lambda item: item.nodeid))
        items[:] = [item for item in items if item not in dropped]
