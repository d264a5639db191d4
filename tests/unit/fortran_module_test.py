#!/usr/bin/env python3
"""fortran_module_test.py TOP: include/pleat.f90 binds every function that libpleat exports (src/app/pleat.map), and its
constants have the values of the headers."""
import os
import re
import sys

top = sys.argv[1]


def read(*path):
    with open(os.path.join(top, *path), encoding="utf-8") as file:
        return file.read()


module = read("include", "pleat.f90")
# Fortran has the integer handles of MPI, and c_sizeof
WITHOUT = {"pleat_session_comm", "pleat_array_comm", "pleat_element_bytes", "pleat_process_mpi_join", "pleat_process_mpi_leave"}
exported = set(re.findall(r"\b(pleat_\w+);", read("src", "app", "pleat.map"))) - WITHOUT
bound = set(re.findall(r"name='(pleat_\w+)'", module))
if exported != bound:
    sys.exit(f"include/pleat.f90 must bind {sorted(exported - bound)} and must not bind {sorted(bound - exported)}: "
             "what src/app/pleat.map exports and what the module has are to be the same")

headers = read("include", "pleat.h") + read("include", "pleat-error.h")
values = {}
for body in re.findall(r"enum \w+ \{(.*?)\};", headers, re.DOTALL):
    number = 0
    for name, value in re.findall(r"\b(PLEAT_\w+)(?: = (-?\d+))?", re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)):
        number = int(value) if value else number
        values[name] = number
        number += 1
values.update((name, int(value)) for name, value in re.findall(r"#define (PLEAT_ARRAY_DIMS|PLEAT_CSR_FIELDS|PLEAT_POINTS|PLEAT_ACTIONS) (\d+)", headers))
constants = {name: int(value) for name, value in re.findall(r"\b(PLEAT_\w+) = (-?\d+)", module)}
if constants != values:
    sys.exit(f"include/pleat.f90 has {sorted(set(constants.items()) - set(values.items()))}, "
             f"the headers {sorted(set(values.items()) - set(constants.items()))}")
