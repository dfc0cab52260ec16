package config

// nearest returns the candidate that a misspelt word was probably meant to be, or "" when none is near: at most a third of its
// letters changed, added, left out or swapped with their neighbour.
func nearest(word string, candidates []string) string {
	const longest = 64 // keep the cost of nonsense low
	if len(word) > longest {
		return ""
	}
	best, distance := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if len(c) > longest {
			continue
		}
		if d := editDistance(word, c); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// editDistance is the restricted Damerau-Levenshtein distance in bytes: insertion, deletion, substitution and the swap of
// neighbours cost one each.
func editDistance(a, b string) int {
	rows := make([]int, 3*(len(b)+1))
	before, last, row := rows[:len(b)+1], rows[len(b)+1:2*(len(b)+1)], rows[2*(len(b)+1):]
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
