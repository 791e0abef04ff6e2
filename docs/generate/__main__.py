"""Writes every page of the reference whose generated parts have changed, and says which."""

from __future__ import annotations

import sys

from docs.generate.pages import PAGES, filled


def main() -> None:
    """Write the pages that are not up to date."""
    for page in sorted(PAGES.rglob("*.md")):
        old = page.read_text(encoding="utf-8")
        if (new := filled(old)) != old:
            page.write_text(new, encoding="utf-8")
            sys.stdout.write(f"wrote {page.relative_to(PAGES.parents[1])}\n")


if __name__ == "__main__":
    main()
