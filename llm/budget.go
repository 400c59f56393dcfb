package llm

import "fmt"

// A Budget limits the spending of a day. The zero Budget means no limit.
type Budget struct {
	Tokens int64 // input and output; 0: any number
	Cost   Money // 0: any amount
}

func (b Budget) exceeded(s Spend) bool {
	return b.Tokens > 0 && s.Tokens > b.Tokens || b.Cost > 0 && s.Cost > b.Cost
}

// String describes the budget.
func (b Budget) String() string {
	switch {
	case b.Tokens > 0 && b.Cost > 0:
		return fmt.Sprintf("%d tokens and %v", b.Tokens, b.Cost)
	case b.Cost > 0:
		return b.Cost.String()
	case b.Tokens > 0:
		return fmt.Sprintf("%d tokens", b.Tokens)
	default:
		return "any amount"
	}
}
