package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// Options are what [Find] knows besides the facts. The zero Options are valid.
type Options struct {
	// AccountID is the account that the facts and the rules belong to. Default empty: the rules are for all accounts.
	AccountID string
	// Own are addresses and domains whose mail teaches nothing: those of the person. Default nil.
	Own []string
	// LabelNames has the names of labels by their ids, for the names of the rules. Default nil: names have the ids.
	LabelNames map[string]string
	// Mailbox is an address with which the names of the rules end, for those that share a file with the rules of other
	// mailboxes. Default empty: names say nothing about the mailbox.
	Mailbox string
	// Kinds are the actions that rules may have. Default nil: those that package gmail carries out.
	Kinds *postroom.Kinds
}

// A Finding is a rule and what proves it.
type Finding struct {
	// Key is the same for the same condition and action in every run.
	Key   string
	Rule  rules.Rule
	Class Class
	Evidence
	// Taught are the messages that agree with the rule, and Against those that contradict it, the newest first, at most
	// [MaxShown] each.
	Taught  []string
	Against []string
}

// MaxShown is how many messages a [Finding] lists of a kind.
const MaxShown = 20

// MaxVotes is how many votes [Find] reads, the newest: older ones do not count.
const MaxVotes = 20_000

// Found is the result of [Find].
type Found struct {
	// Findings are the rules of the classes high and medium, high first. No two explain the same threads.
	Findings []Finding
	// Low is the number of rules of the class low, which are counted only.
	Low int
	// Votes is the number of threads that had a vote.
	Votes int
}

// Find finds rules that would have done what a person did. Each fact has the vote of a message; a thread has one vote,
// that of its newest message. The result depends on nothing but its arguments; the order of the facts does not matter.
func Find(facts []Fact, opts Options) Found {
	f := finder{opts: &opts, votes: votesOf(facts, opts.Own), tallies: map[candidate]*tally{}}
	for i := range f.votes {
		for _, c := range candidatesOf(&f.votes[i]) {
			t := f.tallies[c]
			if t == nil {
				t = &tally{}
				f.tallies[c] = t
			}
			t.votes = append(t.votes, i)
		}
	}
	return f.choose()
}

// votesOf returns one fact for each thread, the oldest first.
func votesOf(facts []Fact, own []string) []Fact {
	newest := func(a, b Fact) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.MessageID, b.MessageID))
	}
	sorted := slices.SortedFunc(slices.Values(facts), newest)
	threads := map[string]bool{}
	var votes []Fact
	for _, f := range sorted {
		if threads[f.ThreadID] || isOwn(f.From, own) || len(votes) == MaxVotes {
			continue
		}
		threads[f.ThreadID] = true
		votes = append(votes, f)
	}
	slices.Reverse(votes)
	return votes
}

func isOwn(from string, own []string) bool {
	domain := rules.DomainOf(from)
	return slices.ContainsFunc(own, func(o string) bool {
		return strings.EqualFold(o, from) || domain != "" && strings.EqualFold(o, domain)
	})
}

// A tally is the votes on the mail of a candidate, as indices, the oldest first.
type tally struct {
	votes []int

	learned bool // act is what most of the older three quarters say
	act     Act
}

// learn chooses the act, by the votes that are not held out. Of equal ones the first by name.
func (t *tally) learn(votes []Fact) {
	counts := map[Act]int{}
	for _, i := range t.votes[:len(t.votes)-t.heldOut()] {
		counts[votes[i].Vote]++
	}
	for _, act := range slices.SortedFunc(maps.Keys(counts), func(a, b Act) int {
		return cmp.Or(cmp.Compare(a.Action, b.Action), cmp.Compare(a.Label, b.Label))
	}) {
		if !t.learned || counts[act] > counts[t.act] {
			t.act, t.learned = act, true
		}
	}
}

func (t *tally) heldOut() int { return (len(t.votes) + 3) / 4 }

// evidence counts the votes for and against the act.
func (t *tally) evidence(votes []Fact) Evidence {
	e := Evidence{HeldOut: t.heldOut(), First: votes[t.votes[0]].At, Last: votes[t.votes[len(t.votes)-1]].At}
	days := map[string]bool{}
	for n, i := range t.votes {
		days[votes[i].At.UTC().Format(time.DateOnly)] = true
		if votes[i].Vote == t.act {
			e.Agreeing++
			continue
		}
		e.Contradicting++
		if n >= len(t.votes)-e.HeldOut {
			e.HeldOutContradicting++
		}
	}
	e.Days = len(days)
	return e
}

