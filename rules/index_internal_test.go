package rules

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Characters that are equal for one of the matches have one normal form.
func TestNormalFormIsCoarserThanEachMatch(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		form := canonical(r)
		if form != canonical(unicode.ToLower(r)) || form != canonical(unicode.SimpleFold(r)) || form != foldRune(r) {
			t.Fatalf("%U", r)
		}
	}
}

func TestRequiredLiterals(t *testing.T) {
	for pattern, want := range map[string][]string{
		`order`:                       {"order"},
		`(?i)\bORDER #?\d+ shipped\b`: {"shipped"},
		`ab+c`:                        {"a"},
		`(abc)+d`:                     {"abc"},
		`(abc)*`:                      nil,
		`(abc)?de`:                    {"de"},
		`(?:cat|dog) food`:            {"food"},
		`cat|dog`:                     {"cat", "dog"},
		`cat|dog?|.`:                  nil,
		`(?i)straße`:                  {"stra" + string(canonical('ß')) + "e"},
		`\d{5}`:                       nil,
		`x{2,3}`:                      {"x"},
		`a \n b`:                      {"a b"},
		` `:                           nil,
		`^$`:                          nil,
		`[ab]cd`:                      {"cd"},
	} {
		require.Equal(t, want, requiredLiterals(pattern), pattern)
	}
	require.Equal(t, "long", wildcardLiteral(`*a?LONG*b`))
	require.Equal(t, `a*b`, wildcardLiteral(`a\*b?`))
}

// The automaton finds what looking for each pattern finds.
func TestAutomatonFindsEachPattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{1,6}`)
		list := rapid.SliceOfNDistinct(word, 1, 40, rapid.ID).Draw(t, "patterns")
		text := rapid.StringMatching(`[abcd]{0,9}`).Draw(t, "text")
		want := map[int32]bool{}
		for i, p := range list {
			if strings.Contains(text, p) {
				want[int32(i)] = true
			}
		}
		got := map[int32]bool{}
		newAutomaton(list).scan([]byte(text), func(p int32) bool {
			fresh := !got[p]
			got[p] = true
			return fresh
		})
		require.Equal(t, want, got)
	})
}

// So it does when it has more states than rows.
func TestAutomatonWithManyPatterns(t *testing.T) {
	var list []string
	for _, first := range "abcdefghij" {
		for _, second := range "abcdefghij" {
			for _, third := range "abcdefghij" {
				list = append(list, "x"+string([]rune{first, second, third, 'y', first}))
			}
		}
	}
	a := newAutomaton(list)
	require.Greater(t, len(a.out), denseStates)
	found := []string{}
	a.scan([]byte("..xabxabcyaxjjjyjxaaayxaaaya"), func(p int32) bool {
		found = append(found, list[p])
		return true
	})
	require.Equal(t, []string{"xabcya", "xjjjyj", "xaaaya"}, found)
}
