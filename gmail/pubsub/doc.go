// Package pubsub receives Gmail's notifications by pulling them from a subscription of Google Cloud Pub/Sub, for
// programs that cannot receive HTTPS requests. Other programs may use [gmail.PushHandler] instead, which needs no
// further library.
//
// A watch ([gmail.NewWatchJob]) makes Gmail publish to a topic. A subscription of that topic keeps the messages until
// a [Puller] has received them. The Puller acknowledges a message when the job that reads the change is durable.
// Otherwise the message is delivered again: nothing is lost when the program or its database stops. Messages may
// arrive twice, late and out of order; the jobs are the same.
//
// The program needs Google Cloud credentials with the role Pub/Sub Subscriber, which are not those of the mailbox.
// They are the Application Default Credentials, such as a key file named by GOOGLE_APPLICATION_CREDENTIALS, or are
// set in [Config.Options].
package pubsub
