package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// sums are what a daemon made of a load: the totals of the points that it wrote to a file.
type sums struct {
	Counters float64 `json:"counters"` // sum of all
	Timings  float64 `json:"timings"`  // sum of the counts of all timers
	Gauges   uint64  `json:"gauges"`   // points
	Sets     uint64  `json:"sets"`     // points
	Wrong    uint64  `json:"wrong"`    // gauges and sets with a value that they cannot have
}

// readSums reads one JSON object a line, as the sink localfile writes them.
func readSums(r io.Reader) (s sums, err error) {
	lines := bufio.NewReaderSize(r, 1<<20)
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return s, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return s, err
		}
		var p struct {
			Name, Type string
			Value      float64
		}
		if err := json.Unmarshal(line, &p); err != nil {
			return s, fmt.Errorf("line %d of the daemon's points: %w", number, err)
		}
		s.add(p.Name, p.Type, p.Value)
	}
}

func (s *sums) add(name, pointType string, value float64) {
	is := func(k kind) bool { return strings.HasPrefix(name, namePrefix[k]) }
	switch {
	case is(counter):
		s.Counters += value
	case is(timer) && strings.HasSuffix(name, ".count") && pointType == "counter":
		s.Timings += value
	case is(gauge):
		s.Gauges++
		if value != gaugeValue {
			s.Wrong++
		}
	case is(set):
		s.Sets++
		if value < 1 || value > setMembers {
			s.Wrong++
		}
	}
}
