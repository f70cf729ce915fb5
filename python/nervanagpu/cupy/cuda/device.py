"""The device, as cupy.cuda.Device has it."""

from __future__ import annotations

from types import TracebackType

from nervanagpu import _core
from nervanagpu.pycuda.device import Device as _Facts
from nervanagpu.pycuda.device import mem_get_info


class Device:
    """A device by its number; None: the current one. `with` and `use` make it current. ValueError for none there is."""

    def __init__(self, device: int | Device | None = None) -> None:
        number = _core.get_device() if device is None else int(device)
        self._facts = _Facts(number)
        self.id = number
        self._before: list[int] = []

    def __int__(self) -> int:
        return self.id

    __index__ = __int__

    def use(self) -> Device:
        """Makes it current in this thread; itself."""
        _core.set_device(self.id)
        return self

    def __enter__(self) -> Device:
        self._before.append(_core.get_device())
        return self.use()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _core.set_device(self._before.pop())

    def synchronize(self) -> None:
        """Wait for all of its work."""
        _core.synchronize(self.id)

    @property
    def compute_capability(self) -> str:
        """ "90" for sm_90a."""
        major, minor = self._facts.compute_capability()
        return f"{major}{minor}"

    @property
    def mem_info(self) -> tuple[int, int]:
        """(free, total) bytes."""
        with _core.device(self.id):
            return mem_get_info()

    @property
    def pci_bus_id(self) -> str:
        return self._facts.pci_bus_id()

    @property
    def attributes(self) -> dict[str, int]:
        """What is known of the device: MultiProcessorCount, WarpSize, ..."""
        return {_camel(name.name): value for name, value in self._facts.get_attributes().items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.lower().split("_"))


def get_device_id() -> int:
    """That of the current one."""
    return _core.get_device()


def from_pci_bus_id(pci_bus_id: str) -> Device:
    """The device of an address on the bus. ValueError for another."""
    device = Device()
    if pci_bus_id != device.pci_bus_id:
        raise ValueError(f"from_pci_bus_id: pci_bus_id is {pci_bus_id!r}; needs {device.pci_bus_id!r}")
    return device