type finder struct {
	opts    *Options
	votes   []Fact
	tallies map[candidate]*tally
}

// choose takes the best of the candidates, and of the others those that explain enough of what is left.
func (f *finder) choose() Found {
	found := Found{Votes: len(f.votes)}
	covered := make([]bool, len(f.votes))
	for _, p := range f.proven() {
		fresh := 0
		for _, i := range p.tally.votes {
			if !covered[i] && f.votes[i].Vote == p.tally.act {
				fresh++
			}
		}
		if fresh < lowThreads || p.class != ClassLow && fresh < mediumThreads {
			continue
		}
		if p.class == ClassLow {
			found.Low++
		} else {
			finding, ok := f.finding(p)
			if !ok {
				continue
			}
			found.Findings = append(found.Findings, finding)
		}
		for _, i := range p.tally.votes {
			covered[i] = true
		}
	}
	return found
}

// A proven candidate has a class.
type proven struct {
	candidate candidate
	tally     *tally
	evidence  Evidence
	class     Class
}

// proven returns the candidates that have a class, the best first.
func (f *finder) proven() (list []proven) {
	tried := f.tried()
	for c, t := range f.tallies {
		if c.base.kind == ofDomain || len(t.votes) < lowThreads {
			continue
		}
		if t.learn(f.votes); !t.act.Learnable() || c.base.kind == ofList && !f.isShared(t) {
			continue
		}
		e := t.evidence(f.votes)
		class := e.Class()
		if class == ClassNone || !f.isNoChance(c, t, &e, tried) {
			continue
		}
		list = append(list, proven{c, t, e, class})
	}
	rank := map[Class]int{ClassHigh: 0, ClassMedium: 1, ClassLow: 2}
	slices.SortFunc(list, func(a, b proven) int {
		return cmp.Or(cmp.Compare(rank[a.class], rank[b.class]), a.candidate.compare(b.candidate))
	})
	return list
}

// tried counts the candidates that were tried within each wider one.
func (f *finder) tried() map[candidate]int {
	tried := map[candidate]int{}
	for c, t := range f.tallies {
		if len(t.votes) >= lowThreads {
			tried[c.wider()]++
		}
	}
	return tried
}

// isNoChance reports whether a narrow candidate says more than the wider one that it is a part of. Of many parts of
// mail that is sorted now so, now so, one agrees by chance: it must be less likely than 5 % that one of those tried
// agrees so often.
func (f *finder) isNoChance(c candidate, t *tally, e *Evidence, tried map[candidate]int) bool {
	wide := c.wider()
	if wide == c {
		return true
	}
	all := f.tallies[wide]
	agreeing := 0
	for _, i := range all.votes {
		if f.votes[i].Vote == t.act {
			agreeing++
		}
	}
	if agreeing == len(all.votes) && c.base.kind == ofShape && c.extra.kind == noExtra {
		return true // nothing is contradicted, and the domain alone makes no rule
	}
	usual := float64(agreeing) / float64(len(all.votes))
	return atLeast(e.Agreeing, e.Threads(), usual)*float64(tried[wide]) <= oneSidedError
}

// isShared reports whether the votes of a list are those of many senders: three at least, and none with more than half
// of them. Anyone can write the id of a list into a message: else one sender could teach how the list's mail is sorted.
func (f *finder) isShared(t *tally) bool {
	sites := map[string]int{}
	for _, i := range t.votes {
		site := ""
		if f.votes[i].Authenticated {
			site = f.votes[i].site()
		}
		sites[site]++
	}
	return len(sites) >= 3 && 2*slices.Max(slices.Collect(maps.Values(sites))) <= len(t.votes)
}

func (f *finder) finding(p proven) (Finding, bool) {
	rule := ruleOf(p.candidate, p.tally.act, f.opts)
	found := Finding{Key: p.candidate.key(p.tally.act), Rule: rule, Class: p.class, Evidence: p.evidence}
	for _, i := range slices.Backward(p.tally.votes) {
		list := &found.Against
		if f.votes[i].Vote == p.tally.act {
			list = &found.Taught
		}
		if len(*list) < MaxShown {
			*list = append(*list, f.votes[i].MessageID)
		}
	}
	return found, usable(rule, f.opts.Kinds)
}
