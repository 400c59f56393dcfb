package figure

import (
	"fmt"
	"math"
	"strconv"
)

// Count writes a number with its thousands apart.
func Count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Round3 keeps three significant digits above 100, and no decimals.
func Round3(v float64) string {
	if v < 100 {
		return Round2(v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return Count(int(math.Round(v/unit) * unit))
}

// Round2 is for small numbers.
func Round2(v float64) string {
	switch {
	case v >= 100:
		return Count(int(math.Round(v)))
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
