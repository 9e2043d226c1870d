"""Record what RQ does and declines to do, by classes of RQ's own kind.

    rq worker --worker-class counterfoil.contrib.rq.Worker
    from counterfoil.contrib.rq import Queue  # in place of `from rq import Queue`

The worker tells of starts, outcomes, retries and lost work horses; the queue of enqueues, and of
those that `unique=True` refused. Everything else comes from COUNTERFOIL_… variables; with
COUNTERFOIL_OFF=1 the classes are RQ's. Nothing here raises into a job or decides whether it runs.
"""

from __future__ import annotations

from counterfoil.contrib.rq.jobs import Job
from counterfoil.contrib.rq.queues import Queue
from counterfoil.contrib.rq.workers import Recorded, SimpleWorker, Worker

__all__ = ["Job", "Queue", "Recorded", "SimpleWorker", "Worker"]
