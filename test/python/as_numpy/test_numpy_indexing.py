"""Keys, assignments, and functions that take tensors apart and put them together, beside NumPy."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check, message

KEYS = (
    "0 -4 2.0 'a' None ... () (None,0) slice(None,None,-1) slice(None,None,0) slice('a') slice(-100,100,2) np.int8(-1) "
    "np.uint64(1) np.float64(1) True False np.True_ [0,-1] [] [[0,1],[1,0]] [0,9] [True,False,True] [True,False] [1.0] "
    "['a'] (0,[0,1]) ([0,1],[[1],[2]]) ([0,1],[1,2,3]) (slice(None),[0,1]) (...,0) (...,...) (0,0,0) L([0,1],'uint64') "
    "([True,False,True],[0,1]) L([0.,1.]) L(1) L(True) (None,[0,1]) ([0,1],None,[0,1]) {} {0} range(2) (range(2),) "
    "H([],'float64') (0,(0,1)) ((0,1),(1,2)) [slice(0,1)] [None] b'a' 1j object() (slice(None),True) (True,0) (False,) "
    "(True,[0,1]) (None,True,...) (...,False) H([[True,False]]*3) 2**40 2**70 -2**70 [2**40] "
    "Z((0,),'bool') H([],'bool') Z((0,4),'bool') Z((3,0),'bool') Z((0,3),'bool') (slice(None),Z((0,),'bool'))"
).split()


@pytest.mark.parametrize("shape", ["(3,4)", "(3,)", "()", "(2,3,4)"])
def test_keys(shape: str) -> None:
    for key in KEYS:
        check(f"A('float32',{shape})[{key}]")
        check(f"x=A('int32',{shape});x[{key}]=1;x")


VALUES = (
    "5 -1 2.7 True [1,2,3,4] [[1,2,3,4]] [1.5,2,3,4] [1,2] A('float64',(4,)) A('int32',(4,)) A('float32',(1,1,4)) "
    "A('float32',(3,1)) H([1.5,2,3,4]) H(1.5) np.float64(2.5) float('nan') float('inf') 2**70 [2**40]*4 {} ()"
).split()


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "bool", "float16", "complex64"])
def test_assignments_convert_as_numpys(dtype: str) -> None:
    for key in ("0", "...", "[0,2]", "([0,1],[0,1])", "L([True,False,True])", "(slice(None),0)", "slice(0,0)"):
        for value in VALUES:
            if value not in ("{}", "()"):
                check(f"x=A('{dtype}',(3,4));x[{key}]={value};x")


def test_what_no_assignment_converts() -> None:
    for value in ("1j", "[1j]*4", "'a'", "None", "{}", "object()"):
        for key in ("0", "[0,1]", "L([True,False,True])"):
            text = message(f"x=A('int32',(3,4));x[{key}]={value};x")
            assert "value" in text and "needs" in text, text
    check("x=A('int32',(3,4));x+=1.5;x")  # in place there is no such conversion


def test_add_at_slices() -> None:
    check("x=A('int32',(4,));xp.add.at(x,slice(0,2),3);x", protocol=True)
    check("x=A('float32',(3,4));xp.add.at(x,(slice(None),[0,0]),1);x", protocol=True)


X = "A('float32',(3,4))"
PAD = (
    "{X},1|{X},(1,2)|{X},((1,2),(0,1))|{X},1,'edge'|{X},2,'reflect'|{X},5,'wrap'|{X},9,'symmetric'|{X},2,'linear_ramp'|"
    "{X},2,'linear_ramp',end_values=5|A('int32',(3,)),2,'linear_ramp',end_values=(5,-4)|{X},2,'maximum'|{X},2,'minimum'|"
    "{X},2,'mean'|{X},2,'median'|{X},2,'mean',stat_length=1|{X},2,'maximum',stat_length=(1,2)|A('int32',(3,4)),2,'mean'|"
    "{X},1,constant_values=((1,2),(3,4))|{X},1,'bogus'|{X},-1|{X},1.5|{X},(1,2,3)|{X},1,'edge',constant_values=3|"
    "{X},2,'reflect',reflect_type='odd'|{X},2,'symmetric',reflect_type='odd'|{X},7,'reflect',reflect_type='odd'|"
    "A('float32',(0,)),1|A('float32',(0,)),1,'edge'|{X},{{0:(1,2)}}|{X},{{-1:2}},'edge'|{X},2,lambda *a: None|"
    "A('uint8',(5,)),2,'minimum',stat_length=2|A('complex64',(3,)),2,'linear_ramp'|{X},1,'maximum',stat_length=0"
).split("|")


def test_pad() -> None:
    for arguments in PAD:
        check(f"xp.pad({arguments.format(X=X)})", protocol=True)
    assert "stat_length is no argument of mode 'edge'; needs none" in message(f"xp.pad({X},1,'edge',stat_length=1)")


CALLS = """
    concatenate([{X},{X}],dtype='float64') concatenate([{X},{X}],dtype='int32') concatenate([{X},{X}],2)
    concatenate([{X},{X}],dtype='int32',casting='unsafe') concatenate([{X},{X}],dtype='int32',casting='bogus')
    concatenate([{X},{X}],dtype='float64',out=Z((6,4))) concatenate([{X},{X}],out=Z((6,4),'int32'))
    stack([{X},{X}],dtype='float64') stack([{X},{X}],dtype='int32',casting='unsafe') stack([{X},{X}],3)
    vstack([{X},{X}],dtype='float64') hstack([[1],[2]],dtype='float32') hstack([{X},{X}],dtype='int32')
    vsplit(A('float32',(3,)),3) dsplit({X},2) hsplit(A('float32'),1) ravel({X}.T,order='K') ravel({X},order='x')
    size({X},(0,1)) size({X},5) resize({X},(-1,)) trim_zeros(L([[0,0],[0,1]])) trim_zeros(L([0,0,1]),'B')
    trim_zeros(L([0,0])) copyto(Z((3,4)),{X},casting='bogus') copyto(Z((3,4),'int32'),{X},casting='safe')
    fill_diagonal(Z((3,3,2)),1) take({X},[True,False]) take({X},[]) take({X},[99],mode='clip') put(Z((3,)),[0],[])
    take_along_axis({X},L([[0.5]]),1) choose(A('float32',(3,)),[1,2]) select([L([1,0])],[1])
    compress([[True]],{X}) nonzero([1,0]) nonzero(3) unravel_index(5,(3,4),order='F') unravel_index(1.5,(3,4))
    ravel_multi_index(([1,3],[0,3]),(3,4),mode='clip') ravel_multi_index(([1,3],[0,9]),(3,4),mode=('wrap','clip'))
    ravel_multi_index(([1,2],[0,3]),(3,4),order='F') ravel_multi_index(([1,3],[0,3]),(3,4)) ix_({X}) ix_([0,1],[1,2])
    clip({X},0,1,dtype='float64') clip({X},0,1,where=A('bool',(3,4)),out=Z((3,4),'float32')) clip({X},0,1,min=2)
    clip({X},0,1,out=Z((3,4),'int32')) clip({X},max=1) clip({X})
    argmax({X},0,out=Z((4,),'int64')) argmax({X},0,out=Z((3,),'int64')) argmax({X},0,out=Z((4,),'float32'))
    argmax([1,3,2]) argmin(3) argmax({X},axis=5) argmax([]) nanargmax({X},1,out=Z((3,),'int64'))
