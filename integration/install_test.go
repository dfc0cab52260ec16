//go:build integration

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// installTime bounds each installation. A machine that has nothing yet needs one to three minutes.
const installTime = 25 * time.Minute

// installed is what an installation made, once a process.
type installed struct {
	once sync.Once
	path string
	err  error
}

// get installs what is not there yet and fails the test when that cannot be done.
func (i *installed) get(t testing.TB, install func(ctx context.Context) (string, error)) string {
	t.Helper()
	i.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), installTime)
		defer cancel()
		i.path, i.err = install(ctx)
	})
	require.NoError(t, i.err)
	return i.path
}

// cached returns the folder of the cache with the given name. When it is not there, fill fills a folder beside it, which then takes the
// name: what was begun and not ended is never taken for whole.
func cached(ctx context.Context, name string, fill func(ctx context.Context, dir string) error) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place to keep what is installed; set HOME or XDG_CACHE_HOME: %w", err)
	}
	base = filepath.Join(base, "veneur-integration")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(base, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	dir, err := os.MkdirTemp(base, "new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := fill(ctx, dir); err != nil {
		return "", err
	}
	if err := os.Rename(dir, path); err != nil {
		if _, there := os.Stat(path); there != nil {
			return "", err
		}
		// Another process was faster.
	}
	return path, nil
}

// program finds a program that has to be there.
func program(name, advice string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: %s", name, advice)
	}
	return path, nil
}

// java finds the java of JAVA_HOME, or that of the path.
func java() (string, error) {
	const advice = "install a Java Development Kit of version 11 to 21, such as Debian's openjdk-17-jdk-headless, or set JAVA_HOME to one"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return program(filepath.Join(home, "bin", "java"), advice)
	}
	return program("java", advice)
}

// run runs a program to its end. Its error has the end of what the program said.
func run(cmd *exec.Cmd) error {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if err == nil {
		return nil
	}
	text := strings.TrimSpace(said.String())
	const tail = 4000
	if len(text) > tail {
		text = "… " + text[len(text)-tail:]
	}
	return errors.Join(fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err), errors.New(text))
}
