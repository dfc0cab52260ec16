package jsonappend

// digits2 has the two digits of every number below 100.
const digits2 = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

const (
	nanosPerSecond = 1_000_000_000
	nanosPerMilli  = 1_000_000
	secondsPerDay  = 86_400

	// firstSecond and lastSecond bound the years 0 to 9999, which are all that RFC 3339 can write.
	firstSecond = -62_167_219_200
	lastSecond  = 253_402_300_799
)

// Time appends the instant as a string of RFC 3339 in UTC with nine digits after the point. nanos may be any number, and count from the
// second on. Of an instant outside of the years 0 to 9999 nothing is appended, and ok is false.
func Time(dst []byte, seconds, nanos int64) (_ []byte, ok bool) {
	// Whole seconds first: what is out of range by far must not wrap around.
	carry := floorDiv(nanos, nanosPerSecond)
	if seconds < firstSecond-carry || seconds > lastSecond-carry {
		return dst, false
	}
	return appendTime(dst, seconds+carry, uint32(nanos-carry*nanosPerSecond)), true
}

// TimeNanos is Time for nanoseconds since 1970, which are always in range.
func TimeNanos(dst []byte, nanos int64) []byte {
	seconds := floorDiv(nanos, nanosPerSecond)
	return appendTime(dst, seconds, uint32(nanos-seconds*nanosPerSecond))
}

// appendTime writes by a calendar of its own, since time.Time's costs three times as much. Years begin in March, so that the leap day is a
// year's last day, and months have lengths that one multiplication gives.
func appendTime(dst []byte, seconds int64, nanos uint32) []byte {
	const (
		daysPerEra    = 146_097 // 400 years
		eraOfYear0    = 719_468 // days from the first of March of the year 0 to 1970
		maxDaysBefore = daysPerEra
	)
	days := floorDiv(seconds, secondsPerDay)
	clock := uint32(seconds - days*secondsPerDay)
	// An era is added, and taken off again, so that January and February of the year 0 are not negative.
	d := uint32(days + eraOfYear0 + maxDaysBefore)
	era := d / daysPerEra
	inEra := d % daysPerEra
	yearOfEra := (inEra - inEra/1460 + inEra/36_524 - inEra/146_096) / 365
	dayOfYear := inEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	month := (5*dayOfYear + 2) / 153
	day := dayOfYear - (153*month+2)/5 + 1
	year := yearOfEra + era*400 - 400
	if month < 10 {
		month += 3
	} else {
		month -= 9
		year++
	}
	minutes := clock / 60
	high, low := nanos/100_000, nanos%100_000
	var b [32]byte
	b[0] = '"'
	two(b[1:], year/100)
	two(b[3:], year%100)
	b[5] = '-'
	two(b[6:], month)
	b[8] = '-'
	two(b[9:], day)
	b[11] = 'T'
	two(b[12:], minutes/60)
	b[14] = ':'
	two(b[15:], minutes%60)
	b[17] = ':'
	two(b[18:], clock%60)
	b[20] = '.'
	two(b[21:], high/100)
	two(b[23:], high%100)
	b[25] = '0' + byte(low/10_000)
	two(b[26:], low/100%100)
	two(b[28:], low%100)
	b[30] = 'Z'
	b[31] = '"'
	return append(dst, b[:]...)
}

func two(b []byte, v uint32) {
	_ = b[1]
	b[0], b[1] = digits2[v*2], digits2[v*2+1]
}

// Millis appends the whole milliseconds since 1970, rounded down, as a number.
func Millis(dst []byte, nanos int64) []byte { return Int(dst, floorDiv(nanos, nanosPerMilli)) }

// MillisNanos appends the milliseconds since 1970 as a string with six digits after the point, "1700000000123.000456", as the OpenTelemetry
// mode of Elasticsearch wants its @timestamp. Read as a decimal number it is exact, before 1970 too.
func MillisNanos(dst []byte, nanos int64) []byte {
	seconds := floorDiv(nanos, nanosPerSecond)
	return appendMillisNanos(dst, seconds, nanos-seconds*nanosPerSecond)
}

// appendMillisNanos takes nanos from 0 to 999,999,999.
func appendMillisNanos(dst []byte, seconds, nanos int64) []byte {
	dst = append(dst, '"')
	if seconds < 0 {
		dst = append(dst, '-')
		if seconds = -seconds; nanos > 0 {
			seconds--
			nanos = nanosPerSecond - nanos
		}
	}
	dst = Int(dst, seconds*1000+nanos/nanosPerMilli)
	rest := uint32(nanos % nanosPerMilli)
	b := [8]byte{0: '.', 7: '"'}
	two(b[1:], rest/10_000)
	two(b[3:], rest/100%100)
	two(b[5:], rest%100)
	return append(dst, b[:]...)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
