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

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue/driver"
)

// A standing is a limit and how much of it is used.
type standing struct {
	kind    driver.TargetKind
	name    string // of the type or key that is limited
	limit   joblimit.Limit
	arrival time.Time // of the rate
	running int
	moved   bool // the arrival is not what is stored
	room         // as a claim goes on
	marked  bool // the key was
}

// readStandings reads what standingText has written, a line for each.
func readStandings(ctx context.Context, tx *driver.WriteTx, kind driver.TargetKind, query string, args ...any) (map[string]*standing, error) {
	var text sql.NullString
	if err := tx.QueryRowContext(ctx, query, args...).Scan(&text); err != nil {
		return nil, err
	}
	standings := make(map[string]*standing, 1+strings.Count(text.String, "\n"))
	for line := range strings.Lines(text.String) {
		s, err := parseStanding(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("sqlite: how a limit stands cannot be read: %w", err)
		}
		s.kind = kind
		standings[s.name] = s
	}
	return standings, nil
}

func parseStanding(line string) (*standing, error) {
	var s standing
	var paused, period int
	var errs []error
	for _, field := range []*int{&paused, &s.limit.MaxRunning, &s.limit.Rate, &period, &s.limit.Burst, &s.running} {
		number, rest, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(number)
		*field, line, errs = n, rest, append(errs, err)
	}
	arrival, name, _ := strings.Cut(line, " ")
	if arrival != "" {
		var at dbtime.Time
		errs = append(errs, at.Scan(arrival))
		s.arrival = at.Time
	}
	s.limit.Paused, s.limit.Period = paused > 0, time.Duration(period)*time.Microsecond
	var err error
	s.name, err = parseText(name)
	return &s, errors.Join(append(errs, err)...)
}

// parseText reads a text that SQLite's json_quote has written.
func parseText(quoted string) (text string, err error) {
	if n := len(quoted); n >= 2 && !strings.Contains(quoted, `\`) {
		return quoted[1 : n-1], nil
	}
	err = json.Unmarshal([]byte(quoted), &text)
	return text, err
}

// settle puts the rate where it can be, when it is further ahead.
func (s *standing) settle(now time.Time) { s.arrive(s.limit.Settle(s.arrival, now)) }

// spend takes n starts off the rate.
func (s *standing) spend(n int, now time.Time) {
	s.running += n
	if s.limit.Rate > 0 && n > 0 {
		s.arrive(s.limit.Arrive(s.arrival, now, n))
	}
}

func (s *standing) arrive(at time.Time) {
	s.moved = s.moved || !at.Equal(s.arrival)
	s.arrival = at
}

// writeArrivals stores the rates that have moved.
func writeArrivals(ctx context.Context, tx *driver.WriteTx, standings map[string]*standing) error {
	var rows jsonRows
	for _, s := range standings {
		if s.moved {
			rows.begin()
			rows.text(string(s.kind))
			rows.text(s.name)
			rows.time(s.arrival)
		}
	}
	if rows.empty() {
		return nil
	}
	_, err := tx.ExecContext(ctx, setArrivals, rows.end())
	return err
}
