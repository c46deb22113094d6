"""The list of augmentations: each protocol that adds to the objects of others has an entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from pydantic import create_model

from frr_config.augmentation import Augmentation
from frr_config.errors import RenderError
from frr_config.protocols.bfd.augments import AUGMENTS as BFD
from frr_config.syntax import Form
from frr_config.types import Model
from frr_config.version import FrrVersion

ALL: tuple[Augmentation, ...] = (
    *BFD,
)  # fmt: skip

AnyModel = TypeVar("AnyModel", bound=Model)


def of(place: str) -> tuple[Augmentation, ...]:
    """Those of the objects of one kind."""
    return tuple(one for one in ALL if one.place == place)


def augmented(place: str) -> Callable[[type[AnyModel]], type[AnyModel]]:
    """For a class of settings: the same with the added fields, which follow its own."""

    def with_fields(own: type[AnyModel]) -> type[AnyModel]:
        added = tuple(one.settings for one in of(place))
        if not added:
            return own
        for one in added:
            assert own.model_fields.keys().isdisjoint(one.model_fields), f"{one} replaces a field of {own}"
        # The order of the bases, turned round, is that of the fields.
        bases = cast(tuple[type[AnyModel], ...], (*added, own))
        return create_model(own.__name__, __base__=bases, __module__=own.__module__, __doc__=own.__doc__)

    return with_fields


def lines_of(place: str, settings: Model, version: FrrVersion) -> Iterator[str]:
    """The added lines of an object. Raises RenderError where this release of FRR has none like them."""
    for one in of(place):
        for text in one.lines(settings):
            if lacking := one.lacking(version):
                raise RenderError(lacking)
            yield text


def forms_of(place: str) -> Iterator[Form]:
    """What these lines mean."""
    for one in of(place):
        yield from one.forms


def lacking(version: FrrVersion) -> dict[str, str]:
    """What this release of FRR cannot do, by ``WORD of PLACE`` of the augmentation."""
    found = {f"{one.word} of {one.place}": one.lacking(version) for one in ALL}
    return {name: text for name, text in found.items() if text}
