"""Writes PTX that makes ptxas emit the warpgroup matrix products of sm_90a in all their forms:
sm90_gmma_corpus.py > gmma.ptx, then ptxas -arch=sm_90a gmma.ptx -o gmma.cubin.

One kernel for each form: the accumulators come from memory, one product, and they are stored again.
"""

from itertools import product

HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"
FLOAT_N = list(range(8, 257, 8))
INT_N = [8, 16, 24, 32, *range(48, 257, 16)]
FLOATS = ("f16", "bf16", "tf32")
BYTES = ("e4m3", "e5m2")


def accumulators(d, n):
    return (n // 8) * (2 if d == "f16" else 4)


class Kernel:
    number = 0

    def __init__(self, d, n):
        self.count = accumulators(d, n)
        self.float = d == "f32"
        Kernel.number += 1

    def text(self, statements):
        kind, r = ("f32", "f") if self.float else ("b32", "r")
        out = [
            ".visible .entry g%d(.param .u64 p, .param .u32 s)" % Kernel.number,
            "{ .reg .b32 r<%d>; .reg .f32 f<%d>; .reg .b64 rd<8>; .reg .b32 a<8>; .reg .pred p0;"
            % (self.count, self.count),
            "ld.param.u64 rd0, [p]; ld.global.u64 rd1, [rd0]; ld.global.u64 rd2, [rd0+8];",
            "ld.param.u32 a6, [s]; setp.ne.b32 p0, a6, 0; mov.u32 a5, %tid.x; mul.wide.u32 rd3, a5, 1024;",
            "add.s64 rd0, rd0, rd3; ld.global.v4.b32 {a0,a1,a2,a3}, [rd0+64]; ld.global.b32 a4, [rd0+32];",
        ]
        for i in range(self.count):
            out.append("ld.global.%s %s%d, [rd0+%d];" % (kind, r, i, 128 + 4 * i))
        out.append("wgmma.fence.sync.aligned;")
        out += statements
        out.append("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
        for i in range(self.count):
            out.append("st.global.%s [rd0+%d], %s%d;" % (kind, 128 + 4 * i, r, i))
        return "\n".join([*out, "ret; }"])

    def d(self):
        r = "f" if self.float else "r"
        return "{" + ",".join("%s%d" % (r, i) for i in range(self.count)) + "}"


A_REGISTERS = "{a0,a1,a2,a3}"


def one(d, n, k, a, b, in_registers, tail, sparse="", infix=""):
    kernel = Kernel(d, n)
    spec = "wgmma.mma_async%s.sync.aligned.m64n%dk%d%s.%s.%s.%s" % (".sp" if sparse else "", n, k, "", d, a, b)
    spec += infix
    operands = [kernel.d(), A_REGISTERS if in_registers else "rd1", "rd2"]
    if sparse:
        operands += ["a4", sparse]
    return kernel.text(["%s %s, %s;" % (spec, ", ".join(operands), tail)])


def floats():
    for t in FLOATS:
        k = 8 if t == "tf32" else 16
        kinds = ("f16", "f32") if t == "f16" else ("f32",)
        for d in kinds:
            for regs in (False, True):
                transposed = [", 0", ", 1"] if regs else [", 0, 0", ", 0, 1", ", 1, 0", ", 1, 1"]
                transposed = [""] if t == "tf32" else transposed
                for trans, sa, sb, scale in product(transposed, (1, -1), (1, -1), ("p0", "0", "1")):
                    yield one(d, 8, k, t, t, regs, "%s, %d, %d%s" % (scale, sa, sb, trans))
                zeros = "" if t == "tf32" else ", 0" if regs else ", 0, 0"
                for n in FLOAT_N:
                    yield one(d, n, k, t, t, regs, "1, 1, 1" + zeros)
                for n, s in product((8, 64, 256), "01"):
                    yield one(d, n, 2 * k, t, t, regs, "p0, 1, 1" + zeros, sparse=s)


def eight_bits():
    for a, b, d, regs in product(BYTES, BYTES, ("f16", "f32"), (False, True)):
        for sa, sb, scale in product((1, -1), (1, -1), ("p0", "0")):
            yield one(d, 8, 32, a, b, regs, "%s, %d, %d" % (scale, sa, sb))
        for n in FLOAT_N if a == b == "e4m3" else (16, 128, 256):
            yield one(d, n, 32, a, b, regs, "1, 1, 1")
        for n in (8, 256):
            yield one(d, n, 64, a, b, regs, "p0, 1, 1", sparse="0")


def integers():
    for a, b, regs, sat in product(("s8", "u8"), ("s8", "u8"), (False, True), ("", ".satfinite")):
        for n in INT_N if a == b == "s8" else (8, 128, 256):
            yield one("s32", n, 32, a, b, regs, "p0" if n == 8 else "1", infix=sat)
        for n in (8, 256):
            yield one("s32", n, 64, a, b, regs, "p0", sparse="0", infix=sat)
    for regs in (False, True):
        for n in INT_N:
            yield one("s32", n, 256, "b1", "b1", regs, "p0", infix=".and.popc")


def groups():
    """Several products in flight, waits that leave some."""
    for pending in range(8):
        kernel = Kernel("f32", 8)
        m = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 %s, rd1, rd2, 1, 1, 1, 0, 0;" % kernel.d()
        yield kernel.text(
            [
                m,
                m,
                "wgmma.commit_group.sync.aligned;",
                m,
                "wgmma.commit_group.sync.aligned;",
                "wgmma.wait_group.sync.aligned %d;" % pending,
                m,
            ]
        )


if __name__ == "__main__":
    print(HEADER)
    for family in (floats, eight_bits, integers, groups):
        for text in family():
            print(text)
