"""tools/release.py: its papers; and, among the long tests, a whole release."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from source_tree import ROOT


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "tools/release.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "tools"))  # where the scripts find each other
    spec.loader.exec_module(module)
    sys.path.pop(0)
    return module


def test_the_changelog_has_this_version(release):
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    assert release.changes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)


@pytest.mark.parametrize(
    "text", ["", "# Changes\n", "## 0.1.0\n\n## 0.0.9\n- that\n", "## 0.1.0.1\n- x\n", "## 0x1y0\n- x\n"]
)
def test_a_version_without_changes_is_refused(release, text):
    with pytest.raises(release.Refused, match=r"CHANGELOG\.md: no section '## 0\.1\.0'"):
        release.changes(text, "0.1.0")


def test_changes_of_one_version(release):
    text = "# Changes\n\n## 0.2.0 (soon)\n- b\n- c\n\n## 0.1.0\n- a\n"
    assert release.changes(text, "0.2.0") == "- b\n- c"
    assert release.changes(text, "0.1.0") == "- a"


def test_sums_are_those_of_sha256sum(release, tmp_path):
    files = {"b.whl": b"\0\xff" * 70000, "a.tar.gz": b""}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    text = release.sums(tmp_path / name for name in files)
    assert text == "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    (tmp_path / "SHA256SUMS").write_text(text, encoding="utf-8")
    subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=tmp_path, check=True, timeout=60)


def test_bill_of_materials(release, tmp_path):
    wheel = tmp_path / "x.whl"
    wheel.write_bytes(b"wheel")
    exception = "GPL-3.0-or-later WITH GCC-exception-3.1"
    parts = [release.component("zstd", "1.5.4", "required", "BSD-3-Clause", "pkg:generic/zstd@1.5.4", "static"),
             release.component("own", ">=1", "optional", "", "pkg:pypi/own", "by pip"),
             release.component("c", "12", "required", exception, "pkg:generic/c@12", "in part")]  # fmt: skip
    bill = release.bill("some", "0.1.0", parts, [wheel], "2020-01-02T03:04:05Z")
    assert bill == release.bill("some", "0.1.0", parts, [wheel], "2020-01-02T03:04:05Z")
    assert json.loads(json.dumps(bill)) == bill
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    (file,) = bill["metadata"]["component"]["externalReferences"]
    assert file["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"wheel").hexdigest()}]
    references = [part["bom-ref"] for part in bill["components"]]
    assert len(set(references)) == 3 and bill["dependencies"][0]["dependsOn"] == references
    assert bill["components"][0]["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]
    assert bill["components"][1]["licenses"] == []
    assert bill["components"][2]["licenses"] == [{"expression": exception}]
    wheel.write_bytes(b"another")
    assert release.bill("some", "0.1.0", parts, [wheel], "2020-01-02T03:04:05Z")["serialNumber"] != bill["serialNumber"]


def test_which_zstd_is_inside(release, tmp_path):
    (tmp_path / "zstd.h").write_text(
        "#define ZSTD_VERSION_MAJOR    1\n#define ZSTD_VERSION_MINOR    5\n#define ZSTD_VERSION_RELEASE  4\n"
    )
    cache = f"NG_ZSTD:STRING=AUTO\nNG_ZSTD_INCLUDE:PATH={tmp_path}\nNG_ZSTD_LIBRARY:FILEPATH=/usr/lib/libzstd.a\n"
    assert release.zstd_version(cache) == "1.5.4"
    assert release.zstd_version(cache.replace("AUTO", "OFF")) is None
    assert release.zstd_version(cache.replace("/usr/lib/libzstd.a", "NG_ZSTD_LIBRARY-NOTFOUND")) is None


def test_a_wheel_for_a_newer_linux_is_refused(release):
    for n in (17, 27, 28):
        release.check_platform(f"nervanagpu-0.1.0-cp311-cp311-manylinux_2_{n}_aarch64.whl", "aarch64")
    for tag in ("manylinux_2_29_aarch64", "manylinux_2_100_aarch64", "manylinux_2_28_x86_64", "linux_aarch64"):
        with pytest.raises(release.Refused, match=r"needs to be for manylinux_2_28_aarch64, or older"):
            release.check_platform(f"nervanagpu-0.1.0-cp311-cp311-{tag}.whl", "aarch64")


def test_a_failed_command_is_told(release):
    with pytest.raises(release.Refused, match=r"(?s)exit status 3\nwhy"):
        release.run(sys.executable, "-c", "print('why'); raise SystemExit(3)")


def test_programs_of_the_pages(release):
    assert [bool(re.search(r"^import nervanagpu", text, re.M)) for text in release.programs()] == [True, True]


def test_a_trial_that_fails_stops_no_other(release, tmp_path, capsys):
    good, bad = tmp_path / "good.whl", tmp_path / "bad.whl"
    for file in (bad, good):
        file.write_text(file.name, encoding="utf-8")
    seen = []

    def trial(folder: Path, file: Path) -> str:
        assert not folder.exists() and folder.parent.is_dir()
        seen.append(file.name)
        if file == bad:
            raise release.Refused("no such thing")
        return "tried"

    def progress(resume: bool, commit: str = "c0") -> object:
        return release.Progress(tmp_path / "work/progress.json", commit, tmp_path, resume)

    trials = {file: lambda folder, file=file: trial(folder, file) for file in (bad, good)}
    assert release.try_all(trials, progress(resume=False)) == ["bad.whl: no such thing"]
    assert capsys.readouterr().out == "bad.whl: FAILED\ngood.whl: tried\n"
    assert release.try_all(trials, progress(resume=True)) == ["bad.whl: no such thing"]
    assert seen == ["bad.whl", "good.whl", "bad.whl"]
    good.write_text("other bytes", encoding="utf-8")
    release.try_all(trials, progress(resume=True))
    assert seen[3:] == ["bad.whl", "good.whl"]
    with pytest.raises(release.Refused, match=r"--resume: begun was .*c0.*; needs to be .*c1"):
        progress(resume=True, commit="c1")


@pytest.mark.long
@pytest.mark.skipif(sys.version_info < (3, 11), reason="the script needs Python 3.11")
@pytest.mark.skipif(shutil.which("qemu-aarch64-static") is None, reason="needs qemu-user-static")
@pytest.mark.skipif(
    not list(Path("/usr/lib/gcc-cross").glob("aarch64-linux-gnu/*/libstdc++.a")),
    reason="needs libstdc++-12-dev-arm64-cross",
)
def test_a_release(tmp_path):
    out = tmp_path / "out"
    script = [sys.executable, ROOT / "tools/release.py", "--python", sys.executable, "--out", out]
    script.append("--without-sdist-install")
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "installed and tried" in done.stdout
    names = sorted(p.name for p in out.iterdir())
    assert [n for n in names if n.endswith((".whl", ".tar.gz", ".cdx.json"))] and "SHA256SUMS" in names
    subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=out, check=True, timeout=60)
    assert len(list(out.glob("*.whl"))) == 2
    for arch, machine in (("aarch64", 183), ("x86_64", 62)):  # EM_AARCH64, EM_X86_64
        (wheel,) = out.glob(f"*_{arch}.whl")
        with zipfile.ZipFile(wheel) as archive:
            assert sum(i.file_size for i in archive.infolist()) <= 25e6
            for name in archive.namelist():
                if name.endswith((".so", ".so.0", "/ngasm")):
                    assert int.from_bytes(archive.read(name)[18:20], "little") == machine, name
    again = subprocess.run(script, capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "is not empty" in again.stderr
    resumed = subprocess.run([*script, "--resume"], capture_output=True, text=True, check=False)
    assert resumed.returncode == 0 and resumed.stdout.count("was there") == 3, resumed.stdout + resumed.stderr
