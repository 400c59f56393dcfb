package llm

import (
	"fmt"
	"strings"
)

// Money is an amount in billionths of a US dollar.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000

// Dollars returns an amount, rounded to a billionth.
func Dollars(amount float64) Money {
	if amount < 0 {
		return Money(amount*float64(Dollar) - 0.5)
	}
	return Money(amount*float64(Dollar) + 0.5)
}

// String formats the amount as $1.50, with as many digits after the point as it has and two at least.
func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	fraction := strings.TrimRight(fmt.Sprintf("%09d", m%Dollar), "0")
	return fmt.Sprintf("%s$%d.%s", sign, m/Dollar, (fraction + "00")[:max(2, len(fraction))])
}

// A Price is the price of a million tokens.
type Price struct {
	Input  Money
	Output Money
	// CacheRead and CacheWrite are for the tokens of the input that the provider's cache gives and takes. Default 0: as
	// Input.
	CacheRead  Money
	CacheWrite Money
}

// Of returns the cost of the usage, rounded up.
func (p Price) Of(u Usage) Money {
	const million = 1_000_000
	plain := max(0, u.InputTokens-u.CacheReadTokens-u.CacheWriteTokens)
	sum := Money(plain)*p.Input + Money(u.OutputTokens)*p.Output +
		Money(u.CacheReadTokens)*orInput(p.CacheRead, p) + Money(u.CacheWriteTokens)*orInput(p.CacheWrite, p)
	return (sum + million - 1) / million
}

func orInput(m Money, p Price) Money {
	if m == 0 {
		return p.Input
	}
	return m
}

// validate names the price that is negative or beyond a thousand dollars.
func (p Price) validate() error {
	for name, m := range map[string]Money{"Input": p.Input, "Output": p.Output, "CacheRead": p.CacheRead,
		"CacheWrite": p.CacheWrite} {
		if m < 0 || m > 1000*Dollar {
			return fmt.Errorf("%s is %v for a million tokens; it must be from $0 to $1000", name, m)
		}
	}
	return nil
}
