package models

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a length of time as people write it: whole weeks and days, then what Go reads, as in 30d, 2w,
// 1d12h or 90m.
func ParseDuration(text string) (time.Duration, error) {
	rest, total := text, time.Duration(0)
	for _, unit := range []struct {
		letter string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, found := strings.Cut(rest, unit.letter)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 63)
		if err != nil || int64(n) > (math.MaxInt64-int64(total))/int64(unit.length) { //nolint:gosec // 63 bits
			return 0, noDuration(text)
		}
		rest, total = after, total+time.Duration(n)*unit.length //nolint:gosec // 63 bits
	}
	if rest == "" && text != "" {
		return total, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || rest != text && d < 0 || d > math.MaxInt64-total {
		return 0, noDuration(text)
	}
	return total + d, nil
}

func noDuration(text string) error {
	return fmt.Errorf("%q is not a length of time such as 30s, 24h, 30d or 2w", text)
}
