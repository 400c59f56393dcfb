package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knadh/koanf/v2"

	"github.com/postroom-go/postroom/internal/suggest"
)

// Sources are the sources of the configuration. Each overrides the previous ones.
type Sources struct {
	// File is the path of the TOML file. Empty: none.
	File string
	// Environ is the environment, as os.Environ returns it.
	Environ []string
	// Set holds settings of flags, such as "app.port=0".
	Set []string
}

// DefaultFile returns the path of the file if none is given: $POSTROOMD_CONFIG, or postroom/config.toml in the user's
// configuration folder. It returns "" if there is none.
func DefaultFile(environ []string) string {
	if path, ok := lookup(environ, "POSTROOMD_CONFIG"); ok && path != "" {
		return path
	}
	path, err := UserFile()
	if err != nil {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// UserFile returns the path of the file in the user's configuration folder.
func UserFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "postroom", "config.toml"), nil
}

// A Loaded is a configuration with the source of each value.
type Loaded struct {
	Config Config
	// Values are all settings in the order of the file.
	Values []Value
	// Warnings describe settings that are permitted but not recommended.
	Warnings []Problem
}

// Load reads a configuration. The error is a *[Error] with all problems, or an error of the file system.
func Load(src Sources) (*Loaded, error) {
	l := &loader{src: src, all: koanf.New("."), layers: map[string]layer{}, out: &Loaded{Config: Default()}}
	if err := l.readFile(); err != nil {
		return nil, err
	}
	l.readEnviron()
	l.readFlags()
	for i := range settings {
		l.resolve(&settings[i])
	}
	l.together()
	if len(l.problems) > 0 {
		sortProblems(l.problems)
		return nil, &Error{l.problems}
	}
	return l.out, nil
}

// A layer is the last source of a value.
type layer struct {
	name   string // config.toml:3, APP_PORT or --set app.port
	text   bool
	folder string
}

type loader struct {
	src      Sources
	file     *file // nil without one
	all      *koanf.Koanf
	layers   map[string]layer // by key
	problems []Problem
	out      *Loaded
}

func (l *loader) readFile() error {
	if l.src.File == "" {
		return nil
	}
	text, err := os.ReadFile(l.src.File)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; 'postroomd config init' writes one", err)
	}
	if err != nil {
		return err
	}
	l.file = parseFile(l.src.File, text)
	l.problems = append(l.problems, l.file.problems...)
	known := map[string]any{}
	flat := koanf.New(".")
	if err := flat.Load(values(l.file.values), nil); err != nil {
		return err
	}
	for key, at := range l.file.places {
		known[key] = flat.Get(key)
		l.layers[key] = layer{fmt.Sprintf("%s:%d", l.src.File, at.line), false, filepath.Dir(l.src.File)}
	}
	l.merge(known)
	return nil
}

// merge puts settings, by key, over the previous ones.
func (l *loader) merge(flat map[string]any) {
	for key, value := range flat {
		if err := l.all.Set(key, value); err != nil {
			panic("config: " + err.Error()) // only delimiters that do not fit
		}
	}
}

// readEnviron reads the short names first, so that the long ones override them.
func (l *loader) readEnviron() {
	for _, long := range []bool{false, true} {
		for _, s := range settings {
			name := s.env
			if long {
				name = s.longEnv()
			}
			if value, ok := lookup(l.src.Environ, name); ok && name != "" {
				l.give(s.key, value, "$"+name)
			}
		}
	}
	l.unknownVariables()
}

// unknownVariables reports misspelled variables of postroomd.
func (l *loader) unknownVariables() {
	names := []string{"POSTROOMD_CONFIG"}
	for _, s := range settings {
		names = append(names, s.longEnv())
	}
	for _, pair := range l.src.Environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, envPrefix) && !slices.Contains(names, name) {
			l.complain("$"+name, "there is no such setting", suggest.Instead(name, names, "the variables are"))
		}
	}
}

func (l *loader) readFlags() {
	for _, pair := range l.src.Set {
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok:
			l.complain("--set "+pair, "there is no value", "write --set section.key=value, such as --set app.port=17800")
		case find(key) == nil:
			l.complain("--set "+pair, fmt.Sprintf("there is no setting %q", key), meantKey(key))
		case find(key).isSecret(value):
			l.complain("--set "+key, "every user of the machine sees the arguments of its programs, and this is a secret",
				"write --set "+key+"=env:NAME and set that variable, or write the setting into the file that --config names")
		default:
			l.give(key, value, "--set "+key)
		}
	}
}

// isSecret reports whether the text of a setting is a secret itself, and no reference to one.
func (s *setting) isSecret(text string) bool {
	if text == "" || strings.HasPrefix(text, "env:") {
		return false
	}
	switch s.field(&Config{}).(type) {
	case *Secret:
		return true
	case *Database:
		return Database(text).hasPassword()
	}
	return false
}

