package queue_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A shell is the engine's own command line, another program on the queue's database.
type shell struct {
	*testing.T
	q    *queue.Queue
	name string
	args []string
}

// eachShell runs a test with sqlite3 and with psql.
func eachShell(t *testing.T, test func(s *shell)) {
	t.Helper()
	t.Run("sqlite3", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "app.db")
		db, err := sqlite.Open(t.Context(), path, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		test(newShell(t, db, "sqlite3", "-batch", "-cmd", ".timeout 10000", path))
	})
	t.Run("psql", func(t *testing.T) {
		dsn := dbtest.PostgresDSN(t)
		db, err := postgres.Open(t.Context(), dsn, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		var schema string
		require.NoError(t, db.Reader().GetContext(t.Context(), &schema, "SELECT current_schema()"))
		// Without the queue's search_path, as a program of another team may connect.
		s := newShell(t, db, "psql", "-X", "-q", "-A", "-t", "-v", "schema="+schema,
			os.Getenv(dbtest.PostgresEnv))
		test(s)
	})
}

func newShell(t *testing.T, db queue.DB, name string, args ...string) *shell {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("enqueueing from %s is not tested: it is not installed", name)
	}
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return &shell{t, q, name, args}
}

// try runs statements, in the form of the engine: what stands between ⟨ and ⟩ is the arguments of job_enqueue, by name.
func (s *shell) try(text string) (string, error) {
	cmd := exec.CommandContext(s.Context(), s.name, s.args...)
	cmd.Stdin = strings.NewReader(s.translate(text))
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (s *shell) run(text string) string {
	s.Helper()
	out, err := s.try(text)
	require.NoError(s, err, out)
	require.NotContains(s, strings.ToLower(out), "error")
	return out
}

// translate writes ⟨name: value; …⟩ as a call of the engine.
func (s *shell) translate(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "⟨")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		var call string
		call, text, _ = strings.Cut(rest, "⟩")
		var names, values []string
		for pair := range strings.SplitSeq(call, "; ") {
			name, value, _ := strings.Cut(pair, ": ")
			names, values = append(names, name), append(values, value)
		}
		if s.name == "sqlite3" {
			b.WriteString("INSERT INTO job_enqueue (" + strings.Join(names, ", ") + ") VALUES (" +
				strings.Join(values, ", ") + ")")
			continue
		}
		for i := range names {
			if names[i] == "tags" {
				values[i] = "ARRAY(SELECT json_array_elements_text(" + values[i] + "))"
			}
			values[i] = names[i] + " => " + values[i]
		}
		b.WriteString(`SELECT :"schema".job_enqueue(` + strings.Join(values, ", ") + ")")
	}
}

func (s *shell) jobs() []queue.Job {
	s.Helper()
	jobs, err := s.q.Jobs(s.Context(), queue.Filter{})
	require.NoError(s, err)
	return jobs
}

func (s *shell) sound() {
	s.Helper()
	violations, err := queueadmin.Verify(s.Context(), s.q)
	require.NoError(s, err)
	require.Empty(s, violations)
}

