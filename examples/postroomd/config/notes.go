package config

import (
	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/gmail/notes"
)

// Notes is the section [notes]: notes about mail as files in a folder.
type Notes struct {
	Folder      Path // empty: no notes are kept
	Path        string
	Text        bool // a note has the text of its message
	Attachments bool // the attached files are kept, too
}

var notesSettings = []setting{
	{"notes.folder", "", `"~/vault"`, func(c *Config) any { return &c.Notes.Folder },
		func(c *Config) string {
			if c.Notes.Folder == "" {
				return ""
			}
			return instead(notes.CheckFolder(string(c.Notes.Folder)), "the path of a folder")
		}},
	{"notes.path", "", `"Mail/{{year}}/{{date}} {{subject}}"`, func(c *Config) any { return &c.Notes.Path },
		func(c *Config) string { return instead(notes.CheckPath(c.Notes.Path), "a path within the folder") }},
	{"notes.text", "", "true", func(c *Config) any { return &c.Notes.Text }, nil},
	{"notes.attachments", "", "true", func(c *Config) any { return &c.Notes.Attachments }, nil},
}

// Attachments is the section [attachments]: attached files in a folder.
type Attachments struct {
	Folder Path // empty: no attached files are kept by rule
	Path   string
}

var attachmentsSettings = []setting{
	{"attachments.folder", "", `"~/Attachments"`, func(c *Config) any { return &c.Attachments.Folder },
		func(c *Config) string {
			if c.Attachments.Folder == "" {
				return ""
			}
			return instead(filing.CheckFolder(string(c.Attachments.Folder)), "the path of a folder")
		}},
	{"attachments.path", "", `"{{year}}/{{date}} {{sender_name}} {{filename}}"`,
		func(c *Config) any { return &c.Attachments.Path },
		func(c *Config) string {
			return instead(filing.CheckPath(c.Attachments.Path), "a path within the folder")
		}},
}
