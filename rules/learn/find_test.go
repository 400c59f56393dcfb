package learn

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// Of 5,000 mails of 60 senders, sorted by a person who slips three times in a hundred, rules are learned that are right
// about the next 1,000 and spare most of the corrections that had been made before.
func TestASimulatedPerson(t *testing.T) {
	allRepeated, allSpared := 0, 0
	for seed := range uint64(6) {
		p := newPerson(seed)
		var facts []Fact
		corrected := map[string]int{}
		for range 5000 {
			msg, act := p.next()
			facts = append(facts, voted(msg, p.slip(act)))
			corrected[kindOf(msg, act)]++
		}
		found := Find(facts, Options{AccountID: "a1"})
		require.Equal(t, 5000, found.Votes)
		var list []rules.Rule
		high := 0
		for _, f := range found.Findings {
			list = append(list, f.Rule)
			if f.Class == ClassHigh {
				high++
			}
		}
		set := rules.NewSet(list, nil)
		require.Empty(t, set.Broken())
		right, wrong, repeated, spared := 0, 0, 0, 0
		for range 1000 {
			msg, act := p.next()
			msg.AccountID = "a1"
			decided, ok := decisionOf(set, msg)
			if ok && decided == act {
				right++
			} else if ok {
				wrong++
			}
			if act != (Act{}) && corrected[kindOf(msg, act)] >= 2 {
				repeated++
				if ok && decided == act {
					spared++
				}
			}
		}
		t.Logf("seed %d: %d rules, %d high, %d low; precision %d/%d, spared %d of %d", seed, len(list), high, found.Low,
			right, right+wrong, spared, repeated)
		require.Greater(t, repeated, 400)
		require.GreaterOrEqual(t, float64(right), 0.95*float64(right+wrong))
		require.GreaterOrEqual(t, float64(spared), 0.55*float64(repeated), "one person may slip more often than others")
		require.GreaterOrEqual(t, high, 20)
		allRepeated, allSpared = allRepeated+repeated, allSpared+spared
	}
	require.GreaterOrEqual(t, float64(allSpared), 0.60*float64(allRepeated))
}

func kindOf(msg *postroom.Message, act Act) string { return msg.From.Domain() + fmt.Sprint(act) }

func decisionOf(set *rules.Set, msg *postroom.Message) (Act, bool) {
	rule, ok := set.First(msg, msg.ReceivedAt)
	label, _ := rule.Parameters.Text(postroom.ParamLabel)
	return Act{rule.Action, label}, ok
}

var start = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// every returns n facts, one every step.
func every(n int, step time.Duration, fact func(i int, at time.Time) Fact) (facts []Fact) {
	for i := range n {
		facts = append(facts, fact(i, start.Add(time.Duration(i)*step)))
	}
	return facts
}

const (
	bank     = "service@bank.example"
	attacker = "win@evil.example"
)

