package rulesfile_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func fileSchema(t *testing.T, kinds *postroom.Kinds) *jsonschema.Resolved {
	t.Helper()
	var schema jsonschema.Schema
	require.NoError(t, json.Unmarshal(rulesfile.Schema(kinds), &schema))
	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)
	return resolved
}

// againstSchema validates a file as an editor does.
func againstSchema(t require.TestingT, schema *jsonschema.Resolved, text string) error {
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err, "%s", text)
	var value any
	require.NoError(t, json.Unmarshal(asJSON, &value))
	return schema.Validate(value)
}

func TestSchemaTakesFilesThatAreValid(t *testing.T) {
	schema := fileSchema(t, nil)
	for _, path := range []string{"../../examples/postroomd/config/rules.yaml", "testdata/tests/rules.yaml",
		"testdata/tests/rules.tests.yaml"} {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, againstSchema(t, schema, string(data)), path)
	}
	require.NoError(t, againstSchema(t, schema, rulestest.Doc(t, "doc.go", "A whole file")))
	require.NoError(t, againstSchema(t, schema, whole))
}

// What people get wrong is refused by the schema, as it is by Parse.
func TestSchemaRefusesWhatParseRefuses(t *testing.T) {
	schema := fileSchema(t, nil)
	rule := func(fields string) string { return "rules:\n- {name: r, " + fields + "}" }
	condition := func(fields string) string { return rule("action: archive, condition: {" + fields + "}") }
	for name, text := range map[string]string{
		"nothing":               "labels: [x]",
		"unknown key of file":   "rule: []\nrules: []",
		"rules no list":         "rules: {name: x}",
		"label no text":         "labels: [1]\nrules: []",
		"unknown matching":      "matching: every\nrules: []",
		"no name":               "rules:\n- {condition: {type: starred}, action: archive}",
		"no condition":          rule("action: archive"),
		"no action":             rule("condition: {type: starred}"),
		"unknown action":        rule("condition: {type: starred}, action: archiv"),
		"action and actions":    rule("condition: {type: starred}, action: archive, actions: [{action: star}]"),
		"no label":              rule("condition: {type: starred}, action: apply_label"),
		"empty label":           rule("condition: {type: starred}, action: move, parameters: {label: ''}"),
		"no label in a list":    rule("condition: {type: starred}, actions: [{action: star}, {action: apply_label}]"),
		"unknown key of action": rule("condition: {type: starred}, actions: [{action: star, label: x}]"),
		"misspelled key":        rule("condition: {type: starred}, action: archive, priorty: 5"),
		"priority in quotes":    rule("condition: {type: starred}, action: archive, priority: '5'"),
		"priority too high":     rule("condition: {type: starred}, action: archive, priority: 1000001"),
		"unknown safe mode":     rule("condition: {type: starred}, action: archive, safe_mode: safe"),
		"unknown scope":         rule("condition: {type: starred}, action: archive, scope: user"),
		"scope without ref":     rule("condition: {type: starred}, action: archive, scope: domain"),
		"global with ref":       rule("condition: {type: starred}, action: archive, scope: global, scope_ref: x"),
		"enabled no boolean":    rule("condition: {type: starred}, action: archive, enabled: 'yes'"),
		"unknown weekday":       rule("condition: {type: starred}, action: archive, schedule: {weekdays: [monday]}"),
		"no part of a day":      rule("condition: {type: starred}, action: archive, schedule: {times: [night]}"),
		"no date":               rule("condition: {type: starred}, action: archive, schedule: {from: tomorrow}"),
		"unknown type":          condition("type: subject_contain, value: x"),
		"no value":              condition("type: subject_contains"),
		"value of a fact":       condition("type: has_attachment, value: x"),
		"value no text":         condition("type: subject_contains, value: 2026"),
		"value and values":      condition("type: subject_contains, value: x, values: [y]"),
		"empty values":          condition("type: subject_contains, values: []"),
		"unknown operator":      condition("op: nor, children: [{type: starred}]"),
		"no children":           condition("op: and, children: []"),
		"two children of not":   condition("op: not, children: [{type: starred}, {type: unread}]"),
		"op and type":           condition("op: and, children: [{type: starred}], type: starred"),
		"fault in a child":      condition("op: and, children: [{type: starred}, {type: subjct}]"),
		"unknown field":         condition("type: address, fields: [form], value: x"),
		"unknown part":          condition("type: address, fields: [from], part: host, value: x"),
		"unknown match":         condition("type: subject, match: equals, value: x"),
		"unknown comparison":    condition("type: recipient_count, compare: '>', value: '1'"),
		"no header":             condition("type: header_match, pattern: x"),
		"header and fields":     condition("type: header, header: A, fields: [B], value: x"),
		"colon in a header":     condition("type: header_present, header: 'List-Id:'"),
		"size without unit":     condition("type: larger_than, value: '5'"),
		"age in months":         condition("type: older_than, value: 1mo"),
		"unknown category":      condition("type: category, value: spam"),
		"unknown result":        condition("type: authentication, part: dkim, value: ok"),
		"match and compare":     condition("type: date, part: year, match: is, compare: gt, value: '2026'"),
		"test without message":  "rules: []\ntests: [{name: x, actions: []}]",
		"test of nothing":       "rules: []\ntests: [{name: x, message: {}}]",
		"unknown key of mail":   "rules: []\ntests: [{name: x, message: {sender: x}, actions: []}]",
		"subject of a file":     "rules: []\ntests: [{name: x, eml: x.eml, message: {subject: x}, actions: []}]",
		"unknown action out":    "rules: []\ntests: [{name: x, message: {}, actions: [archiv]}]",
		"no time":               "rules: []\ntests: [{name: x, message: {}, actions: [], now: noon}]",
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, againstSchema(t, schema, text))
			_, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
			require.Error(t, err)
		})
	}
}

