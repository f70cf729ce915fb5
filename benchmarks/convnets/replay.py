"""A step of step.py recorded in graphs: one launch from the host for all of it."""

from __future__ import annotations

import nervanagpu as ng
from convnets.step import Step


class Replay:
    """fprop alone and fprop with bprop, each recorded once. launch() of either; both write what the step writes."""

    def __init__(self, step: Step) -> None:
        step.fprop()  # so that what is made at first use stands before it is recorded
        step.bprop()
        ng.synchronize()

        def whole() -> None:
            step.fprop()
            step.bprop()

        self.fprop = ng.Graph(step.fprop)
        self.whole = ng.Graph(whole)
