package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parseTime reads a date, or a unix time: in seconds with up to nine decimals, or, told apart by their number of digits, in milliseconds,
// microseconds or nanoseconds. A date without a zone is local time. Nothing is before 1970, since no wire format can say so.
func parseTime(s string) (time.Time, error) {
	t, ok := parseUnix(s)
	for i := 0; !ok && i < len(timeLayouts); i++ {
		var err error
		t, err = time.ParseInLocation(timeLayouts[i], s, time.Local)
		ok = err == nil
	}
	switch {
	case !ok:
		return time.Time{}, errTime
	case madeUpZone(t):
		return time.Time{}, errZone
	case t.Unix() <= 0:
		return time.Time{}, errEarly
	}
	return t, nil
}

var (
	errTime  = errors.New("write unix seconds, or a date such as 2006-01-02T15:04:05Z")
	errZone  = errors.New("what that zone is differs from place to place: write it as in 2006-01-02T15:04:05-07:00")
	errEarly = errors.New("that is not after 1970 began")
)

var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 MST", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04",
	"2006-01-02", "2006/01/02 15:04:05", "2006/01/02", "01/02/2006 15:04:05", "01/02/2006", time.RFC1123Z, time.RFC1123, time.RFC850,
	time.ANSIC, time.UnixDate, time.RubyDate, "20060102150405", "20060102",
}

// madeUpZone reports whether package time did not know the abbreviation of the zone, such as PST far from the Pacific, and took it for
// another name of UTC.
func madeUpZone(t time.Time) bool {
	name, offset := t.Zone()
	return offset == 0 && t.Location() != time.Local && !slices.Contains([]string{"", "UTC", "GMT"}, name)
}

func parseUnix(s string) (time.Time, bool) {
	whole, fraction, dotted := strings.Cut(s, ".")
	if !digits(whole) || slices.Contains([]int{8, 14}, len(whole)) { // those are 20060102 and 20060102150405
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	if dotted {
		nanos, _ := strconv.Atoi((fraction + "000000000")[:9])
		return time.Unix(n, int64(nanos)), digits(fraction) && len(whole) <= 11
	}
	switch {
	case len(whole) <= 11:
		return time.Unix(n, 0), true
	case len(whole) <= 13:
		return time.UnixMilli(n), true
	case len(whole) <= 16:
		return time.UnixMicro(n), true
	default:
		return time.Unix(0, n), true
	}
}

// digits reports whether s is nothing but digits, one at least.
func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
