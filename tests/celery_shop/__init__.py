"""A shop of 400 kinds of Celery tasks, made for tests: its project, processes and own counts."""
