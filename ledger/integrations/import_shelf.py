"""The maps that are shipped, by name, and those of users, by path."""

from __future__ import annotations

from pathlib import Path

from ledger.domain.import_maps import BadMap, Map, read_map
from ledger.registry import registry

MAPS = Path(__file__).parent.parent / "maps"
LARGEST = 256 * 1024


def shipped() -> list[str]:
    """Return the names of the maps that are shipped."""
    return sorted(path.stem for path in MAPS.glob("*.toml"))


def load_map(name: str, zone_name: str = "") -> Map:
    """Load a map by the name of a shipped one or by its path; raises BadMap."""
    path = MAPS / f"{name}.toml" if name in shipped() else Path(name)
    try:
        if path.stat().st_size > LARGEST:
            raise BadMap(f"the map is over {LARGEST:,} bytes")
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise BadMap("the map is no UTF-8 text") from None
    except (OSError, ValueError) as error:
        known = ", ".join(shipped())
        why = getattr(error, "strerror", None) or "no such file"
        raise BadMap(f"it cannot be read: {why}; shipped are {known}") from None
    found = read_map(text, path.stem, zone_name)
    if found.rows and found.rows not in registry.row_readers:
        known = ", ".join(sorted(registry.row_readers))
        raise BadMap(f"there is no reader of rows named {found.rows}; there is {known}")
    return found
