// Package hostilehost is what the suite must survive: hosts that are broken, malicious, or not hosts at all, each attack
// a named case. A test starts one, points the suite at it, and asks that the run ends within its bounds, with a reason,
// and with nothing of a credential or of the host's own text alive in what it wrote.
//
// An attack that needs a right host up to some moment is laid in front of one, which the caller gives as a handler. The
// package judges nothing and is never part of the binary. Start with Attacks and Start.
package hostilehost