// meantKey suggests the intended setting for a key: the nearest, or those of its section, or the sections to look in.
func meantKey(key string) string {
	all := allKeys()
	if near := suggest.Nearest(key, all); near != "" {
		return suggest.Instead(key, []string{near}, "")
	}
	section, _, _ := strings.Cut(key, ".")
	var same, sections []string
	for _, k := range all {
		of, _, _ := strings.Cut(k, ".")
		sections = append(sections, of)
		if of == section {
			same = append(same, k)
		}
	}
	if len(same) > 0 {
		return "the settings of " + section + " are " + strings.Join(same, ", ")
	}
	return "the sections are " + strings.Join(slices.Compact(sections), ", ") +
		", and 'postroomd config init' writes a file with all settings"
}

func (l *loader) give(key, value, from string) {
	l.merge(map[string]any{key: value})
	l.layers[key] = layer{name: from, text: true}
}

func (l *loader) complain(where, message, hint string) {
	l.problems = append(l.problems, Problem{File: where, Message: message, Hint: hint})
}

// resolve sets the field of a setting from its last layer and checks it.
func (l *loader) resolve(s *setting) {
	from, given := l.layers[s.key]
	r := raw{value: l.all.Get(s.key), text: from.text, folder: from.folder}
	field := s.field(&l.out.Config)
	if !given {
		l.resolveDefault(s, field)
		return
	}
	indirect := ""
	if text, ok := r.value.(string); ok && strings.HasPrefix(text, "env:") {
		name := strings.TrimPrefix(text, "env:")
		value, ok := lookup(l.src.Environ, name)
		if !ok || value == "" {
			l.wrong(s, fmt.Sprintf("%s is to come from the environment variable %s, which is not set", s.key, name),
				"set it where postroomd starts")
			return
		}
		r.value, r.text, indirect = value, true, name
	}
	want := ""
	if err := convert(r, field); err != nil {
		want = err.Error()
	} else if s.check != nil {
		want = s.check(&l.out.Config)
	}
	if want != "" {
		l.wrong(s, "this is no value of "+s.key, fmt.Sprintf("write %s, as in %s", want, s.written(from)))
		return
	}
	if _, secret := field.(*Secret); secret && indirect == "" && !from.text && r.value != "" {
		l.warn(s, "the secret stands in the file", "write "+s.line()+" and set that variable")
	}
	l.value(s, field, from.name, indirect)
}

// together reports settings that are valid separately but not together. It checks only settings that can be read.
func (l *loader) together() {
	if len(l.problems) > 0 {
		return
	}
	given := func(key string) bool {
		layer, ok := l.layers[key]
		// $MODEL may be meant for another program.
		return ok && layer.name != "$MODEL" && l.all.Get(key) != ""
	}
	for _, f := range slices.Concat(l.out.Config.modelFaults(given), l.out.Config.listenFaults(),
		l.out.Config.enrichFaults()) {
		l.wrong(find(f.key), f.message, f.hint)
	}
}

// written returns the setting as a valid line, variable or flag.
func (s *setting) written(from layer) string {
	if from.text {
		return strings.TrimPrefix(from.name, "$") + "=" + strings.NewReplacer(`"`, "", "[", "", "]", "", ", ",
			",").Replace(s.example)
	}
	return s.line()
}

// resolveDefault expands the home folder in default paths.
func (l *loader) resolveDefault(s *setting, field any) {
	if p, ok := field.(*Path); ok {
		full, err := expand(string(*p), "")
		if err != nil {
			l.complain(s.key, "its default is "+string(*p), "write "+err.Error())
			return
		}
		*p = Path(full)
	}
	l.value(s, field, "default", "")
}

func (l *loader) wrong(s *setting, message, hint string) {
	from := l.layers[s.key]
	if from.text {
		l.complain(from.name, message, hint)
		return
	}
	l.file.problems = nil
	l.file.problem(l.file.places[s.key], message, hint)
	l.problems = append(l.problems, l.file.problems...)
}

func (l *loader) warn(s *setting, message, hint string) {
	l.file.problems = nil
	l.file.problem(l.file.places[s.key], message, hint)
	l.out.Warnings = append(l.out.Warnings, l.file.problems...)
}

// values is a koanf.Provider of what has been parsed already.
type values map[string]any

func (v values) Read() (map[string]any, error) { return v, nil }

func (v values) ReadBytes() ([]byte, error) { return nil, errors.ErrUnsupported }

func lookup(environ []string, name string) (string, bool) {
	for _, pair := range slices.Backward(environ) {
		if n, value, ok := strings.Cut(pair, "="); ok && n == name {
			return value, true
		}
	}
	return "", false
}

func allKeys() []string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = s.key
	}
	return names
}
