package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/llm/enrich"
)

// Enrich is the section [enrich]: what mail means.
type Enrich struct {
	Enabled    bool
	Stages     []string
	Model      bool // the model of [llm] is asked about what nothing else tells
	SureFrom   float64
	Categories []string // empty: those of package enrich
	Levels     []string
	// Events is where appointments that stand are put: EventFiles, EventDrafts or nowhere else, which is empty.
	Events       string
	EventsFolder Path
}

// The values of Enrich.Events.
const (
	EventFiles  = "folder" // each is a file in Enrich.EventsFolder
	EventDrafts = "draft"  // those of a mail are attached to a draft to its owner
)

// enrichFaults returns the faults in the combination of the settings of appointments.
func (c *Config) enrichFaults() (faults []fault) {
	e := &c.Enrich
	if e.Events != EventFiles && e.EventsFolder != "" {
		faults = append(faults, fault{"enrich.events_folder", `this has no effect: enrich.events is not "folder"`,
			`write events = "folder"`})
	}
	switch {
	case e.Events == "":
	case !e.Enabled:
		faults = append(faults, fault{"enrich.events", "this has no effect: enrich.enabled is false", "set it to true"})
	case !slices.Contains(e.Stages, string(enrich.StageCalendar)):
		faults = append(faults, fault{"enrich.events", `this has no effect: enrich.stages is without "calendar"`, "add it"})
	case e.Events == EventFiles && e.EventsFolder == "":
		faults = append(faults, fault{"enrich.events", "enrich.events_folder is not set",
			`write events_folder = "~/calendar", the folder for the files, or events = "draft"`})
	}
	return faults
}

// OwnCategories returns the categories as they are written, each as "name (form, form)=what belongs to it"; nil for
// those of package enrich.
func (e *Enrich) OwnCategories() (list []enrich.Category, err error) {
	for _, text := range e.Categories {
		name, describes, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("%q has no \"=\" between its name and what belongs to it", text)
		}
		c := enrich.Category{Describes: strings.TrimSpace(describes)}
		name, forms, has := strings.Cut(name, "(")
		if forms = strings.TrimSpace(forms); has && !strings.HasSuffix(forms, ")") {
			return nil, fmt.Errorf("%q has a bracket that nothing closes", text)
		}
		c.Name = strings.TrimSpace(name)
		for form := range strings.SplitSeq(strings.TrimSuffix(forms, ")"), ",") {
			if form = strings.TrimSpace(form); form != "" {
				c.Forms = append(c.Forms, enrich.Form(form))
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// OwnLevels returns the levels as they are written, each as "name 0.7=what has it"; nil for those of package enrich.
func (e *Enrich) OwnLevels() (list []enrich.Level, err error) {
	for _, text := range e.Levels {
		name, describes, ok := strings.Cut(text, "=")
		at := strings.LastIndexByte(strings.TrimSpace(name), ' ')
		if !ok || at < 0 {
			return nil, fmt.Errorf("%q is not of the form \"name 0.7=what has it\"", text)
		}
		from, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSpace(name)[at:]), 64)
		if err != nil {
			return nil, fmt.Errorf("%q has no score from 0 to 1 after its name", text)
		}
		list = append(list, enrich.Level{Name: strings.TrimSpace(strings.TrimSpace(name)[:at]),
			Describes: strings.TrimSpace(describes), From: from})
	}
	return list, nil
}

var enrichSettings = []setting{
	{"enrich.enabled", "", "true", func(c *Config) any { return &c.Enrich.Enabled }, nil},
	{"enrich.stages", "", `["category", "importance"]`, func(c *Config) any { return &c.Enrich.Stages },
		func(c *Config) string { return stages(c.Enrich.Stages) }},
	{"enrich.model", "", "false", func(c *Config) any { return &c.Enrich.Model }, nil},
	{"enrich.sure_from", "", "0.8", func(c *Config) any { return &c.Enrich.SureFrom },
		func(c *Config) string {
			if s := c.Enrich.SureFrom; s > 0 && s <= 1 {
				return ""
			}
			return "a number above 0 and at most 1"
		}},
	{"enrich.categories", "", `["reading (newsletter, promotion)=what can wait"]`,
		func(c *Config) any { return &c.Enrich.Categories },
		func(c *Config) string {
			list, err := c.Enrich.OwnCategories()
			if err == nil && len(list) > 0 {
				err = enrich.CheckCategories(list)
			}
			return instead(err, `texts of the form "name (form, form)=what belongs to it"`)
		}},
	{"enrich.levels", "", `["today 0.7=somebody waits for me", "later 0=all else"]`,
		func(c *Config) any { return &c.Enrich.Levels },
		func(c *Config) string {
			list, err := c.Enrich.OwnLevels()
			if err == nil && len(list) > 0 {
				err = enrich.CheckLevels(list)
			}
			return instead(err, `texts of the form "name 0.7=what has it"`)
		}},
	{"enrich.events", "", `"draft"`, func(c *Config) any { return &c.Enrich.Events },
		func(c *Config) string {
			if slices.Contains([]string{"", EventFiles, EventDrafts}, c.Enrich.Events) {
				return ""
			}
			return fmt.Sprintf("%q, %q, or nothing", EventFiles, EventDrafts)
		}},
	{"enrich.events_folder", "", `"~/calendar"`, func(c *Config) any { return &c.Enrich.EventsFolder },
		func(c *Config) string {
			if c.Enrich.EventsFolder == "" {
				return ""
			}
			return instead(appointments.CheckFolder(string(c.Enrich.EventsFolder)), "the path of a folder")
		}},
}

func allStages() (names []string) {
	for _, s := range enrich.Stages() {
		names = append(names, string(s))
	}
	return names
}

// instead says what to write in the place of what is wrong; empty if nothing is.
func instead(err error, form string) string {
	if err == nil {
		return ""
	}
	return form + ": " + err.Error()
}

func stages(names []string) string {
	for _, name := range names {
		if !slices.Contains(enrich.Stages(), enrich.Stage(name)) {
			return fmt.Sprintf("some of %v", enrich.Stages())
		}
	}
	if len(names) == 0 {
		return "one stage at least, or enrich.enabled = false"
	}
	return ""
}
