package observe

// Restart is how the host's process was replaced while a leg went on. Kill is the kill seam's exchange, where that did
// it, and else nil: the operator's means leave nothing on the wire.
type Restart struct {
	Kill *Exchange `json:"kill,omitempty"`
	// Away says that the host was seen not to answer before it did again.
	Away bool `json:"away,omitempty"`
	// Back is the first discovery document that the host answered afterwards.
	Back Exchange `json:"back"`
}
