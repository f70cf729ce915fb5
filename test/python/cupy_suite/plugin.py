"""A plugin of pytest: CuPy's test files find this library as cupy, and what each case did goes to CUPY_TESTS_LOG."""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from typing import Any

import numpy as np
import pytest
from nervanagpu import cupy

from cupy_suite import corners

cupy.install()


def _module(name: str, **members: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    head, _, tail = name.rpartition(".")
    if head in sys.modules:
        setattr(sys.modules[head], tail, made)
    return made


for _name in ("cupy", "cupy.cuda", "cupy.linalg", "cupy.random"):
    importlib.import_module(_name)
sys.modules["cupy.testing"] = testing = importlib.import_module("cupy_suite.testing")
cupy.testing = testing
for _name in ("condition", "_condition", "_protocol_helpers"):
    setattr(testing, _name, corners)
    sys.modules[f"cupy.testing.{_name}"] = corners
for _name in ("parameterized", "_parameterized"):
    setattr(testing, _name, testing)
    sys.modules[f"cupy.testing.{_name}"] = testing
# Of CuPy's inside: nothing to choose here, one way to compute everything.
_core = _module("cupy._core", ndarray=cupy.ndarray)
_module(
    "cupy._core._accelerator",
    set_routine_accelerators=lambda names: None,
    get_routine_accelerators=lambda: [],
    set_reduction_accelerators=lambda names: None,
    get_reduction_accelerators=lambda: [],
)
_module("cupy._core._routines_linalg", COMPUTE_TYPE_DEFAULT=0, COMPUTE_TYPE_PEDANTIC=1, COMPUTE_TYPE_TF32=2)
_module("cupy._core._cub_reduction", _CUB_REDUCE_SIZE_THRESHOLD=0)
_module("cupy._core.internal", prod=lambda values: int(np.prod(values)))
_module("cupy._util", PerformanceWarning=UserWarning)
_module("cupy.linalg._util", stacked_identity=corners.stacked_identity)
_module("cupy.cublas", get_batched_gesv_limit=lambda: 2048, set_batched_gesv_limit=lambda limit: None)
_module("cupyx", errstate=corners.errstate)
_module("cupyx.cusolver", check_availability=lambda name: True)
_module("cupy.cuda.driver", get_build_version=lambda: 12040)
_module("cupy.cuda.cub", available=False)
_module("cupy.cuda.cutensor", available=False)


def pytest_configure(config: pytest.Config) -> None:
    for name in ("slow", "multi_gpu", "thread_unsafe", "parallel_threads_limit"):
        config.addinivalue_line("markers", f"{name}: of CuPy's")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    report = (yield).get_result()
    if report.when == "call" or report.outcome != "passed":
        text = ""
        if report.failed:
            error = call.excinfo.value if call.excinfo else None
            text = f"{type(error).__name__}: {error}" if error is not None else str(report.longrepr)
            text += "".join(f" [{note}]" for note in getattr(error, "__notes__", ()))
        elif report.skipped:
            text = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        where = os.environ.get("CUPY_TESTS_LOG")
        if where:
            with open(where, "a", encoding="utf-8") as log:
                log.write(json.dumps([item.nodeid, report.when, report.outcome, text[:600]]) + "\n")
