#!/usr/bin/env python3
"""python_module_test.py TOP: bindings/python declares every function that libpleat exports (src/app/pleat.map), with as many
arguments as in pleat.h, and its constants, exceptions and structures have the values and members of the headers."""
import ast
import importlib.util
import os
import re
import sys

top = sys.argv[1]
package = os.path.join(top, "bindings", "python", "pleat")


def read(*path):
    with open(os.path.join(top, *path), encoding="utf-8") as file:
        return file.read()


def load(name):
    """A module that needs neither NumPy nor mpi4py."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(package, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def differ(what, ours, theirs):
    if ours != theirs:
        sys.exit(f"bindings/python: {what}: only here {sorted(set(ours) - set(theirs))}, "
                 f"only in C {sorted(set(theirs) - set(ours))}")


declared = load("_prototypes")
exported = set(re.findall(r"\b(pleat_\w+);", read("src", "app", "pleat.map")))
differ("functions", set(declared.FUNCTIONS), exported)

header = re.sub(r"/\*.*?\*/", "", read("include", "pleat.h"), flags=re.DOTALL)
for name, (_, *arguments) in declared.FUNCTIONS.items():
    words = re.search(rf"\b{name}\s*\(([^;{{]*?)\)\s*(?:PLEAT_MUST_CHECK)?;", header)[1]
    if len(words.split(",")) != len(arguments):
        sys.exit(f"bindings/python: {name} has {len(arguments)} arguments, in C ({' '.join(words.split())})")
# each is used somewhere, but what has another way in Python
used = "".join(read("bindings", "python", "pleat", name) for name in os.listdir(package) if name.endswith(".py") and name != "_prototypes.py")
OTHERWISE = {"pleat_session_comm", "pleat_array_comm", "pleat_process_mpi_join", "pleat_process_mpi_leave"}  # Fortran's numbers, which mpi4py takes
unused = {name for name in exported - OTHERWISE if f".{name}" not in used}
differ("functions that nothing calls", unused, set())

for struct, ours in (("pleat_dimension", declared.CDimension), ("pleat_array_shape", declared.CShape), ("pleat_offer", declared.COffer),
                     ("pleat_items_ops", declared.CItems), ("pleat_owned_ops", declared.COwned)):
    body = re.search(rf"struct {struct} \{{(.*?)\n\}};", header, re.DOTALL)[1]
    names = []
    for member in filter(str.strip, body.split(";")):
        function = re.search(r"\(\*(\w+)\)", member)
        names += [function[1]] if function else re.findall(r"(\w+)(?:\[\w+\])?\s*(?=,|$)", member.strip())
    if [name.rstrip("_") for name, _ in ours._fields_] != names:
        sys.exit(f"bindings/python: struct {struct} has {names} in C, and {[name for name, _ in ours._fields_]} here")

constants = dict(re.findall(r"#define (PLEAT_(?:ARRAY_DIMS|CSR_FIELDS|POINTS|ACTIONS|API_VERSION|ERROR_TEXT_SIZE)) (\d+)",
                            header + read("include", "pleat-error.h")))
ours = {"PLEAT_" + name: str(getattr(declared, name)) for name in ("ARRAY_DIMS", "CSR_FIELDS", "POINTS", "ACTIONS", "API_VERSION")}
differ("limits", (ours | {"PLEAT_ERROR_TEXT_SIZE": str(declared.TEXT_SIZE)}).items(), constants.items())

errors = load("errors")
codes = {int(value) for value in re.findall(r"PLEAT_E_\w+ = (-\d+)", read("include", "pleat-error.h"))}
differ("codes of errors", set(errors._BY_CODE), codes)

changes = load("changes")
for enum, prefix, ours in (("pleat_adapt", "PLEAT_", changes.Adapted), ("pleat_occasion", "PLEAT_OCCASION_", changes.Occasion),
                           ("pleat_asked", "PLEAT_ASKED_", changes.Asked), ("pleat_moment", "PLEAT_", changes.Moment),
                           ("pleat_begin", "PLEAT_", changes.Begun)):
    body = re.search(rf"enum {enum} \{{(.*?)\}};", header, re.DOTALL)[1]
    theirs = {name[len(prefix):]: int(value) for name, value in re.findall(r"(PLEAT_\w+) = (\d+)", body)}
    mine = {one.name: one.value for one in ours}
    if enum == "pleat_begin":
        theirs["LEAVE"] = 3  # that of pleat_adapt
    differ(f"enum {enum}", mine.items(), theirs.items())

# whatever is public says what it is
for name in sorted(os.listdir(package)):
    if not name.endswith(".py"):
        continue
    tree = ast.parse(read("bindings", "python", "pleat", name))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for node in [tree, *tree.body, *(one for outer in classes for one in outer.body)]:
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) or getattr(node, "name", "").startswith("_"):
            continue
        setter = any("setter" in ast.dump(one) for one in getattr(node, "decorator_list", []))
        if name != "_prototypes.py" and not setter and not ast.get_docstring(node):
            sys.exit(f"bindings/python/pleat/{name}: {getattr(node, 'name', 'the module')} has no docstring")