// predicateValues are values that each type of predicate takes, if it takes the field at all.
func predicateValues(kind rules.Kind) map[string]any {
	values := map[string]any{
		"value": "a.example", "header": "List-Id", "fields": []string{"from"}, "pattern": "x", "part": "domain", "match": "contains",
		"compare": "gt", "case_sensitive": true, "index": 1, "zone": "UTC",
	}
	if of, ok := map[rules.Kind]string{
		rules.SenderEmail: "a@a.example", rules.To: "a@a.example", rules.Cc: "a@a.example", rules.LargerThan: "1.5mb",
		rules.SmallerThan: "3 KB",
		rules.OlderThan:   "7d", rules.ThreadQuiet: "7d", rules.SinceIWrote: "2W", rules.NewerThan: "1Y",
		rules.AddressCount: "1", rules.RecipientCount: "1",
		rules.HeaderCount:  "1",
		rules.HeaderNumber: "1", rules.HeaderDigits: "1", rules.AddressDigits: "1", rules.DateCount: "1",
		rules.IsAutomatic: "bulk", rules.HasUnsubscribe: "web", rules.AuthResult: "pass", rules.HasHiddenText: "5",
		rules.DateOf: "2026", rules.ReceivedAt: "2026", rules.Now: "2026", rules.TimeOfDay: "22:00-06:00",
		rules.Weekday: "Mon", rules.Category: "Social",
	}[kind]; ok {
		values["value"] = of
	}
	switch kind {
	case rules.DateOf, rules.ReceivedAt, rules.Now:
		values["part"] = "year"
	case rules.AuthResult:
		values["part"] = "spf"
	}
	values["values"] = []any{values["value"]}
	return values
}

func compiles(kind rules.Kind, values map[string]any, fields []string) bool {
	c := map[string]any{"type": kind}
	for _, field := range fields {
		c[field] = values[field]
	}
	text, err := json.Marshal(c)
	if err != nil {
		return false
	}
	_, err = rules.ParseCondition(text)
	return err == nil
}

