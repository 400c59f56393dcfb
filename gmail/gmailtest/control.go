package gmailtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
)

// controlPath begins the paths of Config.Control.
const controlPath = "/gmailtest/"

// controls are the requests that tests in other languages send in place of calls in Go.
func (s *Server) controls() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, fn func(r *http.Request) (any, error)) {
		verb, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(verb+" "+controlPath+path, func(w http.ResponseWriter, r *http.Request) { answerControl(w, r, fn) })
	}
	onAccount := func(pattern string, fn func(r *http.Request, a *Account) (any, error)) {
		handle(pattern, func(r *http.Request) (any, error) {
			a, err := s.known(r.Context(), r.PathValue("email"))
			if err != nil {
				return nil, err
			}
			return fn(r, a)
		})
	}
	handle("PUT accounts/{email}", func(r *http.Request) (any, error) { _, err := s.controlAccount(r); return nil, err })
	handle("POST accounts/{email}/messages", s.controlDeliver)
	handle("POST faults", s.controlFaults)
	handle("DELETE faults", func(*http.Request) (any, error) { s.ClearFaults(); return nil, nil })
	handle("POST push-faults", s.controlPushFaults)
	handle("DELETE push-faults", func(*http.Request) (any, error) { s.ClearPushFaults(); return nil, nil })
	handle("POST push-targets", s.controlTarget)
	handle("GET clock", func(*http.Request) (any, error) { return controlTime{s.now()}, nil })
	handle("POST clock", s.controlClock)
	handle("GET pushes", func(*http.Request) (any, error) { return append([]Push{}, s.Pushes()...), nil })
	handle("GET calls", func(*http.Request) (any, error) { return append([]Call{}, s.Calls()...), nil })
	onAccount("GET accounts/{email}/messages",
		func(r *http.Request, a *Account) (any, error) { return a.Snapshot(r.Context()) })
	onAccount("POST accounts/{email}/person", controlPerson)
	onAccount("POST accounts/{email}/grants", controlGrant)
	onAccount("DELETE accounts/{email}/grants", func(r *http.Request, a *Account) (any, error) {
		return nil,
			a.RevokeGrants(r.Context())
	})
	onAccount("DELETE accounts/{email}/tokens", func(r *http.Request, a *Account) (any, error) {
		return nil,
			a.ExpireTokens(r.Context())
	})
	onAccount("DELETE accounts/{email}/history", func(r *http.Request, a *Account) (any, error) {
		return nil,
			a.ForgetHistory(r.Context())
	})
	mux.HandleFunc(controlPath, func(w http.ResponseWriter, r *http.Request) {
		answerControl(w, r, func(r *http.Request) (any, error) {
			return nil, fmt.Errorf("%w: %s %s", errNoControl, r.Method, r.URL.Path)
		})
	})
	return mux
}

// errControl marks a bad request, and errNoControl an unknown one.
var (
	errControl   = errors.New("gmailtest")
	errNoControl = errors.New("gmailtest: there is no such request")
)

func badControl(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errControl, strings.TrimPrefix(fmt.Sprintf(format, args...), "gmailtest: "))
}

func answerControl(w http.ResponseWriter, r *http.Request, fn func(r *http.Request) (any, error)) {
	answer, err := fn(r)
	switch {
	case err == nil && answer == nil:
		w.WriteHeader(http.StatusNoContent)
	case err == nil:
		wire.WriteJSON(w, http.StatusOK, answer)
	case errors.Is(err, ErrNoMessage), errors.Is(err, ErrNoLabel), errors.Is(err, errNoAccount),
		errors.Is(err, errNothingAsked), errors.Is(err, errNoControl):
		wire.WriteJSON(w, http.StatusNotFound, map[string]string{"error": err.Error()})
	case errors.Is(err, errControl):
		wire.WriteJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
	default:
		wire.WriteJSON(w, wire.AsError(err).Status, map[string]string{"error": err.Error()})
	}
}

// readControl reads the JSON of a request. An unknown field is an error.
func readControl(r *http.Request, into any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return badControl("%s %s: %v", r.Method, r.URL.Path, inWords(err))
	}
	return nil
}

