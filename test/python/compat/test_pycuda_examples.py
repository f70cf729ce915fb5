"""tools/pycuda_examples.py counts what runs to its end, and tells why the rest does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from source_tree import ROOT

EXAMPLES = {
    "runs.py": "import pycuda.autoinit\nfrom pycuda import gpuarray\nassert gpuarray.zeros(3, 'f4').get().sum() == 0\n",
    "waits.py": "input('Enter')\n",
    "wrong.py": "import pycuda.driver\nraise ValueError('three words here')\n",
    "lacks.py": "def f():\n    from a_package_that_is_not_there.part import x\n",
    "old.py": "print 'old'\n",
    "deep/slow.py": "import time\ntime.sleep(60)\n",
}


def test_counts(tmp_path: Path) -> None:
    for name, text in EXAMPLES.items():
        path = tmp_path / "examples" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    out = tmp_path / "out.json"
    command = [sys.executable, str(ROOT / "tools/pycuda_examples.py"), "--source", str(tmp_path), "--out", str(out)]
    done = subprocess.run([*command, "--limit", "20"], capture_output=True, text=True, check=True, env=os.environ)
    made = json.loads(out.read_text())
    rows = {r["example"]: (r["outcome"], r.get("why", "")) for r in made["rows"]}
    assert rows["runs.py"] == rows["waits.py"] == ("passed", "")
    assert rows["wrong.py"] == ("failed", "ValueError: three words here")
    assert rows["deep/slow.py"] == ("failed", "stopped after 20 s")
    assert rows["lacks.py"] == ("not run", "asks for a_package_that_is_not_there")
    assert rows["old.py"][0] == "not run" and "Python 3" in rows["old.py"][1]
    assert made["total"] == {"passed": 2, "failed": 2, "not run": 2}
    assert done.stdout.splitlines()[-1] == "2 of 4 run to their end; 2 not run"
