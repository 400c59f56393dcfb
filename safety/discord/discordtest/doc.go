// Package discordtest is a Discord that runs in a test, or beside any program: the part of the REST API that a bot needs to
// write, edit, read and delete messages and to answer buttons, and the gateway over a real websocket.
//
//	server := discordtest.Start(discordtest.Config{})
//	defer server.Close()
//	// Give server.URL() and server.Token() to the program under test.
//	press, err := server.Press(discordtest.Press{MessageID: id, Label: "Approve", User: ann})
//	answer, err := press.Answer(ctx)
//
// It keeps Discord's rules where a program can break them: the token, the limits of messages, embeds, buttons and custom ids,
// nonces that are enforced, one answer to an interaction, sequence numbers and sessions that are resumed. A call that breaks one
// gets the status and the code of Discord's own answer.
//
// [Server.Fault] makes calls fail, by script. The gateway is disturbed by [Server.Disconnect], [Server.RequestReconnect],
// [Server.InvalidateSessions] and [Server.IgnoreHeartbeats]. [Server.Await] waits for what a program does, without polling.
//
// The 3 seconds within which Discord wants an interaction answered are not measured; [Interaction.Expire] ends them. So do the
// few minutes for which Discord remembers a nonce with [Server.ForgetNonces].
package discordtest