// inWords describes an error in JSON to people who do not know the types of this package.
func inWords(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the body is empty or ends too early")
	}
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	article := "a "
	if strings.ContainsAny(wrong.Value[:1], "ao") { // array and object
		article = "an "
	}
	wanted, known := map[reflect.Kind]string{
		reflect.Slice: "a list", reflect.Struct: "an object", reflect.Int: "a number", reflect.String: "a string",
		reflect.Bool: "true or false",
	}[wrong.Type.Kind()]
	if !known {
		return err
	}
	return fmt.Errorf("%s is %s and must be %s", cmp.Or(wrong.Field, "the body"), article+wrong.Value, wanted)
}

// A controlFault is a [Fault] as JSON.
type controlFault struct {
	Method     Method `json:"method"`
	Path       string `json:"path"`
	Account    string `json:"account"`
	Nth        int    `json:"nth"`
	Times      int    `json:"times"`
	Status     int    `json:"status"`
	Reason     string `json:"reason"`
	Message    string `json:"message"`
	Body       string `json:"body"`
	RetryAfter int    `json:"retry_after_seconds"`
	Cut        string `json:"cut"` // before or after
	Truncate   bool   `json:"truncate"`
	Delay      int    `json:"delay_ms"`
}

func (s *Server) controlFaults(r *http.Request) (any, error) {
	var asked []controlFault
	if err := readControl(r, &asked); err != nil {
		return nil, err
	}
	cuts := map[string]Cut{"": NoCut, "before": CutBefore, "after": CutAfter}
	faults := make([]Fault, len(asked))
	for i, f := range asked {
		cut, known := cuts[f.Cut]
		if !known {
			return nil, badControl("faults[%d].cut is %q; it is before or after", i, f.Cut)
		}
		if err := f.check(); err != nil {
			return nil, badControl("faults[%d].%v", i, err)
		}
		faults[i] = Fault{
			Method: f.Method, Path: f.Path, Account: f.Account, Nth: f.Nth, Times: f.Times, Status: f.Status, Reason: f.Reason,
			Message: f.Message,
			Body:    f.Body, RetryAfter: time.Duration(f.RetryAfter) * time.Second, Cut: cut, Truncate: f.Truncate,
			Delay: time.Duration(f.Delay) * time.Millisecond,
		}
	}
	s.Fault(faults...)
	return nil, nil
}

// check refuses a fault that can never happen, or not as described.
func (f *controlFault) check() error {
	switch {
	case f.Method != "" && routeOf(f.Method) == nil && !isOAuth(f.Method):
		return fmt.Errorf(
			"method is %q; it is one of the API without gmail.users., such as messages.send, or one of OAuth, such as %s",
			f.Method, OAuthToken)
	case f.Status != 0 && (f.Status < 400 || f.Status > 599):
		return fmt.Errorf("status is %d; it must be within 400 and 599", f.Status)
	case f.Status == 0 && (f.Reason != "" || f.Message != "" || f.Body != "" || f.RetryAfter != 0):
		return errors.New("status is missing; reason, message, body and retry_after_seconds go with one")
	case f.Nth < 0 || f.RetryAfter < 0 || f.Delay < 0:
		return fmt.Errorf("nth is %d, retry_after_seconds %d, delay_ms %d; they cannot be negative", f.Nth,
			f.RetryAfter, f.Delay)
	default:
		return nil
	}
}

// A controlTime is the time of the server's clock.
type controlTime struct {
	Now time.Time `json:"now"`
}

func (s *Server) controlClock(r *http.Request) (any, error) {
	var asked struct {
		Move string `json:"move"`
	}
	if err := readControl(r, &asked); err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(asked.Move)
	if err != nil || !s.clock.move(d) {
		return nil,
			badControl(`move is %q; it must be a duration such as "24h" or "-90s", and the clock stays within 100 years`,
				asked.Move)
	}
	return controlTime{s.now()}, nil
}

