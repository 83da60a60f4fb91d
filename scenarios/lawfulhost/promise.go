package lawfulhost

// promiseOne adds to a major-1 document what the host says of dead letters.
func (o Options) promiseOne(d map[string]any) {
	capabilities, _ := d["capabilities"].(map[string]any)
	if o.OtherSinks {
		capabilities["queueBus"] = map[string]any{"supported": true, "deadLetterSupported": true}
		capabilities["webhooks"] = map[string]any{"supported": true, "deadLetter": map[string]any{"supported": true, "retentionDays": 3}}
	}
	if !o.Sink {
		return
	}
	d["fixtures"] = o.seeded()
	family := map[string]any{"supported": !o.Unsupported}
	if days := o.days(); days > 0 {
		family["retentionDays"] = days
	}
	seats := o.Seats
	if seats == nil {
		seats = []string{SeatCapabilities}
	}
	for _, seat := range seats {
		switch seat {
		case SeatCapabilities:
			capabilities["deadLetter"] = family
		case SeatRoot:
			d["deadLetter"] = family
		case SeatHost:
			d["host"] = map[string]any{"deadLetter": family}
		}
	}
}

// promiseTwo adds to a major-2 document what the host says of dead letters, of forks and of lists.
func (o Options) promiseTwo(d map[string]any, record func(map[string]any) map[string]any) {
	if o.OtherSinks {
		d["queueBus"] = record(map[string]any{"deadLetterSupported": true})
		d["webhooks"] = record(map[string]any{"deadLetter": map[string]any{"retentionDays": 3}})
	}
	if !o.Sink {
		return
	}
	if o.ListsRuns {
		d["runList"] = record(map[string]any{})
	}
	if !o.NoFork {
		modes := []string{"replay", "branch"}
		if o.ReplayOnly {
			modes = modes[:1]
		}
		d["replay"] = record(map[string]any{"modes": modes})
	}
	if o.Unsupported {
		return
	}
	family := record(map[string]any{})
	if days := o.days(); days > 0 {
		family["retentionDays"] = days
	}
	if o.Experimental {
		family["status"], family["until"], family["witness"] = "experimental", "2.4", "seam-gated"
	}
	if o.OwnFacet {
		family["sinkName"] = "morgue"
	}
	d["deadLetter"] = family
}
