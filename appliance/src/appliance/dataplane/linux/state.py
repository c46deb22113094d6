"""The state of the linux data plane."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from appliance.dataplane.linux.objects import KernelSettings, LinuxObject

__all__ = ["KernelSettings", "LinuxState"]


class LinuxState(Mapping[str, LinuxObject]):
    """Objects by key. Two states are equal when their objects are."""

    def __init__(self, objects: Mapping[str, LinuxObject]) -> None:
        self._objects = dict(objects)

    @classmethod
    def of(cls, objects: Iterable[LinuxObject]) -> LinuxState:
        """The state made of these objects."""
        return cls({item.key: item for item in objects})

    def __getitem__(self, key: str) -> LinuxObject:
        return self._objects[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)
