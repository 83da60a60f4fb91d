// Package verify says what a bundle from a stranger is worth: everything in it that contradicts itself or its rules, each
// under its own name; whose key signed it, as far as that can be known; and what it certifies.
//
// It is a pure function of bytes: it fetches nothing and reads no clock, so the caller brings the keys and documents.
// A bundle is held to be hostile until it has been read. It never re-judges: whether the observations carry the rows is
// the business of reports/rejudge. Start with Bundle.
package verify
