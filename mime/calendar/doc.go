// Package calendar reads the invitations, answers and cancellations in a mail: iCalendar (RFC 5545) as mail carries it (RFC 5546,
// RFC 6047).
//
// [FromMessage] returns the calendars of a message, and [Parse] reads one. A [Calendar] has a method, which says what its sender
// asks for, and events with their times, people and recurrence.
//
// A time is a [Moment], since not every time is an instant: an event may last all day, or be at ten o'clock wherever one is. Zones
// are those of the IANA database, also where the sender writes their Windows names, and else those that the calendar itself
// describes; a program that runs where there is no time zone database imports time/tzdata.
//
// All of it is the sender's claim, and no more reliable than the mail: an answer or a cancellation counts when the mail's sender
// is verified and is the attendee or the organizer ([mime.Message.VerifiedFrom]).
//
// Reading is bounded by constants: 1 MiB of text, 1,000 events, 32 KiB a line. What cannot be read is left out.
//
// Recurrence rules are kept as text. The package expands none: a hostile rule can take for ever to find its next date.
//
// It is a package of its own so that programs which read mail alone do not link the iCalendar library.
package calendar
