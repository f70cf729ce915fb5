"""The instructions between which latencies are measured: who writes (producers), who reads (consumers).

Registers of a probe (probes.py): R10 the new value of the target and R13 the old one, both addresses of this
thread in shared memory and, as floats or halves, small numbers that arithmetic leaves as they are; R14 = R10 / 4,
R15 has bit 2 set, R16 = 1.0f, R17 = two half 1.0, R18 = 1, R20:R21 = 1.0 (double), R24:R25 a double with R10 as its low
half. The target is {d} of the first instruction and {s} of the second: R30 or R31, UR10 or UR11, P2, UP0. Results go to
R40 and R41.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Op:
    """One instruction of a pair, and the lines that must stand right after it or that make R40 of its result."""

    name: str
    cls: str  # its name in the latency tables, without the k
    text: str
    after: str = ""
    wide: bool = False  # writes or reads a register pair
    longest: int = 15  # gaps up to here are tried


def _ops(rows: str) -> list[Op]:
    out = []
    for line in rows.strip().splitlines():
        cells = [c.strip() for c in line.split("|", 4)]
        name, cls, text = cells[:3]
        flags = cells[3] if len(cells) > 3 else ""
        after = cells[4] if len(cells) > 4 else ""
        longest = 15
        for f in flags.split():
            if f.isdigit():
                longest = int(f)
        out.append(Op(name, cls, text, after.replace(";", "\n"), "w" in flags.split(), longest))
    return out


# name | class | text | flags: w = pair, a number = longest gap | lines after it
GPR_PRODUCERS = _ops("""
FFMA      | Fma | FFMA {d}, R10, R16, RZ
FADD      | Fma | FADD {d}, R10, RZ
FMUL      | Fma | FMUL {d}, R10, R16
IMAD      | Fma | IMAD {d}, R10, R18, RZ
IMADMOV   | Fma | IMAD.MOV.U32 {d}, RZ, RZ, R10
VIADD     | Fma | VIADD {d}, R10, 0x0
WIDE      | Wide | IMAD.WIDE.U32 {d}, R10, R18, RZ | w
IMADHI    | Wide | IMAD.HI.U32 {d}, R26, R27, RZ
IADD3     | Alu | IADD3 {d}, R10, RZ, RZ
LOP3      | Alu | LOP3.LUT {d}, R10, RZ, RZ, 0xfc, !PT
SHF       | Alu | SHF.L.U32 {d}, R14, 0x2, RZ
SEL       | Alu | SEL {d}, R10, R13, P3
PRMT      | Alu | PRMT {d}, R10, 0x3210, RZ
LEA       | Alu | LEA {d}, R14, RZ, 0x2
MOV       | Alu | MOV {d}, R10
FMNMX     | Alu | FMNMX {d}, R10, R10, PT
VIMNMX    | Alu | VIMNMX {d}, R10, R10, PT
IABS      | Alu | IABS {d}, R10
FSEL      | Alu | FSEL {d}, R10, R13, P3
SGXT      | Alu | SGXT {d}, R10, 0x18
BMSK      | Alu | BMSK {d}, R18, 0x5
I2FP      | Alu | I2FP.F32.U32 {d}, R10
F2FP      | Alu | F2FP.F16.F32.PACK_AB {d}, RZ, R22
VOTE      | Alu | VOTE.ANY {d}, PT, P3
HFMA2     | Half | HFMA2 {d}, R10, R17, -RZ
HADD2     | Half | HADD2 {d}, R10, -RZ
HMUL2     | Half | HMUL2 {d}, R10, R17
HFMA2MMA  | HalfMma | HFMA2.MMA {d}, R10, R17, -RZ | 24
HMNMX2    | Alu | HMNMX2 {d}, R10, R10, PT
HSET2     | Half | HSET2.NEU.AND {d}, R17, RZ, PT
HADD2F32  | Half | HADD2.F32 {d}, -RZ, R10.H0_H0
FSET      | Alu | FSET.BF.NEU.AND {d}, R16, RZ, PT
IDP       | Fma | IDP.4A.U8.U8 {d}, R10, R18, RZ
LEAHI     | Alu | LEA.HI {d}, R14, RZ, RZ, 0x1f
IMADWIDEX | Wide | IMAD.WIDE.U32.X {d}, R10, R18, RZ, P4 | w
DADD      | Double | DADD {d}, R24, RZ | w 24
DMUL      | Double | DMUL {d}, R24, R20 | w 24
DFMA      | Double | DFMA {d}, R24, R20, RZ | w 24
P2R       | PredToVector | P2R {d}, PR, RZ, 0x8 | 20
CS2R      | Clock | CS2R {d}, SRZ | w 24
CS2R32    | Clock | CS2R.32 {d}, SRZ | 24
""")
# Results that a scoreboard announces: how soon they may be there, measured without the wait.
GPR_SLOW = _ops("""
LDS       | Shared | LDS {d}, [R13] | 48
LDS64     | Shared | LDS.64 {d}, [R23] | w 48
SHFL      | Shared | SHFL.IDX PT, {d}, R10, RZ, 0x1f | 48
LDC       | Const | LDC {d}, c[0x0][0x218] | 60
S2R       | Special | S2R {d}, SR_LANEID | 48
MUFU      | Xu | MUFU.RCP {d}, R16 | 48
I2F       | Xu | I2F.F64.U32 {d}, R10 | w 48
F2I       | Xu | F2I.TRUNC.NTZ {d}, R28 | 48
POPC      | Xu | POPC {d}, R10 | 48
FLO       | Xu | FLO.U32 {d}, R10 | 48
BREV      | Xu | BREV {d}, R10 | 48
ATOMS     | Shared | ATOMS.ADD {d}, [R13], RZ | 60
""")
GPR_CONSUMERS = _ops("""
FADD      | Fma | FADD R40, {s}, RZ
FFMA_A    | Fma | FFMA R40, {s}, R16, RZ
FFMA_C    | Fma | FFMA R40, RZ, RZ, {s}
IMAD_B    | Fma | IMAD R40, R18, {s}, RZ
IMAD_C    | Fma | IMAD R40, RZ, RZ, {s}
VIADD     | Fma | VIADD R40, {s}, 0x0
WIDE_A    | Wide | IMAD.WIDE.U32 R40, {s}, R18, RZ
WIDE_C    | WideAdd | IMAD.WIDE.U32 R40, RZ, RZ, R30
IADD3_A   | Alu | IADD3 R40, {s}, RZ, RZ
IADD3_B   | Alu | IADD3 R40, RZ, {s}, RZ
IADD3_C   | Alu | IADD3 R40, RZ, RZ, {s}
LOP3      | Alu | LOP3.LUT R40, {s}, RZ, RZ, 0xfc, !PT
SHF       | Alu | SHF.L.U32 R40, {s}, 0x2, RZ
SEL       | Alu | SEL R40, {s}, R13, P3
PRMT      | Alu | PRMT R40, {s}, 0x3210, RZ
LEA       | Alu | LEA R40, {s}, RZ, 0x2
MOV       | Alu | MOV R40, {s}
FMNMX     | Alu | FMNMX R40, {s}, {s}, PT
VIMNMX    | Alu | VIMNMX R40, {s}, {s}, PT
ISETP     | Alu | ISETP.EQ.U32.AND P4, PT, {s}, R10, PT | | @P4 MOV R40, R18
R2P       | Alu | R2P PR, {s}.B1, 0x4 | | @P2 MOV R40, R18
HADD2     | Half | HADD2 R40, {s}, -RZ
HFMA2_A   | Half | HFMA2 R40, {s}, R17, -RZ
HFMA2_C   | Half | HFMA2 R40, R17, -RZ, {s}
HMUL2     | Half | HMUL2 R40, {s}, R17
HMNMX2    | Alu | HMNMX2 R40, {s}, {s}, PT
HSETP2    | Half | HSETP2.EQ.AND P4, PT, {s}, R10, PT | | @P4 MOV R40, R18
HSET2     | Half | HSET2.EQ.AND R40, {s}, R10, PT
FSETP     | Alu | FSETP.EQ.AND P4, PT, {s}, R10, PT | | @P4 MOV R40, R18
IDP       | Fma | IDP.4A.U8.U8 R40, {s}, R18, RZ
I2FP      | Alu | I2FP.F32.U32 R40, {s}
HFMA2MMA  | HalfMma | HFMA2.MMA R40, {s}, R17, -RZ
DADD      | Double | DADD R40, R30, RZ
DFMA_C    | Double | DFMA R40, RZ, RZ, R30
I2F       | Xu | I2F.F64.U32 R40, {s}
POPC      | Xu | POPC R40, {s}
BREV      | Xu | BREV R40, {s}
LDS       | Address | LDS R40, [{s}]
STS_A     | Address | STS [{s}], R18 | | LDS R40, [R10];LDS R41, [R13];STS [R10], R46;STS [R13], R47
STS_D     | Data | STS [R23], {s} | | LDS R40, [R23]
STG_D     | Data | STG.E desc[UR4][R2.64], {s} | | LDG.E.STRONG.GPU R40, desc[UR4][R2.64]
ATOMS_D   | Data | ATOMS.EXCH R41, [R23], {s} | | LDS R40, [R23];MOV R41, RZ
SHFL      | Address | SHFL.IDX PT, R40, {s}, RZ, 0x1c1f
R2UR      | ToUniform | R2UR UR12, {s} | | MOV R40, UR12
REDUX     | ToUniform | REDUX.OR UR12, {s} | | MOV R40, UR12
""")
PRED_PRODUCERS = _ops("""
ISETP     | Pred | ISETP.NE.AND P2, PT, R10, R13, PT | 20
FSETP     | Pred | FSETP.NEU.AND P2, PT, R16, RZ, PT | 20
PLOP3     | Pred | PLOP3.LUT P2, PT, P3, PT, PT, 0xf0, 0xf | 20
IADD3     | Pred | IADD3 R50, P2, R51, R51, RZ | 20
LEA       | Pred | LEA R50, P2, R51, R51, 0x0 | 20
VOTE      | Pred | VOTE.ANY R50, P2, P3 | 20
R2P       | PredFile | R2P PR, R15, 0x4 | 20
WIDE      | FmaPred | IMAD.WIDE.U32 R54, P2, R51, R51, R52 | 20
HSETP2    | HalfPred | HSETP2.NEU.AND P2, PT, R17, RZ, PT | 20
DSETP     | DoublePred | DSETP.NEU.AND P2, PT, R20, RZ, PT | 24
""")
PRED_CONSUMERS = _ops("""
SEL       | Predicate | SEL R40, R10, R13, P2
FSEL      | Predicate | FSEL R40, R10, R13, P2
ISETP     | Predicate | ISETP.NE.AND P4, PT, R10, R13, P2 | | @P4 MOV R40, R18
PLOP3     | Predicate | PLOP3.LUT P4, PT, P2, PT, PT, 0xf0, 0xf | | @P4 MOV R40, R18
IADD3X    | Predicate | IADD3.X R40, RZ, RZ, RZ, P2, !PT
FMNMX     | Predicate | FMNMX R40, R10, R13, P2
P2R       | Predicate | P2R R40, PR, RZ, 0x4
R2P       | Predicate | R2P PR, R15, 0x40 | | @P2 MOV R40, R18
IMADX     | PredicateFma | IMAD.X R40, RZ, RZ, RZ, P2
WIDEX     | PredicateFma | IMAD.WIDE.U32.X R40, RZ, RZ, RZ, P2
GUARD     | Guard | @P2 MOV R40, R18
GUARDF    | Guard | @P2 FADD R40, R16, RZ
GUARDD    | Guard | @P2 DADD R40, R20, RZ
GUARDX    | Guard | @P2 MUFU.RCP R40, R16
GUARDL    | Guard | @P2 LDS R40, [R10]
GUARDS    | Guard | @P2 STS [R23], R18 | | LDS R40, [R23];STS [R23], R46
GUARDG | Guard | @P2 STG.E desc[UR4][R2.64], R18 | | LDG.E.STRONG.GPU R40, desc[UR4][R2.64];STG.E desc[UR4][R2.64], R46
GUARDU    | Guard | @P2 R2UR UR12, R10 | | MOV R40, UR12
GUARDP    | Guard | @P2 ISETP.NE.AND P4, PT, R10, R13, PT | | @P4 MOV R40, R18
VOTE      | Guard | VOTE.ANY R40, PT, P2
VOTEU     | Guard | VOTEU.ANY UR12, UPT, P2 | | MOV R40, UR12
BRA       | Branch | @P2 BRA `({u}) | | MOV R40, R18;{u}:
BRAP      | Branch | BRA P2, `({u}) | | MOV R40, R18;{u}:
""")
UGPR_PRODUCERS = _ops("""
UMOV      | UniformMove | UMOV {d}, 0x440 | 20
UMOVR     | UniformMove | UMOV {d}, UR20 | 20
UIADD3    | Uniform | UIADD3 {d}, UR20, URZ, URZ | 20
ULOP3     | Uniform | ULOP3.LUT {d}, UR20, URZ, URZ, 0xfc, !UPT | 20
USHF      | Uniform | USHF.L.U32 {d}, UR21, 0x2, URZ | 20
UIMAD     | Uniform | UIMAD {d}, UR20, UR22, URZ | 20
UWIDE     | Uniform | UIMAD.WIDE.U32 {d}, UR20, UR22, URZ | w 20
ULEA      | Uniform | ULEA {d}, UR21, URZ, 0x2 | 20
USEL      | Uniform | USEL {d}, UR20, UR22, UP3 | 20
UPRMT     | Uniform | UPRMT {d}, UR20, 0x3210, URZ | 20
ULDC      | UniformLoad | ULDC {d}, c[0x0][0x218] | 28
ULDC64    | UniformLoad | ULDC.64 {d}, c[0x0][0x218] | w 28
R2UR      | VectorToUniform | R2UR {d}, R29 | 24
VOTEU     | VoteUniform | VOTEU.ANY {d}, UPT, P3 | 24
UPOPC     | Uniform | UPOPC {d}, UR20 | 28
UFLO      | Uniform | UFLO.U32 {d}, UR20 | 28
S2UR      | Special | S2UR {d}, SRZ | 60
REDUX     | Special | REDUX.OR {d}, R29 | 60
""")
UGPR_CONSUMERS = _ops("""
UIADD3    | Uniform | UIADD3 UR12, {s}, URZ, URZ | | MOV R40, UR12
UMOV      | Uniform | UMOV UR12, {s} | | MOV R40, UR12
ULOP3     | Uniform | ULOP3.LUT UR12, {s}, URZ, URZ, 0xfc, !UPT | | MOV R40, UR12
UIMAD_C   | Uniform | UIMAD UR12, URZ, URZ, {s} | | MOV R40, UR12
USHF      | Uniform | USHF.L.U32 UR12, {s}, 0x2, URZ | | MOV R40, UR12
UISETP    | Uniform | UISETP.EQ.U32.AND UP4, UPT, {s}, UR20, UPT | | USEL UR12, UR20, URZ, UP4;MOV R40, UR12
IADD3     | VectorUniform | IADD3 R40, RZ, {s}, RZ
MOV       | VectorUniform | MOV R40, {s}
FADD      | VectorUniform | FADD R40, RZ, {s}
IMAD      | VectorUniform | IMAD R40, R18, {s}, RZ
ISETP     | VectorUniform | ISETP.EQ.U32.AND P4, PT, R29, {s}, PT | | @P4 MOV R40, R18
HADD2     | VectorUniform | HADD2 R40, -RZ, {s}
DADD      | DoubleUniform | DADD R40, RZ, UR10
I2F       | XuUniform | I2F.F64.U32 R40, {s}
LDS       | Descriptor | LDS R40, [RZ+{s}]
STS       | Descriptor | STS [RZ+{s}+0x1800], R18 | | LDS R40, [R29+0x1800];STS [R29+0x1800], R46
ATOMS     | Descriptor | ATOMS.ADD R40, [RZ+{s}], RZ
""")
UPRED_PRODUCERS = _ops("""
UISETP    | UniformPred | UISETP.NE.AND UP0, UPT, UR20, UR22, UPT | 28
UPLOP3    | UniformPred | UPLOP3.LUT UP0, UPT, UP3, UPT, UPT, 0xf0, 0xf | 28
UIADD3    | UniformPred | UIADD3 UR14, UP0, UR23, UR23, URZ | 28
VOTEU     | VoteUniform | VOTEU.ANY UR14, UP0, P3 | 28
""")
UPRED_CONSUMERS = _ops("""
USEL      | UniformPred | USEL UR12, UR20, URZ, UP0 | | MOV R40, UR12
UISETP    | UniformPred | UISETP.NE.AND UP4, UPT, UR20, UR22, UP0 | | USEL UR12, UR20, URZ, UP4;MOV R40, UR12
UIADD3X   | UniformPred | UIADD3.X UR12, URZ, URZ, URZ, UP0, !UPT | | MOV R40, UR12
UP2UR     | UniformPred | UP2UR UR12, UPR, URZ, 0x1 | | MOV R40, UR12
PLOP3     | UniformPredOp | PLOP3.LUT P4, PT, PT, PT, UP0, 0xaa, 0x55 | | @P4 MOV R40, R18
GUARD     | UniformGuard | @UP0 UMOV UR12, UR20 | | MOV R40, UR12
GUARDI    | UniformGuard | @UP0 UIADD3 UR12, UR20, URZ, URZ | | MOV R40, UR12
GUARDC    | UniformGuard | @UP0 ULDC UR12, c[0x0][0x218] | | MOV R40, UR12
BRAU      | UniformGuard | BRA.U UP0, `({u}) | | MOV R40, R18;{u}:
""")
