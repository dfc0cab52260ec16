#!/usr/bin/env bash
# Writes the .pb.go file of each schema named in tools/protos: by protoc where the version we know is installed, by tools/gen
# elsewhere. Both give the same bytes.
set -euo pipefail
cd "$(dirname "$0")"

known='libprotoc 3.21.12'
if [ "$(protoc --version 2>/dev/null || true)" != "$known" ]; then
	echo "generate: $known is not here, so tools/gen does it"
	exec go run ./gen
fi
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/protoc-gen-gogofast" github.com/gogo/protobuf/protoc-gen-gogofast
gogo=$(go list -m -f '{{.Dir}}' github.com/gogo/protobuf)
cd ..
while read -r schema; do
	protoc --plugin="$bin/protoc-gen-gogofast" -I . -I "$gogo" --gogofast_out=paths=source_relative:. "$schema"
done <tools/protos
