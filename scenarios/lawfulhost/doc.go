// Package lawfulhost is a host for the suite's own tests: small, in memory, and lawful in whichever unusual way its
// Options say. Everything that the protocol leaves open, and everything that public hosts were seen to do, is an option
// here, so that a test can show that no leg mistakes it for a defect.
//
// It is no reference: it serves the host-event family, and the fixtures of docs/fixtures.md with their dead letters, and
// little else. It shares no code with the reference host, so that a misreading in one is not confirmed by the other. It
// is never part of the binary. Start with Options, then
// Start for a listening host or New for a bare handler.
package lawfulhost