func (s *Server) controlPushFaults(r *http.Request) (any, error) {
	var asked []struct {
		Nth    int  `json:"nth"`
		Times  int  `json:"times"`
		Lose   bool `json:"lose"`
		Copies int  `json:"copies"`
		Hold   bool `json:"hold"`
	}
	if err := readControl(r, &asked); err != nil {
		return nil, err
	}
	for i, f := range asked {
		if f.Nth < 0 || f.Copies < 0 {
			return nil, badControl("push-faults[%d]: nth is %d and copies %d; they cannot be negative", i, f.Nth, f.Copies)
		}
	}
	for _, f := range asked {
		fault := PushFault{Nth: f.Nth, Times: f.Times, Lose: f.Lose, Copies: f.Copies}
		if f.Hold {
			fault.Gate = NewGate()
		}
		s.FaultPushes(fault)
	}
	return nil, nil
}

func (s *Server) controlTarget(r *http.Request) (any, error) {
	var asked struct {
		Topic          string `json:"topic"`
		URL            string `json:"url"`
		Audience       string `json:"audience"`
		ServiceAccount string `json:"service_account"`
	}
	if err := readControl(r, &asked); err != nil {
		return nil, err
	}
	if err := s.PushTo(PushTarget{Topic: asked.Topic, URL: asked.URL, Audience: asked.Audience,
		ServiceAccount: asked.ServiceAccount}); err != nil {
		return nil, badControl("%v", err)
	}
	return nil, nil
}

// controlAccount creates the mailbox if there is none.
func (s *Server) controlAccount(r *http.Request) (*Account, error) {
	a, err := s.Account(r.Context(), r.PathValue("email"))
	if err != nil {
		return nil, badControl("%v", err)
	}
	return a, nil
}

// controlDeliver delivers the message unchanged to a mailbox that is created if there is none.
func (s *Server) controlDeliver(r *http.Request) (any, error) {
	a, err := s.controlAccount(r)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, storedSize))
	if err != nil {
		return nil, badControl("read the message: %v", err)
	}
	return a.Deliver(r.Context(), raw)
}

func controlPerson(r *http.Request, a *Account) (any, error) {
	var asked struct {
		Does  string   `json:"does"`
		IDs   []string `json:"ids"`
		Label string   `json:"label"`
		Name  string   `json:"name"`
	}
	if err := readControl(r, &asked); err != nil {
		return nil, err
	}
	p, ctx := a.Person(), r.Context()
	plain := map[string]func(context.Context, ...string) error{
		"read": p.Read, "unread": p.Unread, "star": p.Star, "unstar": p.Unstar, "archive": p.Archive, "move_to_inbox": p.MoveToInbox,
		"trash": p.Trash, "spam": p.Spam, "delete": p.Delete,
	}
	labeled := map[string]func(context.Context, string, ...string) error{"label": p.Label, "unlabel": p.Unlabel,
		"move_to": p.MoveTo}
	do, isPlain := plain[asked.Does]
	doLabeled, isLabeled := labeled[asked.Does]
	switch {
	case (isPlain || isLabeled) && asked.IDs == nil:
		return nil, badControl("ids is missing; to %s needs the ids of messages", asked.Does)
	case isPlain:
		return nil, do(ctx, asked.IDs...)
	case isLabeled:
		return nil, doLabeled(ctx, asked.Label, asked.IDs...)
	}
	switch asked.Does {
	case "rename_label":
		return nil, p.RenameLabel(ctx, asked.Label, asked.Name)
	case "delete_label":
		return nil, p.DeleteLabel(ctx, asked.Label)
	case "accept":
		return nil, p.Accept(ctx, asked.Name)
	}
	return nil,
		badControl(
			"does is %q; a person can read, unread, star, unstar, archive, move_to_inbox, trash, spam, delete, label, unlabel, "+
				"move_to, rename_label, delete_label and accept", asked.Does)
}

func controlGrant(r *http.Request, a *Account) (any, error) {
	var asked struct {
		Scopes []string `json:"scopes"`
	}
	if err := readControl(r, &asked); err != nil {
		return nil, err
	}
	token, err := a.Grant(r.Context(), asked.Scopes...)
	if err != nil {
		return nil, badControl("%v", err)
	}
	return token, nil
}
