// Package discordtest is a fake Discord for tests and development. It has the part of the REST API that a bot needs
// to write, edit, read and delete messages and to answer buttons, and the gateway over a real websocket.
//
//	server := discordtest.Start(discordtest.Config{})
//	defer server.Close()
//	// Give server.URL() and server.Token() to the program under test.
//	press, err := server.Press(discordtest.Press{MessageID: id, Label: "Approve", User: ann})
//	answer, err := press.Answer(ctx)
//
// It enforces the rules of Discord that a program can break: the token, the limits of messages, embeds, buttons and
// custom ids, enforced nonces, one answer to an interaction, sequence numbers and resumed sessions. A call that
// breaks a rule gets the status and the code of Discord's own response.
//
// [Server.Fault] makes calls fail, by script. [Server.Disconnect], [Server.RequestReconnect],
// [Server.InvalidateSessions] and [Server.IgnoreHeartbeats] disturb the gateway. [Server.Await] waits for the effects
// of a program without polling.
//
// Two of Discord's time limits are not measured. [Interaction.Expire] ends the 3 seconds for answering an
// interaction, and [Server.ForgetNonces] ends the few minutes for which Discord remembers a nonce.
package discordtest
