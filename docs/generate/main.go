// Command generate writes the documents that are made of the code itself: docs/config.md, docs/telemetry.md and example.yaml. "make docs"
// runs it, and a test fails while a file is not what it would write.
//
// Usage, from the root of the project:
//
//	go run ./docs/generate
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// document is one file; the path is relative to the root of the project.
type document struct {
	path string
	make func(root string) ([]byte, error)
}

var documents = []document{
	{"docs/config.md", reference},
	{"docs/telemetry.md", selfMetrics},
	{"example.yaml", example},
}

func write(root string) error {
	for _, d := range documents {
		text, err := d.make(root)
		if err != nil {
			return fmt.Errorf("%s: %w", d.path, err)
		}
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(d.path)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
