//go:build unix

package delivery_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// childDir makes the test binary a daemon with a queue in that directory and a backend that is down.
const childDir = "DELIVERY_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	leaktest.Main(m)
}

// child offers interval after interval for ever, and says after each how many items are on disk.
func child(dir string) int {
	log := logrus.New()
	log.SetOutput(io.Discard)
	rec := &sinktest.Recorder{}
	rec.AnswerWith(func(context.Context, sinktest.Attempt) error { return errBackend })
	cfg := delivery.DefaultConfig()
	cfg.DiskQueue.Path, cfg.ChunkItems, cfg.RetryMax = dir, 50, 100*time.Millisecond
	d := delivery.New(rec, cfg, delivery.Settings{Name: "out", Interval: interval, Log: log, Telemetry: telemetry.New()})
	if err := d.Start(context.Background()); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	go func() { _ = d.Run(context.Background()) }()
	for i := d.Ledger().Replayed / 120; ; i++ {
		d.Offer(batch(120, float64(i)))
		for d.Ledger().Stored < 120*(i+1) {
			<-time.After(time.Millisecond)
		}
		fmt.Println(d.Ledger().Stored)
	}
}

// A daemon that is killed by -9 while its backend is down loses nothing that was on disk: the next one sends it, once and in order.
func TestKilledDaemonIsReplayed(t *testing.T) {
	dir := t.TempDir()
	stored := 0
	for range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		said := bufio.NewScanner(out)
		for range 20 {
			require.True(t, said.Scan())
			stored, err = strconv.Atoi(said.Text())
			require.NoError(t, err, said.Text())
		}
		require.NoError(t, cmd.Process.Kill())
		for said.Scan() {
			if n, err := strconv.Atoi(said.Text()); err == nil {
				stored = n
			}
		}
		require.Error(t, cmd.Wait())
		// Whole intervals, so that the next child goes on where this one was.
		r := onDisk(t, dir, nil)
		replayed := int(r.Ledger().Replayed)
		require.NoError(t, r.Close())
		require.GreaterOrEqual(t, replayed, stored)
		if replayed%120 != 0 {
			stored = replayed
			break
		}
	}
	r := onDisk(t, dir, nil)
	replayed := r.Ledger().Replayed
	require.GreaterOrEqual(t, int(replayed), stored)
	stop := run(t, r)
	r.rec.WaitUntil(t, func() bool { return r.Ledger().Waiting == 0 })
	stop()
	r.settled(delivery.Ledger{Sent: replayed, Replayed: replayed})
	require.IsIncreasing(t, r.values())
	require.Len(t, r.rec.Points(), int(replayed))
}
