#!/usr/bin/env bash
# Compares benchmarks of another revision with those of this tree. The two run in turns, since on a shared machine the time moves by more
# between one minute and the next than a change does.
#
# Usage: tools/bench-compare.sh [revision] [benchmarks] [rounds]
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-main} bench=${2:-.} rounds=${3:-6}

work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$base"

run() { # of the tree in $1, added to the file $2
	(
		cd "$1"
		# Not by find: modules inside of this one are not part of it.
		go list -f '{{$d := .Dir}}{{range .TestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}' ./... |
			xargs grep -lE '^func Benchmark' | xargs -n1 dirname | sort -u | xargs go test -run '^$' -bench "$bench" -benchmem >>"$2"
	)
}
for round in $(seq "$rounds"); do
	echo "round $round of $rounds" >&2
	run "$work/base" "$work/base.txt"
	run . "$work/here.txt"
done
go tool -modfile=tools/go.mod benchstat "$base=$work/base.txt" "here=$work/here.txt"
