package defects

import "github.com/jonboulle/clockwork"

// wall is the time that lies about transport take: how long a query is under way, how long a stream lives, how near two
// requests come to each other. The domain's clock, which a seam moves, says nothing of that.
func wall() clockwork.Clock { return clockwork.NewRealClock() }
