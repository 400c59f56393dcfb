package enrich_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
)

func TestABadConfigurationNamesTheField(t *testing.T) {
	_, err := enrich.New(enrich.Config{Queue: nil, Messages: &world{}})
	require.ErrorContains(t, err, "llm/enrich: Config.Queue")
	q, err := queue.New(dbtest.SQLite(t), nil)
	require.NoError(t, err)
	low := enrich.Level{Name: "low", Describes: "x"}
	for fault, change := range map[string]func(c *enrich.Config){
		"Config.Messages":            func(c *enrich.Config) { c.Messages = nil },
		"Config.Model":               func(c *enrich.Config) { c.Model = (*model)(nil) },
		"Config.SureFrom is 1.1":     func(c *enrich.Config) { c.SureFrom = 1.1 },
		"Config.SureFrom is NaN":     func(c *enrich.Config) { c.SureFrom = math.NaN() },
		"Config.ModelAge":            func(c *enrich.Config) { c.ModelAge = -1 },
		"Config.Stages is empty":     func(c *enrich.Config) { c.Stages = []enrich.Stage{} },
		`Config.Stages: "note"`:      func(c *enrich.Config) { c.Stages = []enrich.Stage{"note"} },
		"Config.Categories is empty": func(c *enrich.Config) { c.Categories = []enrich.Category{} },
		`the name " x" is none`:      func(c *enrich.Config) { c.Categories = []enrich.Category{{Name: " x", Describes: "x"}} },
		`"x" has no Describes`:       func(c *enrich.Config) { c.Categories = []enrich.Category{{Name: "x"}} },
		`"X" is there twice`:         func(c *enrich.Config) { c.Categories = []enrich.Category{{"x", "x", nil}, {"X", "x", nil}} },
		`the form "letter"`:          func(c *enrich.Config) { c.Categories = []enrich.Category{{"x", "x", []enrich.Form{"letter"}}} },
		`the form social belongs to "x"`: func(c *enrich.Config) {
			c.Categories = []enrich.Category{{"x", "x", []enrich.Form{enrich.FormSocial}},
				{"y", "y", []enrich.Form{enrich.FormSocial}}}
		},
		"no level from the score 0":     func(c *enrich.Config) { c.Levels = []enrich.Level{{"high", "x", 0.5}} },
		"Config.Levels has no level":    func(c *enrich.Config) { c.Levels = []enrich.Level{} },
		`"high" begins at the score 2`:  func(c *enrich.Config) { c.Levels = []enrich.Level{low, {"high", "x", 2}} },
		"begin at the same score":       func(c *enrich.Config) { c.Levels = []enrich.Level{low, {"none", "x", 0}} },
		`"low" is there twice`:          func(c *enrich.Config) { c.Levels = []enrich.Level{low, {"Low", "x", 0.5}} },
		`Config.Levels: the name "" is`: func(c *enrich.Config) { c.Levels = []enrich.Level{{"", "x", 0}} },
		`Config.Levels: "x" has no`:     func(c *enrich.Config) { c.Levels = []enrich.Level{{"x", "", 0}} },
	} {
		cfg := enrich.Config{Queue: q, Messages: &world{}}
		change(&cfg)
		_, err := enrich.New(cfg)
		require.ErrorContains(t, err, fault)
	}
	s, err := enrich.New(enrich.Config{Queue: q, Messages: &world{}})
	require.NoError(t, err)
	require.ErrorContains(t, s.Register(nil), "llm/enrich: Register: the Dispatcher")
}
