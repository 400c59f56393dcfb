package view

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
)

// Print prints the costs for people.
func (v *Cost) Print(w io.Writer) error {
	r := printer.NewReport(w)
	v.write(r)
	return r.Flush()
}

func (v *Cost) write(r *printer.Report) {
	v.Today.print(r, "Today, "+v.Today.From.Local().Format("2006-01-02"))
	v.Month.print(r, "This month, "+v.Month.From.Local().Format("2006-01"))
	r.Heading("Thirty days like the last")
	for _, f := range v.Forecast {
		f.print(r)
	}
	if len(v.Budgets) > 0 {
		r.Heading("Left of today's budgets")
	}
	for _, b := range v.Budgets {
		r.Add(cmp.Or(b.Mailbox, "all together"), b.String())
	}
	if len(v.Unpriced) > 0 {
		r.Heading("Not counted in dollars")
		r.Line("The price of " + strings.Join(v.Unpriced, ", ") + " is not configured; see input_price and output_price.")
	}
}

func (p *Period) print(r *printer.Report, title string) {
	r.Heading(title)
	for _, s := range p.Spent {
		r.Add("mailbox", cmp.Or(s.Mailbox, "none"))
		r.Add("  model", s.Model)
		r.Add("  spent", s.String())
	}
	if len(p.Spent) != 1 {
		r.Add("total", p.Total.String())
	}
}

// String is for people.
func (s Spent) String() string {
	text := fmt.Sprintf("%s, %s, %s", amount(s.Dollars), thousands(s.Tokens, "token"), thousands(s.Calls, "call"))
	if s.Cached > 0 {
		text += fmt.Sprintf(", %s more answered from what is kept", grouped(s.Cached))
	}
	if s.Failed > 0 {
		text += fmt.Sprintf(", %s failed", grouped(s.Failed))
	}
	return text
}

// String is for people.
func (b Budget) String() string {
	var parts []string
	if b.TokensLeft != nil {
		parts = append(parts, fmt.Sprintf("%s of %s tokens", grouped(*b.TokensLeft), grouped(b.Tokens)))
	}
	if b.DollarsLeft != nil {
		parts = append(parts, fmt.Sprintf("%s of %s", amount(*b.DollarsLeft), amount(b.Dollars)))
	}
	return strings.Join(parts, ", ")
}

func (f *Forecast) print(r *printer.Report) {
	text := "no forecast before the first whole day"
	if f.Days > 0 {
		text = fmt.Sprintf("%s, %s, %s, by the last %s", amount(f.Dollars), thousands(f.Tokens, "token"),
			thousands(f.Calls, "call"), days(f.Days))
	}
	r.Add(cmp.Or(f.Mailbox, "all together"), text)
}

func days(n int) string {
	if n == 1 {
		return "day"
	}
	return strconv.Itoa(n) + " days"
}

// amount shows cents, and more digits if a smaller sum would show as zero.
func amount(d float64) string {
	if d > 0 && d < 0.1 {
		return fmt.Sprintf("$%.4f", d)
	}
	return fmt.Sprintf("$%.2f", d)
}

// thousands is a number with thousands apart, and what it counts.
func thousands(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// grouped writes thousands apart.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
