package main

// search returns the fastest rate, in messages a second, at which probe loses nothing; 0 when there is none. probe sends at a rate, 0 being
// as fast as possible, and returns at which rate it did and how much of it arrived. When free is set nothing was lost at the fastest.
func search(steps int, probe func(rate float64) (sent, got float64, err error)) (best float64, free bool, err error) {
	sent, got, err := probe(0)
	if err != nil || got >= sent {
		return sent, true, err
	}
	// What arrived of too much is about what can be taken; sending, too, takes some of the machine, so it may be more.
	low, high, next := 0.0, sent, got
	for range steps {
		sent, got, err := probe(next)
		if err != nil {
			return 0, false, err
		}
		if got >= sent {
			low = max(low, sent)
		} else {
			high = min(high, next)
		}
		if low >= high {
			break // the sender does not get there at all
		}
		if next = (low + high) / 2; low == 0 {
			next = high * firstGuess
		}
	}
	return low, false, nil
}

// firstGuess is how far to go down from a rate that was too fast while none is known that was not.
const firstGuess = 0.7