func TestAnotherProgramEnqueuesBySQL(t *testing.T) {
	eachShell(t, func(s *shell) {
		s.run(`⟨type: 'ping'⟩;`)
		job := s.jobs()[0]
		require.Regexp(s, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, job.ID)
		require.WithinDuration(s, time.Now(), job.CreatedAt, 10*time.Second)
		written, err := s.q.Enqueue(s.Context(), queue.NewJob{Type: "ping"})
		require.NoError(s, err)
		plain, err := s.q.Job(s.Context(), written.ID)
		require.NoError(s, err)
		plain.ID, plain.CreatedAt, plain.UpdatedAt, plain.NotBefore = job.ID, job.CreatedAt, job.UpdatedAt, job.NotBefore
		require.Equal(s, *plain, job, "as Queue.Enqueue writes it")

		s.run(`⟨type: 'ping'; payload: '{"n":[1,"ä"]}'; priority: -3; not_before: '2035-01-31T07:00:00+01:00'; key: 'k'; ` +
			`key_scope: 'unfinished'; max_attempts: 7; expires_at: '2036-01-31T00:00:00Z'; limit_key: 'l'; user_id: 'ada'; ` +
			`tags: '["a","b"]'; payload_version: 2⟩;`)
		job = s.jobs()[0]
		require.Equal(s, `{"n":[1,"ä"]}`, string(job.Payload))
		require.Equal(s, driver.Options{
			Priority: -3, NotBefore: time.Date(2035, 1, 31, 6, 0, 0, 0, time.UTC), MaxAttempts: 7,
			Key:       driver.Key{Name: "k", Scope: driver.KeyUnfinished},
			ExpiresAt: time.Date(2036, 1, 31, 0, 0, 0, 0, time.UTC), LimitKey: "l", UserID: "ada", Tags: []string{"a", "b"},
			PayloadVersion: 2,
		}, job.Options)
		s.sound()

		s.run(`⟨type: 'ping'; key: 'k'⟩; ⟨type: 'ping'; key: 'once'; payload: '1'⟩; ⟨type: 'ping'; key: 'once'; payload: '1'⟩;`)
		require.Len(s, s.jobs(), 4, "keys are held")
		again, err := s.q.Enqueue(s.Context(), ping.New(1, &queue.Options{Key: queue.Forever("once")}))
		require.NoError(s, err)
		require.Equal(s, queue.EnqueueResult{ID: s.jobs()[0].ID, Duplicate: true}, again)
		require.NoError(s, s.q.Cancel(s.Context(), job.ID))
		s.run(`⟨type: 'ping'; key: 'k'⟩;`)
		require.Len(s, s.jobs(), 5, "the key was free again")
		s.sound()
	})
}

// A refusal is a call that must fail, and a part of the error.
type refusal struct{ call, want string }

func TestSQLRefusesWhatIsNoJob(t *testing.T) {
	eachShell(t, func(s *shell) {
		s.run(`⟨type: 'ping'; key: 'ours'⟩;`)
		long := "'" + strings.Repeat("x", 1001) + "'"
		refused := []refusal{
			{`type: ''`, "type must have"},
			{`type: '*'`, "type must have"},
			{`type: ` + long, "type must have"},
			{`type: 'a'; payload: '{'`, "json"},
			{`type: 'a'; payload: ' {"$codec":"x"}'`, "the queue's own"},
			{`type: 'a'; max_attempts: 0`, "max_attempts must be within 1 and 1000"},
			{`type: 'a'; key: ''`, "key must have"},
			{`type: 'a'; key: ` + long, "key must have"},
			{`type: 'a'; key: 'k'; key_scope: 'ever'`, "key_scope must be"},
			{`type: 'a'; limit_key: 'coalesce:a'`, "must not begin with coalesce:"},
			{`type: 'a'; user_id: ` + long, "user_id must have"},
			{`type: 'a'; tags: '["a",""]'`, "tags must be"},
			{`type: 'a'; not_before: 'soon'`, "time"},
			{`type: 'a'; not_before: '2035-01-01T00:00:00Z'; expires_at: '2034-01-01T00:00:00Z'`, "could never run"},
			{`type: 'pong'; key: 'ours'`, "the key"},
			{`type: 'a'; payload: ' { "$codec" : "x"}'`, "the queue's own"},
			{`type: 'a'; not_before: '-4000-01-01'`, "time"},
			{`type: 'a'; expires_at: '20000-01-01'`, "expires_at"},
			{`type: 'a'; priority: 99999999999`, "priority"},
			{`type: 'a'; not_before: '2027-02-31T00:00:00Z'`, "time"},
			{`type: 'a'; expires_at: '2027-04-31'`, "time"},
			{`type: 'a'; payload_version: -1`, "payload_version must"},
		}
		refused = append(refused, map[string][]refusal{"sqlite3": {
			{`type: 'a'; expires_at: '-4000-01-01'`, "time"},
			{`type: 'a'; not_before: '12:00'`, "time"},
			{`type: 'a'; not_before: 2460000.5`, "time"},
			{`type: 'a'; not_before: 1767225600`, "time"},
			{`type: 'a' || char(0)`, "must have no nul"},
			{`type: 'a'; key: 'k' || char(0)`, "must have no nul"},
			{`type: 'a'; tags: '["\u0000"]'`, "tags must be"},
			{`type: 'a'; id: 'ABCDEF00-0000-7000-8000-0000000000AA'`, "id must be"},
			{`type: 'a'; id: 'abcdefgh-ijkl-7000-8000-0000000000aa'`, "id must be"},
			{`type: 'a'; id: zeroblob(36)`, "id must be"},
			{`type: 'a'; priority: '5'`, "priority must be"},
			{`type: x'61'`, "must be texts"},
			{`type: 'a'; key: x'6b31'`, "must be texts"},
			{`type: 'a'; user_id: x'7f7f'`, "must be texts"},
			{`type: 'a'; limit_key: x'7f7f'`, "must be texts"},
			{`type: 'a'; tags: x'5b5d'`, "must be texts"},
			{`type: 'a'; payload_version: '1'`, "payload_version must"},
		}, "psql": {
			{`type: 'a'; expires_at: '4000-01-01 BC'`, "within the years"},
			{`type: 'a'; not_before: 'infinity'`, "within the years"},
			{`type: 'a'; priority: NULL`, "priority must be"},
			{`type: 'a'; payload: E'\n{\t"$codec":1}'`, "the queue's own"},
		}}[s.name]...)
		var calls strings.Builder
		for _, r := range refused {
			calls.WriteString("⟨" + r.call + "⟩;\n")
		}
		out, _ := s.try(calls.String()) // one goes on after an error, the other does not say so by its status
		var faults []string
		for line := range strings.SplitSeq(out, "\n") {
			if strings.Contains(strings.ToLower(line), "error") {
				faults = append(faults, strings.ToLower(line))
			}
		}
		require.Len(s, faults, len(refused), out)
		for i, r := range refused {
			require.Contains(s, faults[i], r.want, r.call)
		}
		require.Len(s, s.jobs(), 1)
		s.sound()
	})
}

