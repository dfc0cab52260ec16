#!/usr/bin/env bash
# Runs every fuzz target of the module for the given time each, and stops at the first finding.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-60s}

grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sort | while IFS=: read -r file target; do
	target=${target#func }
	echo "== ${file%/*} $target"
	# Making a finding smaller can take longer than the run itself; a hundred steps are enough to read it.
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 100x "${file%/*}"
done
