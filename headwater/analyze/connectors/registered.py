"""Tables by name that other packages add to, by entry point.

In: a name. Out: the entry, ours or that of an installed package. Installed packages are looked at
when a definition has a name that is not among ours, and not before: it takes a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

from headwater.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Entry = TypeVar("Entry")


class Registered(Mapping[str, Entry], Generic[Entry]):
    """Entries by name: ours, then those of installed packages.

    Args:
        group: the group of entry points.
        pick: returns the entry of what an entry point names, None if it has none for this table.
            A ``TypeError`` says that it is made for another release.
    """

    def __init__(
        self, own: Mapping[str, Entry], group: str, pick: Callable[[object], Entry | None]
    ) -> None:
        self._entries = dict(own)
        self._group = group
        self._pick = pick

    @property
    def loaded(self) -> Mapping[str, Entry]:
        """Our entries and the ones that were asked for, without a look at installed packages."""
        return self._entries

    def __getitem__(self, name: str) -> Entry:
        """Return an entry.

        Raises:
            ConfigError: ``CONNECTOR_NOT_LOADED``.
        """
        if name not in self._entries:
            point = entry_points_of(self._group).get(name)
            entry = self._loaded(point) if point else None
            if entry is None:
                raise KeyError(name)
            self._entries[name] = entry
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys((*self._entries, *entry_points_of(self._group)))
        return (name for name in names if self._has(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _has(self, name: str) -> bool:
        try:
            return self.get(name) is not None
        except ConfigError:  # said when it is named; nothing else is harmed by it
            return False

    def _loaded(self, point: EntryPoint) -> Entry | None:
        package = point.dist.name if point.dist else point.module
        try:
            return self._pick(point.load())
        except (ImportError, AttributeError) as error:
            raise ConfigError(
                "CONNECTOR_NOT_LOADED",
                f'"{point.name}" of package "{package}" cannot be loaded: {error}',
                hint=f"install the package again: pip install --force-reinstall {package}",
            ) from error
        except TypeError:
            raise ConfigError(
                "CONNECTOR_NOT_LOADED",
                f'"{point.name}" of package "{package}" was made for another release',
                hint=f"update the package: pip install --upgrade {package}",
            ) from None


@cache
def entry_points_of(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of installed packages, by name."""
    from importlib.metadata import entry_points  # an import that most commands do without

    return {point.name: point for point in entry_points(group=group)}