// A dispatcher that polls once a minute is woken, and limits hold for the jobs of others.
func TestDispatchersAreWokenBySQL(t *testing.T) {
	eachShell(t, func(s *shell) {
		require.NoError(s, s.q.SetLimit(s.Context(), queue.ForKey("l"), queue.Limit{MaxRunning: 1}))
		d, err := queue.NewDispatcher(s.q, &queue.DispatcherConfig{PollInterval: time.Minute})
		require.NoError(s, err)
		ran := make(chan int)
		queue.Handle(d, ping, func(_ context.Context, w *queue.Work[int]) error {
			ran <- w.Payload
			return nil
		})
		ctx, cancel := context.WithCancel(s.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		_, err = s.q.Enqueue(s.Context(), ping.New(0, nil))
		require.NoError(s, err)
		require.Zero(s, <-ran, "it listens")
		s.run(`⟨type: 'ping'; payload: '1'; limit_key: 'l'⟩; ⟨type: 'ping'; payload: '2'; limit_key: 'l'; priority: -1⟩;`)
		for want := range 2 {
			select {
			case n := <-ran:
				require.Equal(s, want+1, n)
			case <-time.After(20 * time.Second):
				s.Fatal("nobody has woken the dispatcher")
			}
		}
		cancel()
		require.NoError(s, <-ended)
		s.sound()
	})
}

// What a trigger enqueues commits with the row, or not at all.
func TestATriggerEnqueues(t *testing.T) {
	eachShell(t, func(s *shell) {
		if s.name == "sqlite3" {
			s.run(`CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT);
CREATE TRIGGER order_mail AFTER INSERT ON orders
BEGIN
  INSERT INTO job_enqueue (type, payload, key)
  VALUES ('ping', json_object('order', NEW.id), 'order:' || NEW.id);
END;`)
		} else {
			s.run(`SET search_path TO :"schema";
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT);
CREATE FUNCTION order_mail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM job_enqueue('ping', json_build_object('order', NEW.id), key => 'order:' || NEW.id);
  RETURN NEW;
END $$;
CREATE TRIGGER order_mail AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION order_mail();`)
		}
		path := ""
		if s.name == "psql" {
			path = `SET search_path TO :"schema"; `
		}
		s.run(path + `BEGIN; INSERT INTO orders VALUES (1, 'Ada'); ROLLBACK;`)
		require.Empty(s, s.jobs())
		s.run(path + `INSERT INTO orders VALUES (2, 'Ada'), (3, 'Bob');`)
		jobs := s.jobs()
		require.Len(s, jobs, 2)
		payloads := []string{strings.ReplaceAll(string(jobs[0].Payload), " ", ""),
			strings.ReplaceAll(string(jobs[1].Payload), " ", "")}
		require.ElementsMatch(s, []string{`{"order":2}`, `{"order":3}`}, payloads)
		s.sound()
	})
}
