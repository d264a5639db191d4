"""Asks for processes at any site, and at one."""
from pleat import processes

with processes.begin() as everybody:
    everybody.add(site=processes.ANY_SITE)
    everybody.add(["cells", "fine"], site="there")
    print("asked", flush=True)
