"""Two devices, emulated or GPUs, in a process of their own (devices/two_devices.py), and what one with one says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import nervanagpu as ng
import pytest
from source_tree import TESTS

EMULATED = {"NERVANAGPU_DEVICE": "emulator", "NERVANAGPU_EMULATOR_DEVICES": "2", "NERVANAGPU_EMULATOR_MEMORY": "256M"}


@pytest.mark.parametrize("kind", ["emulator", "cuda"])
def test_two_devices(kind: str) -> None:
    if kind == "cuda" and (ng.device().kind != "cuda" or ng.device_count() != 2):
        pytest.skip("needs two GPUs")
    env = {k: v for k, v in os.environ.items() if not k.startswith("NERVANAGPU_")}
    env |= EMULATED if kind == "emulator" else {"NERVANAGPU_DEVICE": "cuda"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS / "devices/two_devices.py")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_device() -> None:
    if ng.device_count() > 1:
        pytest.skip("there are several")
    assert ng.device(0) == ng.device()
    assert ng.zeros(2).device.ordinal == 0
    x = ng.zeros(2)
    assert x.to(0) is x
    assert ng.zeros(2, device=0).device == ng.device(0)
    for wrong in (1, -1, "cuda:7", "emulator:x", "emulator:-1", "emulator:", ""):
        with pytest.raises(ValueError, match="device"):
            ng.device(wrong)
        with pytest.raises(ValueError, match="device"):
            x.to(wrong)
        with pytest.raises(ValueError, match="device"):
            ng.zeros(2, device=wrong)
    for other in (1.0, True, [0]):
        with pytest.raises(TypeError, match="device"):
            ng.device(other)


@pytest.mark.parametrize("value", ["0", "17", "-1", "two", "2 "])
def test_wrong_number(python: Callable[..., subprocess.CompletedProcess[str]], value: str) -> None:
    done = python("import nervanagpu as ng; ng.zeros(2)", device="emulator", emulator_devices=value)
    assert done.returncode != 0
    assert f"NERVANAGPU_EMULATOR_DEVICES is '{value}'; needs a number from 1 to 16" in done.stderr