// A sender of 500 mails teaches nothing about the mail of others, and nothing at all by volume.
func TestAPoisonerTeachesNothing(t *testing.T) {
	archive := Act{Action: postroom.Archive}
	list := postroom.Header{Name: "List-Id", Value: "<team.work.example>"}
	for name, facts := range map[string][]Fact{
		"whose mail claims to be the bank's": every(500, 5*time.Hour, func(i int, at time.Time) Fact {
			return voted(unverified(mail(strconv.Itoa(i), bank, fmt.Sprintf("Statement %d of May", i), at)), archive)
		}),
		"whose mail claims to be verified": every(500, 5*time.Hour, func(i int, at time.Time) Fact {
			msg := unverified(mail(strconv.Itoa(i), bank, "Your statement", at))
			msg.Headers = append(msg.Headers, postroom.Header{Name: "Authentication-Results",
				Value: "mx.evil.example; dmarc=pass header.from=bank.example"})
			return voted(msg, archive)
		}),
		"whose mail claims to be a list's": every(500, 5*time.Hour, func(i int, at time.Time) Fact {
			return voted(unverified(mail(strconv.Itoa(i), fmt.Sprintf("%d@evil.example", i), "Hello", at, list)), archive)
		}),
		"who has two addresses and a list's id": every(500, 5*time.Hour, func(i int, at time.Time) Fact {
			return voted(unverified(mail(strconv.Itoa(i), fmt.Sprintf("%d@evil%d.example", i, i%2), "Hi", at, list)), archive)
		}),
		"in one thread": every(500, 5*time.Hour, func(i int, at time.Time) Fact {
			f := voted(mail(strconv.Itoa(i), attacker, "You have won", at), archive)
			f.ThreadID = "one"
			return f
		}),
		"in two days": every(500, 5*time.Minute, func(i int, at time.Time) Fact {
			return voted(mail(strconv.Itoa(i), attacker, fmt.Sprintf("You have won %d", i), at), archive)
		}),
		"whose mail is thrown away": every(500, 5*time.Hour, func(i int, at time.Time) Fact {
			return voted(mail(strconv.Itoa(i), attacker, "You have won", at), Act{Action: postroom.Trash})
		}),
		"whose mail is put into spam": every(500, 5*time.Hour, func(i int, at time.Time) Fact {
			return voted(mail(strconv.Itoa(i), attacker, "You have won", at), Act{postroom.Move, postroom.LabelSpam})
		}),
		"whose address is a wildcard": every(500, 5*time.Hour, func(i int, at time.Time) Fact {
			f := voted(unverified(mail(strconv.Itoa(i), "*@bank.example", "Hi", at)), archive)
			return f
		}),
		"whose mail is left": every(500, 5*time.Hour, func(i int, at time.Time) Fact {
			return voted(mail(strconv.Itoa(i), attacker, "You have won", at), Act{})
		}),
	} {
		t.Run(name, func(t *testing.T) {
			found := Find(facts, Options{})
			require.Empty(t, found.Findings)
			require.LessOrEqual(t, found.Votes, 500)
		})
	}
}

// What is verified and sorted day by day is learned, and names that sender alone, even if the id is that of a list.
func TestASenderTeachesAboutItselfAlone(t *testing.T) {
	found := Find(every(500, 5*time.Hour, func(i int, at time.Time) Fact {
		return voted(mail(strconv.Itoa(i), attacker, "Hi", at,
			postroom.Header{Name: "List-Id", Value: "<team.work.example>"}),
			Act{Action: postroom.Archive})
	}), Options{})
	require.Len(t, found.Findings, 1)
	f := found.Findings[0]
	require.Equal(t, rules.Condition{Type: rules.SenderEmail, Value: attacker}, f.Rule.Condition)
	require.Equal(t, rules.AuthenticationRequired, f.Rule.Authentication)
	require.Equal(t, ClassHigh, f.Class)
	require.Equal(t, 500, f.Agreeing)
	require.Equal(t, []string{"499", "498"}, f.Taught[:2], "the newest first")
	require.Len(t, f.Taught, MaxShown)
}

func TestAListOfManySenders(t *testing.T) {
	post := func(i int, at time.Time) Fact {
		subject := fmt.Sprintf("Topic %c%c", 'a'+i%26, 'a'+i/26)
		return voted(mail(strconv.Itoa(i), fmt.Sprintf("u%d@site%d.example", i, i), subject, at,
			postroom.Header{Name: "List-Id", Value: "Team <Team.Work.example>"}), move("Team"))
	}
	names := map[string]string{"Label_Team": "Work/Team"}
	found := Find(every(40, 20*time.Hour, post), Options{AccountID: "a1", LabelNames: names})
	require.Len(t, found.Findings, 1)
	f := found.Findings[0]
	require.Equal(t, rules.Condition{Type: rules.ListID, Value: "team.work.example", Match: rules.Is}, f.Rule.Condition)
	require.Equal(t, "Learned: list team.work.example: move Work/Team", f.Rule.Name)
	require.Equal(t, "a1", f.Rule.AccountID)
	require.Greater(t, f.Rule.Priority, rules.DefaultPriority)
	require.NoError(t, f.Rule.Validate(nil))

	text := rulesfile.Marshal(rulesfile.FileOf([]rules.Rule{f.Rule}))
	parsed, err := rulesfile.Parse("learned.yaml", bytes.NewReader(text))
	require.NoError(t, err, string(text))
	require.Equal(t, f.Rule.Condition, parsed.Rules[0].Condition)
}