// The schema takes a predicate exactly if the compiler does, for each type and the combinations of fields that come
// near to a valid one.
func TestSchemaHasTheFieldsOfEachType(t *testing.T) {
	schema := fileSchema(t, nil)
	for _, kind := range rules.Kinds() {
		values := predicateValues(kind)
		valid := 0
		check := func(t require.TestingT, fields []string) {
			c := map[string]any{"type": kind}
			for _, field := range fields {
				c[field] = values[field]
			}
			text, err := json.Marshal(c)
			require.NoError(t, err)
			_, wrong := rules.ParseCondition(text)
			if wrong == nil {
				valid++
			}
			err = againstSchema(t, schema, `{"rules":[{"name":"r","action":"archive","condition":`+string(text)+`}]}`)
			require.Equal(t, wrong == nil, err == nil, "%s: %v; the schema says %v", text, wrong, err)
		}
		names := []string{"value", "values", "header", "fields", "pattern", "part", "match", "compare", "case_sensitive",
			"index", "zone"}
		fieldsOf := func(bits int) (fields []string) {
			for bit, name := range names {
				if bits&(1<<bit) != 0 {
					fields = append(fields, name)
				}
			}
			return fields
		}
		// Those without a field or with one, the valid ones with up to three, and the smaller of these with one more.
		worthTrying := map[int]bool{0: true}
		for bits := range 1 << len(names) {
			switch fields := fieldsOf(bits); {
			case len(fields) == 1:
				worthTrying[bits] = true
			case len(fields) <= 3 && compiles(kind, values, fields):
				worthTrying[bits] = true
				for bit := range names {
					worthTrying[bits|1<<bit] = worthTrying[bits|1<<bit] || len(fields) == 2
				}
			}
		}
		for bits, worth := range worthTrying {
			if worth {
				check(t, fieldsOf(bits))
			}
		}
		require.Positive(t, valid, "no valid predicate of type %s was tried", kind)
	}
}

// What a program can do, its editor offers.
func TestSchemaHasTheActionsOfTheProgram(t *testing.T) {
	kinds, err := postroom.NewKinds(postroom.KindsConfig{
		Add: []postroom.Kind{{
			Type: "file_away", Summary: "put it into a drawer", Job: "file.away",
			Parameters: []postroom.Parameter{{Name: "drawer", Type: postroom.IntegerParameter, Required: true, Min: 1, Max: 9},
				{Name: "tags", Type: postroom.TextsParameter}},
		}},
		Without: []postroom.ActionType{postroom.Delete},
	})
	require.NoError(t, err)
	schema := fileSchema(t, kinds)
	for parameters, ok := range map[string]bool{
		"{drawer: 3}": true, "{drawer: 3, tags: x}": true, "{drawer: 3, tags: [x, y]}": true, "{drawer: 10}": false, "{drawer: '3'}": false, "{}": false, "{drawer: 3, tags: []}": false,
	} {
		text := "rules: [{name: r, condition: {type: starred}, action: file_away, parameters: " + parameters + "}]"
		require.Equal(t, ok, againstSchema(t, schema, text) == nil, text)
		_, err := rulesfile.Parse("r.yaml", strings.NewReader(text), rulesfile.WithKinds(kinds))
		require.Equal(t, ok, err == nil, text)
	}
	require.Error(t, againstSchema(t, schema, "rules: [{name: r, condition: {type: starred}, action: delete}]"))
}

// The schema takes each file that is written from valid rules.
func TestSchemaTakesWhatIsMarshalled(t *testing.T) {
	schema := fileSchema(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		rule := rules.NewRule("r", rulestest.AnyCondition(3).Draw(t, "condition"), postroom.Archive, nil)
		require.NoError(t, againstSchema(t, schema, string(rulesfile.Marshal(&rulesfile.File{Rules: []rules.Rule{rule}}))))
	})
}

func TestTheSchemaSaysWhatTheDocumentationSays(t *testing.T) {
	var file struct {
		Definitions struct {
			Condition struct {
				Properties struct {
					Type struct {
						OneOf []struct{ Const, Description string }
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(rulesfile.Schema(nil), &file))
	table := rulestest.Doc(t, "../doc.go", "Conditions")
	offered := file.Definitions.Condition.Properties.Type.OneOf
	require.Len(t, offered, len(rules.Kinds()))
	for _, of := range offered {
		require.NotEmpty(t, of.Description, of.Const)
		require.Contains(t, table, of.Description)
	}
}
