.PHONY: generate

# Renews the generated protobuf code. A test fails while it is not current.
generate:
	tools/generate.sh
