package postroom_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestVariablesAreFilledOnce(t *testing.T) {
	var lacks []postroom.Variable
	missing := func(v postroom.Variable) string {
		lacks = append(lacks, v)
		return "?"
	}
	values := map[postroom.Variable]string{postroom.VarSubject: "{{own_name}}", postroom.VarOwnName: "Ada"}
	require.Equal(t, "{{own_name}} Ada all ? {{", postroom.FillVariables(
		"{{subject}} {{ own_name }} {{first_name|all}} {{date}} {{", values, missing))
	require.Equal(t, []postroom.Variable{postroom.VarDate}, lacks)
}

func TestUnknownVariablesAreRefused(t *testing.T) {
	require.NoError(t, postroom.CheckVariables("Dear {{first_name|all}}, {{ own_name }}"))
	for _, text := range []string{"{{}}", "{{name}}", "{{First_Name}}", "{{first_name}} {{until}}"} {
		require.ErrorContains(t, postroom.CheckVariables(text), "is no variable; the variables are {{sender_name}}, "+
			"{{first_name}}, {{subject}}, {{date}}, {{own_name}}")
	}
	require.NoError(t, postroom.CheckVariables("{{until}}", "until"))
}

// What a stranger writes into a header is a name or nothing.
func TestValuesAreAStrangersWords(t *testing.T) {
	for name, want := range map[string]string{
		"Ann Smith": "Ann", "Smith, Ann": "Ann", "Dr. Ann Smith": "Ann", `"Zoë"`: "Zoë", "": "", "...": "",
		"ann@example.com": "", "Win https://evil.example": "", "Ann\r\nBcc: x": "Ann", "\u202eAnn": "Ann", "{{own_name}}": "",
	} {
		msg := &postroom.Message{Subject: "  Tea\r\nand \x00 cake ",
			ReceivedAt: time.Date(2027, 1, 31, 12, 0, 0, 0, time.Local)}
		msg.From.Name = name
		values := postroom.VariablesOf(msg, "Ada")
		require.Equal(t, want, values[postroom.VarFirstName], name)
		require.Equal(t, "Tea and cake", values[postroom.VarSubject])
		require.Equal(t, "2027-01-31", values[postroom.VarDate])
		require.Equal(t, "Ada", values[postroom.VarOwnName])
	}
}

func TestAnAnswerMayHaveVariables(t *testing.T) {
	kind, _ := postroom.StandardKind(postroom.AutoReply)
	check := func(k postroom.Kind, body string) error {
		return k.CheckParameters(postroom.Parameters{"body": body, "to": "b@example.com"}, time.Time{})
	}
	require.NoError(t, check(kind, "Dear {{first_name|all}}"))
	require.ErrorContains(t, check(kind, "Dear {{name}}"), `the parameter "body": {{name}} is no variable`)
	kind, _ = postroom.StandardKind(postroom.Forward)
	require.ErrorContains(t, check(kind, "{{subject}}"), "only an answer has variables")
}
