"""nvdisasm as an oracle over raw words.

nvdisasm prints nothing on stdout if any word of its input is illegal, but names the address of every illegal word on
stderr: run, drop those, run again. Words of one call are disassembled as if each stood at address 0.
"""

import os
import re
import subprocess
import tempfile

NVDISASM = os.environ.get("NVDISASM", "nvdisasm")
_LINE = re.compile(r"^\s*/\*([0-9a-f]+)\*/\s+(.*?)\s*;?\s*(?:/\*.*)?$")


def normalise(text):
    text = re.sub(r"\s+", " ", text.replace(";", " ")).strip()
    text = re.sub(r"\s*,\s*", ", ", text)
    return re.sub(r"\{[^}]*\}", lambda m: m.group(0).replace(" ", ""), text)


def disassemble(words, arch="SM90a"):
    """One text per 128-bit word (int); None where nvdisasm refuses the word."""
    result = [None] * len(words)
    live = list(range(len(words)))
    fd, path = tempfile.mkstemp(prefix="ng_oracle_")
    os.close(fd)
    try:
        while live:
            with open(path, "wb") as f:
                for i in live:
                    f.write(words[i].to_bytes(16, "little"))
            run = subprocess.run([NVDISASM, "-b", arch, path], capture_output=True, text=True)
            bad = {int(m, 16) // 16 for m in re.findall(r"address 0x([0-9a-f]+)", run.stderr)}
            if bad:
                live = [i for k, i in enumerate(live) if k not in bad]
                continue
            if run.returncode != 0:
                raise RuntimeError(run.stderr[:400])
            out = {}
            for line in run.stdout.splitlines():
                m = _LINE.match(line)
                if m:
                    out[int(m.group(1), 16)] = m.group(2)
            for k, i in enumerate(live):
                text = out.get(16 * k)
                result[i] = None if text is None else normalise(_relocate(text, 16 * k))
            break
    finally:
        os.remove(path)
    return result


def _relocate(text, address):
    """Branch targets are printed relative to the batch; make them relative to address 0."""
    if not re.search(r"\b(BRA|BSSY|CALL\.REL|RET\.REL|JMP\.REL|LEPC|ULEPC|WARPSYNC\.COLLECTIVE)\b", text):
        return text

    def shift(m):
        value = int(m.group(1), 16) - address
        return hex(value - (1 << 64) if value >= 1 << 63 else value)

    return re.sub(r"(?<![\w\[+])(-?0x[0-9a-f]+)\b(?!\])(?=[^,]*$|\s*$)", shift, text)
