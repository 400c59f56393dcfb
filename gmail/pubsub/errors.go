package pubsub

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The errors that keep a puller from pulling until a person changes something. Match them with errors.Is.
var (
	// ErrNoSubscription reports that the project has no such subscription.
	ErrNoSubscription = errors.New("there is no such subscription")
	// ErrNotAllowed reports that the credentials are missing or may not pull from the subscription.
	ErrNotAllowed = errors.New("pulling is not allowed")
)

const hintCredentials = "give the program credentials of Google Cloud: a key file of a service account that GOOGLE_APPLICATION_CREDENTIALS " +
	"names, or 'gcloud auth application-default login'"

// explain adds a hint to an error of the subscription.
func (p *Puller) explain(err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("pubsub: subscription %s of project %s: %w", p.cfg.Subscription, p.cfg.Project, err)
	switch status.Code(err) {
	case codes.NotFound:
		return fmt.Errorf(
			"%w: %w; make it with 'gcloud pubsub subscriptions create %s --project %s --topic TOPIC', of the topic that Gmail publishes to",
			ErrNoSubscription, err, p.cfg.Subscription, p.cfg.Project)
	case codes.PermissionDenied:
		return fmt.Errorf(
			"%w: %w; give the role Pub/Sub Subscriber (roles/pubsub.subscriber) on the subscription to the account that the program runs as",
			ErrNotAllowed, err)
	case codes.Unauthenticated:
		return fmt.Errorf("%w: %w; %s", ErrNotAllowed, err, hintCredentials)
	}
	return err
}
