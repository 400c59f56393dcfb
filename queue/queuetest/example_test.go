package queuetest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

type Invoice struct{ ID int }

const (
	Pay         queue.Type[Invoice] = "invoice.pay"
	SendReceipt queue.Type[Invoice] = "receipt.send"
)

// Mailer sends mail, and can be asked what it has sent.
type Mailer interface {
	Send(ctx context.Context, id, text string) error
	Sent(ctx context.Context, id string) (bool, error)
}

// Billing is what is tested.
type Billing struct{ Mailer Mailer }

// Pay marks the invoice as paid; that, the next job and the end of this one are one commit.
func (b Billing) Pay(ctx context.Context, w *queue.Work[Invoice]) error {
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE invoices SET paid = 1 WHERE id = $1", w.Payload.ID); err != nil {
			return err
		}
		_, err := w.Queue().EnqueueTx(ctx, tx, SendReceipt.New(w.Payload, nil))
		return err
	})
}

// SendReceipt sends at most one letter: that it is about to be sent is on record before it is.
func (b Billing) SendReceipt(ctx context.Context, w *queue.Work[Invoice]) error {
	begun, err := w.StepStarted(ctx, "send")
	if err != nil {
		return err
	}
	if !begun {
		err = w.StartStep(ctx, "send")
	} else if sent, lookErr := b.Mailer.Sent(ctx, w.Job.ID); lookErr != nil || sent {
		return lookErr
	}
	if err != nil {
		return err
	}
	return b.Mailer.Send(ctx, w.Job.ID, "Thank you!")
}

// FakeMailer is the world outside: it outlives every process.
type FakeMailer struct{ ids, texts []string }

func (m *FakeMailer) Send(ctx context.Context, id, text string) error {
	return queuetest.Outside(ctx, "send", func() error {
		m.ids, m.texts = append(m.ids, id), append(m.texts, text)
		return nil
	})
}

func (m *FakeMailer) Sent(ctx context.Context, id string) (sent bool, err error) {
	err = queuetest.Outside(ctx, "look", func() error {
		for _, known := range m.ids {
			sent = sent || known == id
		}
		return nil
	})
	return sent, err
}

// payOneInvoice is the scenario: one invoice, the job that pays it, and the job that follows.
func payOneInvoice(t testing.TB, q *queue.Queue) queuetest.Scenario {
	mailer := &FakeMailer{}
	require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE invoices (id INTEGER PRIMARY KEY, paid INTEGER)"); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO invoices VALUES (17, 0)"); err != nil {
			return err
		}
		_, err := q.EnqueueTx(ctx, tx, Pay.New(Invoice{ID: 17}, nil))
		return err
	}))
	return queuetest.Scenario{
		Register: func(d *queue.Dispatcher) {
			billing := Billing{Mailer: mailer}
			queue.Handle(d, Pay, billing.Pay)
			queue.Handle(d, SendReceipt, billing.SendReceipt)
		},
		Outside: func() []string { return mailer.texts },
	}
}

func TestAnInvoiceIsPaid(t *testing.T) {
	q := queuetest.New(t)
	scenario := payOneInvoice(t, q)
	job := queuetest.WorkOne(t, q, scenario.Register)
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
}

// The invoice is paid and one receipt is sent, wherever the process dies.
func TestAnInvoiceIsPaidWhereverTheProcessDies(t *testing.T) {
	queuetest.CrashEverywhere(t, payOneInvoice)
}

func ExampleCrashEverywhere() {
	var t *testing.T // your test's

	queuetest.CrashEverywhere(t, payOneInvoice)
}
