package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of times in /proc, the same on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// usage is what a process has used.
type usage struct {
	cpu           time.Duration // user and system, of all its threads
	resident, top int64         // bytes of memory, now and at most since it started
}

// usageOf reads /proc. Systems without it give an error.
func usageOf(pid int) (usage, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return usage{}, err
	}
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return usage{}, err
	}
	var u usage
	if u.cpu, err = parseStat(string(stat)); err != nil {
		return usage{}, err
	}
	u.resident, err = parseStatus(string(status), "VmRSS:")
	top, errTop := parseStatus(string(status), "VmHWM:")
	u.top = top
	return u, errors.Join(err, errTop)
}

// parseStat returns utime and stime of /proc/PID/stat, the fields 14 and 15. The second one is the name in parentheses, which may hold
// blanks and parentheses.
func parseStat(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const first = 3 // the number of the field after the name
	if len(fields) <= 15-first {
		return 0, fmt.Errorf("%.80q is no /proc/PID/stat", stat)
	}
	user, err := strconv.ParseInt(fields[14-first], 10, 64)
	system, errSystem := strconv.ParseInt(fields[15-first], 10, 64)
	return time.Duration(user+system) * clockTick, errors.Join(err, errSystem)
}

// parseStatus returns a number of bytes of /proc/PID/status, where it stands in kB.
func parseStatus(status, key string) (int64, error) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			kB, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kB << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/PID/status has no %s", key)
}
