//go:build integration

package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var prometheusProgram installed

// findPrometheus returns the path of a Prometheus: that of the system, or else one out of Debian's package, which is unpacked into the cache
// rather than installed, so that no root is needed and no service is started.
func findPrometheus(t testing.TB) string {
	t.Helper()
	return prometheusProgram.get(t, func(ctx context.Context) (string, error) {
		const advice = "install it, such as Debian's package prometheus"
		if path, err := exec.LookPath("prometheus"); err == nil {
			return path, nil
		}
		for _, tool := range []string{"apt-get", "dpkg-deb"} {
			if _, err := exec.LookPath(tool); err != nil {
				return program("prometheus", advice)
			}
		}
		dir, err := cached(ctx, "prometheus", unpackPrometheus)
		return filepath.Join(dir, "usr", "bin", "prometheus"), err
	})
}

func unpackPrometheus(ctx context.Context, dir string) error {
	download := func() error {
		cmd := exec.CommandContext(ctx, "apt-get", "download", "prometheus")
		cmd.Dir = dir
		return run(cmd)
	}
	if err := download(); err != nil {
		if os.Geteuid() != 0 { // only root can renew the lists of packages
			return err
		}
		if err := run(exec.CommandContext(ctx, "apt-get", "update", "-q")); err != nil {
			return err
		}
		if err := download(); err != nil {
			return err
		}
	}
	packages, err := filepath.Glob(filepath.Join(dir, "prometheus_*.deb"))
	if err != nil {
		return err
	}
	for _, file := range packages {
		if err := run(exec.CommandContext(ctx, "dpkg-deb", "-x", file, dir)); err != nil {
			return err
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}
