package appointments_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

const teaFile = "2099-03-06 Tea.ics"

// A file follows its appointment; what a person has changed is kept, and what is asked twice is written once.
func TestAFileFollowsItsAppointment(t *testing.T) {
	onBoth(t, false, func(d *desk) {
		gone := appointment("2", "Gone", "over")
		gone.Over = true
		for range 2 {
			d.follow("m", appointment("1", "Tea", "at five"), gone)
			d.work()
			require.Equal(d, map[string]string{teaFile: "at five"}, d.files())
		}
		require.Equal(d, map[appointments.Key]appointments.Place{{MessageID: "m", ID: "1"}: {Path: teaFile}}, d.places("m"))
		info, err := os.Stat(d.path(teaFile))
		require.NoError(d, err)
		require.Equal(d, os.FileMode(0o600), info.Mode().Perm())

		d.follow("m", appointment("1", "Tea", "at six"))
		d.work()
		require.Equal(d, map[string]string{teaFile: "at six"}, d.files())

		d.write(teaFile, "mine")
		d.follow("m", appointment("1", "Tea", "at seven"))
		d.work()
		files := d.files()
		require.Len(d, files, 2)
		require.Equal(d, "mine", files[teaFile])
		beside := d.places("m")[appointments.Key{MessageID: "m", ID: "1"}].Path
		require.Equal(d, "at seven", files[beside])

		d.follow("m") // it stands no longer
		d.work()
		require.Equal(d, map[string]string{teaFile: "mine"}, d.files())
		require.Empty(d, d.places("m"))
	})
}

// An appointment that is over keeps its file.
func TestTheFileOfWhatIsOverStays(t *testing.T) {
	d := newDesk(t, queuetest.New(t), false)
	tea := appointment("1", "Tea", "at five")
	d.follow("m", tea)
	d.work()
	tea.Over, tea.ICS = true, []byte("at six")
	d.follow("m", tea)
	d.work()
	require.Equal(t, map[string]string{teaFile: "at five"}, d.files())
	require.Len(t, d.places("m"), 1)
}

// A person has removed a file; another appointment takes its name, and that is not the first one's.
func TestANameIsThatOfOneAppointment(t *testing.T) {
	onBoth(t, false, func(d *desk) {
		d.follow("m", appointment("1", "Tea", "of m"))
		d.work()
		d.follow("n", appointment("2", "Tea", "of n"))
		d.work()
		require.Len(d, d.files(), 2)
		require.NotEqual(d, teaFile, d.places("n")[appointments.Key{MessageID: "n", ID: "2"}].Path)
		require.NoError(d, os.Remove(d.path(teaFile)))
		d.follow("m", appointment("1", "Tea", "of m"))
		d.follow("o", appointment("3", "Tea", "of o"))
		d.work()
		require.Equal(d, "of o", d.files()[teaFile], "what a person has removed is not written again")
		require.Empty(d, d.places("m")[appointments.Key{MessageID: "m", ID: "1"}].Path)
		d.follow("m")
		d.work()
		require.Equal(d, "of o", d.files()[teaFile])
	})
}

func TestNamesOfHostileTitlesStayInTheFolder(t *testing.T) {
	d := newDesk(t, queuetest.New(t), false)
	outside := filepath.Join(filepath.Dir(d.folder), "outside")
	require.NoError(t, os.Mkdir(outside, 0o700))
	titles := []string{"../../etc/passwd", "..\\..\\x", "a\r\nb\x00c", strings.Repeat("é", 5000), "", ".", "/",
		"\u202exsl.exe", "CON", "-rf", "Tea"}
	list := make([]appointments.Appointment, len(titles))
	for i, title := range titles {
		list[i] = appointment(string(rune('a'+i)), title, "text of "+string(rune('a'+i)))
	}
	require.NoError(t, os.Symlink(outside, d.path("2099-03-06 link")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "file"), d.path(teaFile)))
	d.follow("m", list...)
	d.work()
	require.NoError(t, os.Remove(d.path("2099-03-06 link")))
	require.NoError(t, os.Remove(d.path(teaFile)))
	files := d.files()
	require.Len(t, files, len(titles))
	for name := range files {
		require.LessOrEqual(t, len(name), 130)
		require.True(t, strings.HasPrefix(name, "2099-03-06") && strings.HasSuffix(name, ".ics"), name)
		require.NotContains(t, name, "\u202e")
		require.NotContains(t, name, "\n")
	}
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAFolderThatIsAwayIsWaitedFor(t *testing.T) {
	d := newDesk(t, queuetest.New(t), false)
	require.NoError(t, os.Remove(d.folder))
	d.follow("m", appointment("1", "Tea", "at five"))
	job := queuetest.WorkOne(t, d.q, d.register)
	require.Equal(t, queue.StateQueued, job.State)
	require.Contains(t, job.LastError, "the folder of appointments is missing")
	require.NoError(t, os.Mkdir(d.folder, 0o700))
	d.held = &postroom.HeldError{Reason: "stopped"}
	queuetest.PromoteScheduled(t, d.q)
	job = queuetest.WorkOne(t, d.q, d.register)
	require.Equal(t, queue.StateQueued, job.State)
	require.Empty(t, d.files())
	d.held = nil
	queuetest.PromoteScheduled(t, d.q)
	d.work()
	require.Equal(t, map[string]string{teaFile: "at five"}, d.files())
}

