package llm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
)

func TestMoneyIsWrittenWhole(t *testing.T) {
	for amount, want := range map[llm.Money]string{
		0: "$0.00", llm.Dollar: "$1.00", 3 * llm.Dollar / 2: "$1.50", -llm.Dollars(0.25): "-$0.25", 1: "$0.000000001",
		llm.Dollars(0.075): "$0.075", llm.Dollars(-12.1): "-$12.10",
	} {
		require.Equal(t, want, amount.String())
	}
}

func TestPriceCountsEachTokenOnce(t *testing.T) {
	price := llm.Price{Input: 3 * llm.Dollar, Output: 15 * llm.Dollar, CacheRead: llm.Dollars(0.3)}
	for name, test := range map[string]struct {
		usage llm.Usage
		want  llm.Money
	}{
		"nothing":                {llm.Usage{}, 0},
		"input and output":       {llm.Usage{InputTokens: 1000, OutputTokens: 100}, llm.Dollars(0.0045)},
		"read from the cache":    {llm.Usage{InputTokens: 1000, CacheReadTokens: 1000}, llm.Dollars(0.0003)},
		"written, at no price":   {llm.Usage{InputTokens: 1000, CacheWriteTokens: 1000}, llm.Dollars(0.003)},
		"reasoning is output":    {llm.Usage{OutputTokens: 100, ReasoningTokens: 90}, llm.Dollars(0.0015)},
		"more cached than input": {llm.Usage{InputTokens: 1, CacheReadTokens: 10}, llm.Dollars(0.000003)},
	} {
		require.Equal(t, test.want, price.Of(test.usage), name)
	}
	require.Equal(t, llm.Money(1), llm.Price{Input: 1}.Of(llm.Usage{InputTokens: 1}), "rounded up")
}
