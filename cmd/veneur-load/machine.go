package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine says what this program runs on.
func machine() string {
	model, system := runtime.GOARCH, runtime.GOOS
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		model = cpuModel(string(info), model)
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		number, _, _ := strings.Cut(strings.TrimSpace(string(release)), "-")
		system = "Linux " + number
	}
	return fmt.Sprintf("%s, %d cores, %s", model, runtime.NumCPU(), system)
}

// cpuModel returns the first model that /proc/cpuinfo names.
func cpuModel(info, otherwise string) string {
	for line := range strings.Lines(info) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return otherwise
}
