package prefilter

import (
	"slices"
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

// said writes the literals of a key as a formula.
func said(c Key) string {
	if c.op == single {
		return c.text
	}
	parts := make([]string, len(c.parts))
	for i, part := range c.parts {
		if parts[i] = said(part); part.op != single {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, map[op]string{allOf: " & ", anyOf: " | "}[c.op])
}

func TestRequiredLiterals(t *testing.T) {
	for pattern, want := range map[string]string{
		`order`:                       "order",
		`(?i)\bORDER #?\d+ shipped\b`: "order & shipped",
		`ab+c`:                        "a & b & c",
		`(abc)+d`:                     "abc & d",
		`(abc)*`:                      "",
		`(abc)?de`:                    "de",
		`(?:cat|dog) food`:            "(cat | dog) & food",
		`cat|dog`:                     "cat | dog",
		`cat|dog?|.`:                  "",
		`cat\d+x|dog`:                 "(cat & x) | dog",
		`(?i)straße`:                  "stra" + string(canonical('ß')) + "e",
		`\d{5}`:                       "",
		`x{2,3}`:                      "x",
		`x{0,3}y`:                     "y",
		`a \n b`:                      "a b",
		` `:                           "",
		`^$`:                          "",
		`[ab]cd`:                      "cd",
	} {
		require.Equal(t, want, said(Regex(0, pattern)), pattern)
	}
	require.Equal(t, "a & long & b", said(Wildcard(0, `*a?LONG*b`)))
	require.Equal(t, `a*b`, said(Wildcard(0, `a\*b?`)))

	words := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = string([]rune{'a' + rune(i%8), 'x', 'a' + rune(i/8)}) // no two of which are written as a class
		}
		return strings.Join(list, "|")
	}
	require.NotEmpty(t, said(Regex(0, words(maxAlternatives))))
	require.Empty(t, said(Regex(0, words(maxAlternatives+1))))
	require.Equal(t, "order", said(Regex(0, "(?:"+words(maxAlternatives+1)+") order")))
}

func TestACensusCountsEachRuleOnce(t *testing.T) {
	keys := []Key{Regex(0, "order.*order"), Regex(0, "order|sale"), Regex(1, "order")}
	c := takeCensus(keys)
	require.EqualValues(t, 2, c[needle{aLiteral, 0, "order"}].rules)
	require.EqualValues(t, 1, c[needle{aLiteral, 0, "sale"}].rules)
	require.EqualValues(t, 1, c[needle{aLiteral, 1, "order"}].rules)
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

// A finder finds the values that are in a text, and none that confirm refuses.
func TestFinderFindsEachValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.StringMatching(`[abcAB]{1,4}`), 1, 20).Draw(t, "values")
		text := rapid.StringMatching(`[abcAB ]{0,9}`).Draw(t, "text")
		want := slices.ContainsFunc(values, func(value string) bool { return strings.Contains(text, value) })
		got := NewFinder(values).Any(text, func(value int32) bool { return strings.Contains(text, values[value]) })
		require.Equal(t, want, got)
	})
	require.Nil(t, NewFinder([]string{"a", " \n"}), "a blank value")
}
