package mime_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/bounce"
)

// facts are what a golden file says that a message says about itself.
type facts struct {
	List           *listFacts     `json:"list,omitempty"`
	Automatic      []string       `json:"automatic,omitempty"`
	Bounce         *bounceFacts   `json:"bounce,omitempty"`
	Receipt        *mime.Receipt  `json:"receipt,omitempty"`
	ReceiptTo      string         `json:"receipt_to,omitempty"`
	Feedback       *feedbackFacts `json:"feedback,omitempty"`
	Authentication []string       `json:"authentication,omitempty"`
	VerifiedFrom   string         `json:"verified_from,omitempty"`
	ARC            []string       `json:"arc,omitempty"`
}

type listFacts struct {
	ID            string   `json:"id,omitempty"`
	Name          string   `json:"name,omitempty"`
	OneClick      string   `json:"one_click,omitempty"`
	SignedBy      []string `json:"signed_by,omitempty"`
	Web           []string `json:"web,omitempty"`
	Mail          []string `json:"mail,omitempty"`
	Subscribe     []string `json:"subscribe,omitempty"`
	Post          []string `json:"post,omitempty"`
	Help          []string `json:"help,omitempty"`
	Owner         []string `json:"owner,omitempty"`
	Archive       []string `json:"archive,omitempty"`
	PostForbidden bool     `json:"post_forbidden,omitempty"`
}

func readFacts(m *mime.Message) facts {
	var f facts
	f.List = readListFacts(m.Header.List())
	for _, sign := range m.Header.Automatic() {
		f.Automatic = append(f.Automatic, sign.String())
	}
	if b := bounce.Read(m); b != nil {
		f.Bounce = readBounceFacts(b)
	}
	f.Receipt, f.ReceiptTo = m.Receipt(), joined(m.Header.ReceiptTo())
	if feedback := m.Feedback(); feedback != nil {
		f.Feedback = &feedbackFacts{Feedback: feedback, Subject: feedback.Original.Get("Subject")}
		feedback.Original = nil
	}
	for _, r := range authres.Read(m.Header, gmailServer).Results {
		f.Authentication = append(f.Authentication, showResult(r))
	}
	if from, ok := authres.VerifiedFrom(m, gmailServer); ok {
		f.VerifiedFrom = from.Email
	}
	f.ARC = readARCFacts(authres.ReadARC(m.Header))
	return f
}

var gmailServer = authres.Server{ID: "mx.google.com", Below: true} // as gmail.AuthServer

func showResult(r authres.Result) string {
	s := r.Method + "=" + r.Result
	if r.Reason != "" {
		s += " reason=" + strconv.Quote(r.Reason)
	}
	if r.Comment != "" {
		s += " (" + r.Comment + ")"
	}
	words := []string{s}
	for _, p := range r.Properties {
		words = append(words, p.Type+"."+p.Name+"="+p.Value)
	}
	return strings.Join(words, " ")
}

func readARCFacts(chain authres.ARC) []string {
	var out []string
	for _, set := range chain.Sets {
		claims := []string{
			fmt.Sprint(set.Instance, " ", set.Chain, " ", set.Domain, " ", set.Selector, " ", stamp(set.Sealed), " by ",
				set.Claims.ServID),
		}
		for _, r := range set.Claims.Results {
			claims = append(claims, showResult(r))
		}
		out = append(out, strings.Join(claims, " | "))
	}
	if chain.Broken != "" {
		out = append(out, "broken: "+chain.Broken)
	}
	return out
}

func readListFacts(l mime.List) *listFacts {
	f := listFacts{
		ID: l.ID, Name: l.Name, SignedBy: l.Unsubscribe.SignedBy, Web: links(l.Unsubscribe.Web),
		Subscribe: links(l.Subscribe),
		Post:      links(l.Post), Help: links(l.Help), Owner: links(l.Owner), Archive: links(l.Archive),
		PostForbidden: l.PostForbidden,
	}
	if l.Unsubscribe.OneClick != nil {
		f.OneClick = l.Unsubscribe.OneClick.String()
	}
	for _, mail := range l.Unsubscribe.Mail {
		f.Mail = append(f.Mail, strings.Join(append(mail.To, mail.Subject, mail.Body), " | "))
	}
	if l.ID+l.Name == "" && !l.PostForbidden && f.Web == nil && f.Mail == nil {
		return nil
	}
	return &f
}

type bounceFacts struct {
	Format          mime.BounceFormat `json:"format"`
	ReportingMTA    string            `json:"reporting_mta,omitempty"`
	ReceivedFromMTA string            `json:"received_from_mta,omitempty"`
	EnvelopeID      string            `json:"envelope_id,omitempty"`
	Arrival         string            `json:"arrival,omitempty"`
	Recipients      []recipientFacts  `json:"recipients"`
	Original        string            `json:"original,omitempty"`
	Subject         string            `json:"original_subject,omitempty"`
}

type recipientFacts struct {
	Address     string            `json:"address"`
	Final       string            `json:"final"`
	Action      mime.BounceAction `json:"action"`
	Status      string            `json:"status,omitempty"`
	Code        int               `json:"code,omitempty"`
	Reason      mime.BounceReason `json:"reason,omitempty"`
	Hard        bool              `json:"hard"`
	Diagnostic  string            `json:"diagnostic,omitempty"`
	RemoteMTA   string            `json:"remote_mta,omitempty"`
	LastAttempt string            `json:"last_attempt,omitempty"`
	RetryUntil  string            `json:"retry_until,omitempty"`
}

func readBounceFacts(b *mime.Bounce) *bounceFacts {
	f := &bounceFacts{
		Format: b.Format, ReportingMTA: b.ReportingMTA, ReceivedFromMTA: b.ReceivedFromMTA, EnvelopeID: b.EnvelopeID,
		Arrival: stamp(b.Arrival), Original: b.OriginalMessageID, Subject: b.Original.Get("Subject"),
	}
	for _, r := range b.Recipients {
		f.Recipients = append(f.Recipients, recipientFacts{
			Address: r.Address(), Final: r.Final, Action: r.Action, Status: r.Status, Code: r.Code, Reason: r.Reason,
			Hard:       r.Hard(),
			Diagnostic: r.Diagnostic, RemoteMTA: r.RemoteMTA, LastAttempt: stamp(r.LastAttempt), RetryUntil: stamp(r.RetryUntil),
		})
	}
	return f
}

type feedbackFacts struct {
	*mime.Feedback
	Subject string `json:"original_subject"`
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func links(urls []*url.URL) []string {
	var out []string
	for _, u := range urls {
		out = append(out, u.String())
	}
	return out
}

// What each sample says about itself stands beside it.
func TestFactsOfSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/facts/*.eml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".eml"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			m, err := mime.ParseBytes(raw, nil)
			require.NoError(t, err)
			var got strings.Builder
			encoder := json.NewEncoder(&got)
			encoder.SetEscapeHTML(false)
			encoder.SetIndent("", "  ")
			require.NoError(t, encoder.Encode(readFacts(m)))
			requireGolden(t, strings.TrimSuffix(file, ".eml")+".json", []byte(got.String()))
		})
	}
}