""".split()


@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str) -> None:
    protocol = "X" in call and not call.startswith(("nonzero", "arg", "select"))
    check(f"xp.{call.format(X=X)}", protocol=protocol)


def test_axes_that_there_are_not() -> None:
    for call in ("sum({X},2)", "max({X},-3)", "all({X},2)", "any({X},5)", "mean({X},2)", "std({X},2)", "cumsum({X},2)"):
        check(f"xp.{call.format(X=X)}", protocol=True)
    check("A('float32',(3,)).transpose(5)")
    for name in ("sum", "prod", "max", "min", "all", "any", "mean", "var"):
        for axis in (0, -1, 1):
            check(f"xp.{name}(A('float32'),axis={axis})", protocol=True)


def test_where_reductions_are_written_to() -> None:
    for name in ("sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "ptp"):
        for place in ("Z((4,))", "Z((1,4))", "Z((3,))", "Z((4,),'float32')", "3", "Z((4,),'bool')"):
            own = place == "Z((4,),'bool')" and name in ("sum", "prod", "std")  # NumPy's own errors, or none
            if not own and not (place == "Z((4,))" and name in ("var", "std")):  # NumPy squares in float32
                check(f"xp.{name}({X},axis=0,out={place})", protocol=True)
        check(f"xp.{name}({X},axis=0,where=A('int32',(3,4)),out=None)" if name in ("sum", "mean", "all") else "0")


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("ind", [[-1, 0, -12, 5], [11], [-13], [3, 12]])
def test_put_to_any_view(mode: str, ind: list[int]) -> None:
    made = []
    for lib in (np, ng):
        for view in (lambda x: x, lambda x: x.T, lambda x: x[::-1, ::2], lambda x: x.reshape(2, 2, 6).T):
            x = lib.arange(24).reshape(4, 6)
            try:
                lib.put(view(x), ind, [70, 80, 90], mode=mode)
            except IndexError:
                x[0] = -1
            made.append(x.tolist())
    assert made[:4] == made[4:]
