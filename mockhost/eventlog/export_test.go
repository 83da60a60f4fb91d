package eventlog

import "github.com/wopwitness/wopwitness/mockhost/parts"

// HubOf is the hub that a subscription belongs to.
func HubOf(s parts.Subscription) *Hub { return s.(*subscription).hub }
