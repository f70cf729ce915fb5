"""Modules that moved into packages of nervanagpu are found by their former paths: programs and pickles have those."""

from __future__ import annotations

import importlib
import pickle

import nervanagpu as ng
import numpy as np
import pytest

HOMES = {
    "arrays": """array_checks creation dtypes exchange files index_tricks indexing iteration layout manipulation
        memory_order padding selection slices spaced_numbers tensor_methods tensor_state text""",
    "calls": """arguments float_errors numpy_names numpy_protocol options placement precision_setting protocols
        refusals""",
    "cuda_toolkit": "cuda_folders cuda_headers cuda_libraries nvrtc",
    "kernels": "c_types kernel_templates mangled modules tensor_maps textures toolchain",
    "math": """algebra composed elementwise floats functions gufuncs integers nan_functions polynomial_class
        polynomial_fit polynomials pyfunctions quantiles reductions scans signals sorting summation ufunc_keywords
        ufuncs windows""",
    "random": "distributions host_sampling",
}
MOVED = {f"nervanagpu.{name}": f"nervanagpu.{home}.{name}" for home, names in HOMES.items() for name in names.split()}
MOVED |= {
    "nervanagpu.random_counts": "nervanagpu.random.discrete",
    "nervanagpu.random_gamma": "nervanagpu.random.gamma_based",
    "nervanagpu.random_source": "nervanagpu.random.source",
    "nervanagpu.random_state": "nervanagpu.random.state",
}


@pytest.mark.parametrize("former", MOVED)
def test_a_former_path_is_the_module_itself(former: str) -> None:
    module = importlib.import_module(former)
    assert module is importlib.import_module(MOVED[former])
    assert module.__spec__ is not None and module.__spec__.name == MOVED[former]


def test_a_pickle_of_before() -> None:
    now = pickle.dumps(ng.array(np.arange(3)), protocol=0)
    before = now.replace(b"nervanagpu.arrays.tensor_methods", b"nervanagpu.tensor_methods")
    assert before != now and pickle.loads(before).get().tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["nothing", "nvrtc.more", "kernels.nvrtc", "arrays.exp"])
def test_what_there_never_was_is_not_found(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        importlib.import_module(f"nervanagpu.{name}")
