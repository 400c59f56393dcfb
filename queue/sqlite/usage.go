package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// readUsages parses the text of usageText, one usage a line.
func readUsages(ctx context.Context, tx *driver.WriteTx, query string, args ...any) ([]joblimit.Usage, error) {
	var text sql.NullString
	if err := scanRow(ctx, tx, query, args, &text); err != nil {
		return nil, err
	}
	usages := make([]joblimit.Usage, 0, 1+strings.Count(text.String, "\n"))
	for line := range strings.Lines(text.String) {
		s, err := parseUsage(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("sqlite: the usage of a limit cannot be read: %w", err)
		}
		usages = append(usages, s)
	}
	return usages, nil
}

func parseUsage(line string) (s joblimit.Usage, err error) {
	var paused, period int
	var errs []error
	for _, field := range []*int{&paused, &s.Limit.MaxRunning, &s.Limit.Rate, &period, &s.Limit.Burst, &s.Running} {
		number, rest, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(number)
		*field, line, errs = n, rest, append(errs, err)
	}
	arrival, name, _ := strings.Cut(line, " ")
	if arrival != "" {
		var at jobsql.Instant
		errs = append(errs, at.Scan(arrival))
		s.Arrival = at.Time
	}
	s.Limit.Paused, s.Limit.Per = paused > 0, time.Duration(period)*time.Microsecond
	s.Name, err = parseText(name)
	return s, errors.Join(append(errs, err)...)
}

// parseText reads a text that SQLite's json_quote has written.
func parseText(quoted string) (text string, err error) {
	if n := len(quoted); n >= 2 && !strings.Contains(quoted, `\`) {
		return quoted[1 : n-1], nil
	}
	err = json.Unmarshal([]byte(quoted), &text)
	return text, err
}

// writeArrivals stores the rates that have moved.
func writeArrivals(ctx context.Context, tx *driver.WriteTx, usages *joblimit.Usages) error {
	var rows jsonRows
	for _, s := range usages.Moved() {
		rows.begin()
		rows.text(string(usages.Kind()))
		rows.text(s.Name)
		rows.time(s.Arrival)
	}
	if rows.empty() {
		return nil
	}
	_, err := tx.ExecContext(ctx, setArrivals, rows.end())
	return err
}