// A sender whose mail is sorted now so, now so, gets a rule for the part that is always sorted, and none by chance.
func TestAPartOfASendersMail(t *testing.T) {
	receipts := move("Receipts")
	found := Find(every(60, 20*time.Hour, func(i int, at time.Time) Fact {
		msg := mail(strconv.Itoa(i), "billing@shop.example", "Your order", at,
			postroom.Header{Name: "X-Run", Value: strconv.Itoa(i % 7)})
		act := Act{}
		if i%2 == 0 {
			act, msg.Attachments = receipts, []postroom.Attachment{{Filename: "a.pdf", ContentType: "Application/PDF; x=y"}}
		}
		return voted(msg, act)
	}), Options{})
	require.Len(t, found.Findings, 1)
	require.Equal(t, rules.AllOf(rules.Condition{Type: rules.SenderEmail, Value: "billing@shop.example"},
		rules.Condition{Type: rules.AttachmentType, Value: "application/pdf", Match: rules.Is}),
		found.Findings[0].Rule.Condition)

	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		found = Find(every(200, 9*time.Hour, func(i int, at time.Time) Fact {
			msg := mail(strconv.Itoa(i), "billing@shop.example", fmt.Sprintf("Your order of kind %c", 'a'+rng.IntN(20)), at)
			for h := range 10 {
				msg.Headers = append(msg.Headers, postroom.Header{Name: fmt.Sprintf("X-%d", h), Value: strconv.Itoa(rng.IntN(20))})
			}
			act := receipts
			if rng.IntN(4) == 0 {
				act = Act{}
			}
			return voted(msg, act)
		}), Options{})
		for _, f := range found.Findings {
			require.Fail(t, "found by chance", "seed %d: %s", seed, f.Rule.Name)
		}
	}
}

func TestOneVoteForEachThread(t *testing.T) {
	facts := every(5, 24*time.Hour, func(i int, at time.Time) Fact {
		return voted(mail(strconv.Itoa(i), "a@shop.example", "Hi", at), move("X"))
	})
	require.Len(t, Find(facts, Options{}).Findings, 1)
	later := voted(mail("later", "a@shop.example", "Hi", start.Add(time.Hour)), Act{})
	later.ThreadID = facts[0].ThreadID
	found := Find(append(facts, later), Options{})
	require.Equal(t, 5, found.Votes)
	require.Empty(t, found.Findings, "the thread is left, by the word about its newest message")
	require.Equal(t, 1, found.Low)

	require.Empty(t, Find(facts, Options{Own: []string{"A@shop.example"}}).Findings)
	require.Empty(t, Find(facts, Options{Own: []string{"shop.example"}}).Findings)
}

func TestOnlyWhatIsTakenBackIsLearnable(t *testing.T) {
	for _, kind := range []postroom.ActionType{postroom.Delete, postroom.Trash, postroom.Forward, postroom.AutoReply,
		postroom.Escalate, postroom.AddNote, postroom.CreateTask, postroom.Restore, postroom.Snooze, "unsubscribe",
		"agent", ""} {
		require.False(t, Act{Action: kind}.Learnable(), kind)
		require.False(t, Act{kind, "Label_1"}.Learnable(), kind)
	}
	require.False(t, Act{postroom.ApplyLabel, postroom.LabelTrash}.Learnable())
	require.False(t, Act{postroom.Move, postroom.LabelSpam}.Learnable())
	require.True(t, Act{postroom.Move, "Label_1"}.Learnable())
	require.True(t, Act{Action: postroom.Star}.Learnable())
}

// anyMail is a message of few senders, lists, subjects, header fields and attachments.
func anyMail(t *rapid.T, n int) *postroom.Message {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	msg := mail(strconv.Itoa(n), pick("from", "a@one.example", "B@one.example", "c@Two.example", "*@one.example",
		"d@gmail.com",
		"ä@bücher.example", "no address"), pick("subject", "", "Hi", "Invoice 17 of 3/2026", "invoice 4", "Invoice  4",
		"INVOICE 17 of 9", "Order [1.2] (x+y) shipped", "order [33] (x+y) shipped", "Größe 5 bestellt",
		"Issue #4 was closed", " Invoice 4 "), start.Add(time.Duration(n)*time.Hour))
	if rapid.Bool().Draw(t, "unverified") {
		unverified(msg)
	}
	msg.Headers = append(msg.Headers, rapid.SliceOfN(rapid.SampledFrom([]postroom.Header{
		{Name: "List-Id", Value: "<One.Lists.example>"}, {Name: "List-Id", Value: "two.lists.example"},
		{Name: "List-ID", Value: "X <>"},
		{Name: "X-Reason", Value: "mention"}, {Name: "x-reason", Value: "Mention"}, {Name: "X-Reason", Value: "author  "},
		{Name: "Precedence", Value: "bulk"}, {Name: "Auto-Submitted", Value: "auto-generated"}}), 0, 4).Draw(t, "headers")...)
	for _, kind := range rapid.SliceOfN(rapid.SampledFrom([]string{"application/pdf", "Application/PDF; name=x", "image/*",
		"text/calendar", " text/csv ", ""}), 0, 3).Draw(t, "attachments") {
		msg.Attachments = append(msg.Attachments, postroom.Attachment{ContentType: kind})
	}
	return msg
}

