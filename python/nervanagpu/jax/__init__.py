"""JAX on nervanagpu: products, convolution, pooling and stochastic rounding as functions that JAX transforms.

    import jax
    import nervanagpu.jax as ngj

    @jax.jit
    def loss(w, x):
        return ngj.linear(x, w, activation="gelu").sum()     # one kernel

    dw = jax.grad(loss)(w, x)                                # the gradient's products are ours, too
    print(ngj.calls())                                       # how often each kind of call has run here

Arrays are used where they lie, through XLA's foreign function interface: on their own GPU, in XLA's stream, without
waiting. Where the device is the emulator (NERVANAGPU_DEVICE=emulator) they are the CPU's. They are float32, float16 or
bfloat16, all operands of a call alike. What does not fit is a TypeError or a ValueError when the function is traced.
"""

try:
    import jax as _jax
except ImportError as error:
    raise ImportError("nervanagpu.jax needs JAX: pip install 'nervanagpu[jax]'") from error

if not hasattr(_jax, "ffi"):
    raise ImportError(
        f"nervanagpu.jax needs jax.ffi, which JAX {_jax.__version__} has not: pip install 'nervanagpu[jax]'"
    )

from nervanagpu.jax.calls import calls
from nervanagpu.jax.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from nervanagpu.jax.pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    l2_pool1d,
    l2_pool2d,
    l2_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from nervanagpu.jax.products import grouped_matmul, linear, matmul
from nervanagpu.jax.rounding import stochastic_round

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "calls",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "grouped_matmul",
    "l2_pool1d",
    "l2_pool2d",
    "l2_pool3d",
    "linear",
    "matmul",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "stochastic_round",
]
