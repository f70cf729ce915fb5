"""The convolutions of convnets/networks.py as lines for conv_sweep.

    python benchmarks/sweep_lines.py vgg_a googlenet --passes bprop | build/bin/conv_sweep 300 "" sums

times them without sums of channels, and with sums made by the kernel and after it.
"""

from __future__ import annotations

import argparse

from convnets.networks import NETWORKS, Conv, work


def lines(network: str, passes: list[str]) -> list[str]:
    """Each layer once for each pass: name pass n c side k size stride pad. The first has no data gradient."""
    net = NETWORKS[network]
    return [
        f"{network}.{w.name} {which} {net.n} {w.c} {w.side_in} {w.k} {w.layer.size} {w.layer.stride} {w.layer.pad}"
        for w in work(net)
        if isinstance(w.layer, Conv)
        for which in passes
        if which != "bprop" or w.bprop
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", choices=sorted(NETWORKS))
    parser.add_argument("--passes", nargs="+", default=["fprop", "bprop"], choices=["fprop", "bprop", "update"])
    arguments = parser.parse_args()
    for name in arguments.networks:
        print("\n".join(lines(name, arguments.passes)))