// A rule matches the mail whose votes were counted for it, and no other: what was measured is what is done.
func TestRulesMatchWhatWasCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var messages []*postroom.Message
		for n := range rapid.IntRange(2, 5).Draw(t, "messages") {
			messages = append(messages, anyMail(t, n))
		}
		for _, taught := range messages {
			f := FactOf(taught)
			for _, c := range candidatesOf(&f) {
				rule := ruleOf(c, move("X"), &Options{})
				if !usable(rule, nil) {
					continue
				}
				set := rules.NewSet([]rules.Rule{rule}, nil)
				require.Empty(t, set.Broken())
				for _, msg := range messages {
					other := FactOf(msg)
					counted := false
					for _, o := range candidatesOf(&other) {
						counted = counted || o == c
					}
					_, matches := decisionOf(set, msg)
					if c.base.kind == ofDomain {
						continue // counted only where the subject has a shape; it makes no rule
					}
					require.Equal(t, counted, matches, "%+v\n%+v\n%+v", rule, taught, msg)
				}
			}
		}
	})
}

// The same facts in any order find the same, with unique names and keys.
func TestFindIsDeterministic(t *testing.T) {
	p := newPerson(7)
	var facts []Fact
	for range 1500 {
		msg, act := p.next()
		facts = append(facts, voted(msg, p.slip(act)))
	}
	want := Find(facts, Options{})
	require.NotEmpty(t, want.Findings)
	names, keys := map[string]bool{}, map[string]bool{}
	for _, f := range want.Findings {
		require.NoError(t, f.Rule.Validate(nil))
		names[f.Rule.Name], keys[f.Key] = true, true
	}
	require.Len(t, names, len(want.Findings))
	require.Len(t, keys, len(want.Findings))
	for seed := range uint64(3) {
		rand.New(rand.NewPCG(seed, 3)).Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
		require.Equal(t, want, Find(facts, Options{}))
	}
	require.Empty(t, Find(nil, Options{}).Findings)
}

func TestNamesOfRules(t *testing.T) {
	long := "a-sender-with-a-very-long-name-that-nobody-would-want-to-read-in-a-list@shop.example"
	for _, c := range []struct {
		candidate candidate
		want      string
	}{
		{candidate{base: base{kind: ofShape, value: "shop.example", shape: "order #"}},
			"Learned: from shop.example, subject like order #: archive"},
		{candidate{base{kind: ofSender, value: "a@b.example"}, extra{withHeader, "x-reason", "mention"}},
			"Learned: from a@b.example, x-reason mention: archive"},
		{candidate{base: base{kind: ofSender, value: long}},
			"Learned: from a-sender-with-a-very-long-name-that-nobody-would-want-to-re…: archive e14eb7f7"},
	} {
		name := nameOf(c.candidate, Act{Action: postroom.Archive}, &Options{})
		require.Equal(t, c.want, name)
		require.Empty(t, rules.CheckName(name))
	}
	shown := nameOf(candidate{base: base{kind: ofList, value: "a\u202eb\x00c"}}, Act{Action: postroom.Archive}, &Options{})
	require.Contains(t, shown, "list abc: archive ")
}

// BenchmarkFind learns from 5,000 messages of 60 senders.
func BenchmarkFind(b *testing.B) {
	p := newPerson(1)
	var facts []Fact
	for range 5000 {
		msg, act := p.next()
		facts = append(facts, voted(msg, p.slip(act)))
	}
	for b.Loop() {
		Find(facts, Options{})
	}
}
