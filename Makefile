# Sugar for bootstrap.py; nothing here is needed to run Counterfoil.
.PHONY: up test quick check format

up:
	python3 bootstrap.py up

test:
	python3 bootstrap.py test

quick:
	python3 bootstrap.py test -m quick

check:
	python3 bootstrap.py check

format:
	.venv/bin/python -m ruff format .
	.venv/bin/python -m ruff check --fix .
