"""Make Superset's folder ready: secrets, metadata database, administrator, roles.

In: ``SUPERSET_HOME`` and, where another name than ``admin`` is wanted, ``SUPERSET_USERNAME``.
Out: in that folder ``secret_key``, ``admin_password`` (for their owner only) and ``superset.db``;
on standard output the password, the first time only. It runs before every start, in the container
and as a local process, by the Python that has Superset; a folder that is ready is left alone.
"""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path


def main() -> None:
    """Do what is still to be done."""
    home = Path(os.environ["SUPERSET_HOME"])
    username = os.environ.get("SUPERSET_USERNAME", "admin")
    ready = home / "ready"
    make_secret(home / "secret_key", 48)
    if make_secret(home / "admin_password", 18):
        password = (home / "admin_password").read_text(encoding="utf-8")
        sys.stdout.write(f"superset: user {username}, password {password}\n")
        sys.stdout.write(f"  shown once; it is stored in {home / 'admin_password'}\n")
        sys.stdout.flush()
    release = version("apache-superset")
    if not ready.exists() or ready.read_text(encoding="utf-8") != release:
        with redirect_stdout(sys.stderr):
            make_database(username, (home / "admin_password").read_text(encoding="utf-8"))
        ready.write_text(release, encoding="utf-8")


def make_secret(path: Path, size: int) -> bool:
    """Write random text to a file that only its owner may read, unless it is there.

    Args:
        path: the file.
        size: bytes of randomness.

    Returns:
        Whether it was made.
    """
    if path.exists():
        return False
    draft = path.with_name(f".{path.name}")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(size))
    draft.rename(path)  # half a secret never has the name
    return True


def make_database(username: str, password: str) -> None:
    """Create or update tables, roles and the administrator; what is there already stays.

    Not by Superset's own commands: they take the password on the command line, where every user of
    the machine can read it, and load the application three times.
    """
    from superset.app import create_app

    app = create_app()
    with app.app_context():
        import superset
        from flask_migrate import upgrade
        from superset.extensions import appbuilder

        upgrade(directory=str(Path(superset.__file__).parent / "migrations"))
        allow_equal_names()
        appbuilder.add_permissions(update_perms=True)
        manager = appbuilder.sm
        manager.sync_role_definitions()
        if manager.find_user(username) is None:
            role = manager.find_role("Admin")
            manager.add_user(username, "Headwater", "Admin", "admin@localhost", role, password)


def allow_equal_names() -> None:
    """Let tables of different schemas have one name, as two projects have with ``commits``.

    Superset's migrations drop this constraint elsewhere, but in SQLite, where it has no name, it
    stays (6.1.0, apache/superset#9882). No dataset is there yet when this finds it.
    """
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from sqlalchemy import inspect
    from superset.extensions import db

    with db.engine.begin() as connection:
        found = inspect(connection).get_unique_constraints("tables")
        if any(each["column_names"] == ["table_name"] for each in found):
            operations = Operations(MigrationContext.configure(connection))
            names = {"uq": "uq_%(table_name)s_%(column_0_name)s"}
            with operations.batch_alter_table("tables", naming_convention=names) as table:
                table.drop_constraint("uq_tables_table_name", type_="unique")


if __name__ == "__main__":
    main()
