// Package pubsub receives Gmail's notifications by pulling them from a subscription of Google Cloud Pub/Sub, for programs that no
// server can post to. A program that is reachable by HTTPS may use [gmail.PushHandler] instead, which needs no further library.
//
// A watch ([gmail.NewWatchJob]) makes Gmail publish under a topic; a subscription of that topic keeps what is published until a
// [Puller] has taken it. A message is acknowledged when the job that reads the change is durable, and else it is delivered again:
// nothing is lost when the program or its database stops. Messages may come twice, late and out of order; the jobs are the same.
//
// The program needs credentials of Google Cloud that may pull (the role Pub/Sub Subscriber), which are not those of the mailbox:
// Application Default Credentials, such as a key file that GOOGLE_APPLICATION_CREDENTIALS names, or [Config.Options].
package pubsub
