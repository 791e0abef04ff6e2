"""An Airflow DAG for a project that is run every hour instead of all the time.

Copy it into Airflow's folder of DAGs, and set the Airflow variable ``headwater_project`` to the
project's folder, which the workers must see. Secrets of ``headwater.toml`` come from the workers'
environment. The tasks run one after the other, because one process at a time may own a project.
"""

from datetime import UTC, datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, chain

HEADWATER = "headwater --project '{{ var.value.headwater_project }}'"
COMMANDS = {
    "run": "run --once",
    "maintain": "maintain",
    "verify": "verify --output json",
    "doctor": "doctor --output json",
}
"""What is done, in this order. Each command that exits with another code than 0 fails its task."""

with DAG(
    dag_id="headwater",
    schedule="@hourly",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=1)},
):
    chain(
        *(
            BashOperator(task_id=task, bash_command=f"{HEADWATER} {command}", append_env=True)
            for task, command in COMMANDS.items()
        )
    )