// The message is gone: what was kept of it stays.
func TestFilesOfAMessageThatIsGoneStay(t *testing.T) {
	d := newDesk(t, queuetest.New(t), false)
	d.follow("m", appointment("1", "Tea", "at five"))
	d.work()
	d.failed = postroom.ErrNotFound
	d.follow("m")
	job := queuetest.WorkOne(t, d.q, d.register)
	require.Equal(t, queue.StateCanceled, job.State)
	require.Equal(t, map[string]string{teaFile: "at five"}, d.files())
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	db := dbtest.SQLite(t)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	_, err = appointments.New(appointments.Config{})
	require.ErrorContains(t, err, "Config.Queue")
	require.ErrorContains(t, err, "Config.Find")
	require.ErrorContains(t, err, "give one of Config.Folder and Config.Drafts")
	_, err = appointments.New(appointments.Config{Queue: q, Folder: "calendar"})
	require.ErrorContains(t, err, `the folder "calendar" is not an absolute path`)
	require.ErrorContains(t, appointments.Migrate(t.Context(), nil), "a database")
	require.NoError(t, appointments.CheckFolder(t.TempDir()))
}

// The files could not be written at once, and meanwhile the message names something else: that is asked for by the job
// that waits to try again.
func TestWhatChangesBeforeAJobTriesAgainIsFollowed(t *testing.T) {
	d := newDesk(t, queuetest.New(t), false)
	full := errors.New("no space left on device")
	d.keeper.Outside(func(_ context.Context, _ string, call func() error) error {
		if full != nil {
			return full
		}
		return call()
	})
	fails := func(list ...appointments.Appointment) {
		full = errors.New("no space left on device")
		d.follow("m", list...)
		require.Contains(d, queuetest.WorkOne(d, d.q, d.register).LastError, "no space")
		full = nil
	}
	fails(appointment("1", "Tea", "at five"))
	d.follow("m", appointment("1", "Tea", "at six"))
	queuetest.PromoteScheduled(d, d.q)
	d.work()
	require.Equal(d, map[string]string{teaFile: "at six"}, d.files())

	fails(appointment("1", "Tea", "at seven"))
	d.follow("m") // a person has rejected it
	queuetest.PromoteScheduled(d, d.q)
	d.work()
	require.Empty(d, d.files())
	require.Empty(d, d.places("m"))
}

// A file has the day and the title of its appointment in its name, also when these have changed.
func TestTheNameOfAFileFollowsItsAppointment(t *testing.T) {
	onBoth(t, false, func(d *desk) {
		tea := appointment("1", "Tea", "on the sixth")
		d.follow("m", tea)
		d.work()
		tea.Day, tea.ICS = "2099-03-08", []byte("on the eighth")
		d.follow("m", tea)
		d.work()
		require.Equal(d, map[string]string{"2099-03-08 Tea.ics": "on the eighth"}, d.files())

		d.write("2099-03-08 Tea.ics", "mine")
		tea.Day, tea.ICS = "2099-03-09", []byte("on the ninth")
		d.follow("m", tea)
		d.work()
		require.Equal(d, map[string]string{"2099-03-08 Tea.ics": "mine", "2099-03-09 Tea.ics": "on the ninth"}, d.files())

		d.write("2099-03-10 Tea.ics", "of another")
		tea.Day, tea.ICS = "2099-03-10", []byte("on the tenth")
		d.follow("m", tea)
		d.work()
		beside := d.places("m")[appointments.Key{MessageID: "m", ID: "1"}].Path
		require.NotEqual(d, "2099-03-10 Tea.ics", beside)
		tea.ICS = []byte("at ten")
		d.follow("m", tea)
		d.work()
		require.Equal(d, map[string]string{"2099-03-08 Tea.ics": "mine", "2099-03-10 Tea.ics": "of another",
			beside: "at ten"}, d.files(), "it keeps the digits")
	})
}

// Files are written, changed and removed once, wherever the process dies.
func TestFilesAreWrittenOnceWhereverTheProcessDies(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		d := newDesk(t, q, false)
		d.keeper.Outside(queuetest.Outside)
		d.follow("m", appointment("1", "Tea", "at five"), appointment("2", "Walk", "at six"))
		d.work()
		d.follow("m", appointment("1", "Tea", "at seven"), appointment("3", "Tea", "beside"))
		return queuetest.Scenario{Register: d.register, Outside: d.lines}
	})
}
