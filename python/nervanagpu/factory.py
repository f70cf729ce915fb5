"""`from nervanagpu.factory import NervanaGPU`: the module nervanagpu.compat.factory itself."""

import sys

from nervanagpu.compat import factory
from nervanagpu.compat.factory import *  # noqa: F403

sys.modules[__name__] = factory
