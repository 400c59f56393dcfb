// Package calendar reads the invitations, answers and cancellations in a mail: iCalendar (RFC 5545) as mail carries
// it (RFC 5546, RFC 6047).
//
// [FromMessage] returns the calendars of a message, and [Parse] reads one. A [Calendar] has a method, which is the
// sender's request, and events with their times, people and recurrence.
//
// A time is a [Moment], since not every time is an instant: an event may last all day, or be at ten o'clock in any
// time zone. Zones are those of the IANA database, even if the sender uses their Windows names; other zones are those
// that the calendar itself describes. A program must import time/tzdata if the system has no time zone database.
//
// Everything is the sender's claim, and no more reliable than the mail. Accept an answer or a cancellation only if
// the mail's sender is verified (authres.VerifiedFrom) and is the attendee or the organizer.
//
// Reading is bounded by constants: 1 MiB of text, 1,000 events, 32 KiB a line. Anything that cannot be read is left
// out.
//
// Recurrence rules are kept as text. The package does not expand them: a hostile rule can take forever to find its
// next date.
//
// It is a separate package so that programs that only read mail do not link the iCalendar library.
package calendar
