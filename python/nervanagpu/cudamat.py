"""`import nervanagpu.cudamat as cm`: the module nervanagpu.compat.cudamat itself."""

import sys

from nervanagpu.compat import cudamat
from nervanagpu.compat.cudamat import *  # noqa: F403

sys.modules[__name__] = cudamat
