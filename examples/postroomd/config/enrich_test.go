package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm/enrich"
)

func TestCategoriesAndLevelsOfTheOwner(t *testing.T) {
	e := Enrich{Categories: []string{"reading (newsletter, promotion) = what can wait", "job=what my clients write"},
		Levels: []string{"to day 0.7=now", "later 0 = all else"}}
	categories, err := e.OwnCategories()
	require.NoError(t, err)
	require.Equal(t, []enrich.Category{
		{Name: "reading", Describes: "what can wait", Forms: []enrich.Form{enrich.FormNewsletter, enrich.FormPromotion}},
		{Name: "job", Describes: "what my clients write"}}, categories)
	levels, err := e.OwnLevels()
	require.NoError(t, err)
	require.Equal(t, []enrich.Level{{Name: "to day", Describes: "now", From: 0.7},
		{Name: "later", Describes: "all else"}}, levels)
	none := Enrich{}
	categories, err = none.OwnCategories()
	require.NoError(t, err)
	require.Nil(t, categories)
}

func TestFaultsOfTheSectionEnrich(t *testing.T) {
	for want, change := range map[string]func(*Enrich){
		"one stage at least":            func(e *Enrich) { e.Stages = []string{} },
		"some of [category":             func(e *Enrich) { e.Stages = []string{"note"} },
		"a number above 0":              func(e *Enrich) { e.SureFrom = 0 },
		`has no "="`:                    func(e *Enrich) { e.Categories = []string{"job"} },
		"a bracket that nothing closes": func(e *Enrich) { e.Categories = []string{"job (newsletter=x"} },
		`the form "letter"`:             func(e *Enrich) { e.Categories = []string{"job (letter)=x"} },
		"has no Describes":              func(e *Enrich) { e.Categories = []string{"job="} },
		`not of the form "name 0.7`:     func(e *Enrich) { e.Levels = []string{"high=x"} },
		"has no score from 0 to 1":      func(e *Enrich) { e.Levels = []string{"very high=x"} },
		`"folder", "draft", or nothing`: func(e *Enrich) { e.Events = "calendar" },
		"the path of a folder":          func(e *Enrich) { e.EventsFolder = "calendar" },
		"no level from the score 0":     func(e *Enrich) { e.Levels = []string{"high 0.5=x"} },
	} {
		c := Default()
		change(&c.Enrich)
		var faults []string
		for _, s := range enrichSettings {
			if s.check != nil {
				faults = append(faults, s.check(&c))
			}
		}
		require.Contains(t, strings.Join(faults, "\n"), want)
	}
}

func TestAppointmentsAreKeptWhereTheyCanBe(t *testing.T) {
	on := func(c *Config) { c.Enrich.Enabled, c.Enrich.Events = true, EventFiles }
	for want, change := range map[string]func(*Config){
		"enrich.events_folder is not set": on,
		"enrich.enabled is false":         func(c *Config) { c.Enrich.Events = EventDrafts },
		`enrich.stages is without "calendar"`: func(c *Config) {
			on(c)
			c.Enrich.Stages = []string{"category"}
		},
		`enrich.events is not "folder"`: func(c *Config) { c.Enrich.EventsFolder = "/calendar" },
	} {
		c := Default()
		change(&c)
		faults := c.enrichFaults()
		require.Len(t, faults, 1, want)
		require.Contains(t, faults[0].message, want)
		require.NotEmpty(t, faults[0].hint)
	}
	c := Default()
	require.Empty(t, c.enrichFaults())
	on(&c)
	c.Enrich.EventsFolder = "/calendar"
	require.Empty(t, c.enrichFaults())
}
