"""The programs of examples/: what the malleable ones compute while they are resized is what the plain ones do."""

import os
import re

import pytest

from conftest import BUILD
from relaunching import each_mpi, held_and_resized

EXAMPLES = {"jacobi": ("100", "200"), "jacobi2d": ("100", "200"), "particles": ("2000", "200"),
            "scalapack": ("100", "200"), "jacobi-fortran": ("100", "200")}


def numbers(text):
    """Without the number of ranks, which is the last one."""
    return [float(number) for number in re.findall(r"[0-9.]+", text)][:-1]


@pytest.mark.parametrize("name, mpi", each_mpi(EXAMPLES))
def test_example(pleat, name, mpi):
    program = os.path.join(BUILD, "examples", mpi, name)
    if not os.path.exists(program):
        pytest.skip(f"no ScaLAPACK, or no Fortran, for {mpi}")
    pleat.env["OPENBLAS_NUM_THREADS"] = "1"
    plain = pleat.pleat("run", "-n", 2, "--", program + "-plain", *EXAMPLES[name], check=0).stdout
    assert len(numbers(plain)) >= 1
    said = held_and_resized(pleat, mpi, (2, 5, 1, 3), [program, *EXAMPLES[name]])
    assert numbers(said) == pytest.approx(numbers(plain), rel=1e-6)
