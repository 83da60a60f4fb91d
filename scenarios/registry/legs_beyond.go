package registry

// replayBeyondLegs are consequences of RFC 0250's text that its own six legs don't separately cause. They are where real
// hubs have lost events.
func replayBeyondLegs() []Leg {
	leg := func(l Leg) Leg {
		l.RFC, l.Profile, l.Majors, l.Observes = "0250", ProfileReplay, major2(), Behaviour
		if l.Gates == nil {
			l.Gates = durableOnly()
		}
		return l
	}
	return []Leg{
		leg(Leg{ID: "0250.live-start", Section: "§B",
			Title:  "without a position the stream opens live and replays nothing",
			Source: "with an absent or empty Last-Event-ID the stream opens live: there is no position to resume and no cursor to refuse"}),
		leg(Leg{ID: "0250.handoff", Section: "§B",
			Title:  "subscribers that resume while a writer writes each see their exact suffix",
			Source: "live delivery continues from the backlog with no gap, and each event arrives once"}),
		leg(Leg{ID: "0250.volume", Section: "§B",
			Title:  "a cursor followed by more than a thousand newer events resumes whole",
			Source: "an event stays resumable for its time whatever the volume of newer events"}),
		leg(Leg{ID: "0250.unwatched", Section: "§B",
			Title:  "what was emitted while nobody was connected is replayed",
			Source: "every durable event visible to the caller that was committed after the cursor is replayed, seen by someone or not"}),
		leg(Leg{ID: "0250.tenant-backlog", Section: "§D", Needs: []Need{NeedSecondTenant},
			Title:  "another tenant's events are in neither the backlog nor what follows it",
			Source: "the backlog is what the caller can see, and no exception widens a view"}),
		leg(Leg{ID: "0250.workspace-backlog", Section: "§D", Needs: []Need{NeedWorkspace},
			Title:  "a workspace's events are not in the backlog of a key outside it",
			Source: "the backlog is what the caller can see, and an event of a workspace reaches only subscribers within it"}),
		leg(Leg{ID: "0250.resume-stable", Section: "§B",
			Title:  "a replayed event is the one first delivered: same envelope, id and event name",
			Source: "what is replayed is the durable event itself, not a new one made from it"}),
		leg(Leg{ID: "0250.resume-twice", Section: "§B",
			Title:  "the same cursor gives the same suffix again, and the last event's an empty one",
			Source: "a cursor within its time is resumed whenever it is used; resuming takes nothing away"}),
		leg(Leg{ID: "0250.refusal-reveals-nothing", Section: "§D",
			Title:  "a refusal names no cursor, key, tenant or part of an event",
			Source: "a refusal echoes no cursor, payload, tenant id or secret"}),
		leg(Leg{ID: "0250.auth-first", Section: "§C",
			Title:  "a bad key or a missing scope keeps its own answer, whatever cursor is named",
			Source: "authentication and scope failures keep their own answers"}),
		leg(Leg{ID: "0250.cursor-hostile", Section: "§C", Gates: []Gate{GateHostEvents, GateReplay},
			Title:  "cursors of every form that no host issues get the refusal of an unknown one",
			Source: "any cursor that is not resumed is refused in the same bytes"}),
		leg(Leg{ID: "0250.replay-value", Section: "§E", Gates: []Gate{GateHostEvents, GateReplay},
			Title:  "another value of the parameter is not taken for required",
			Source: "required is the only value of the parameter, and requests without it keep their semantics"}),
		leg(Leg{ID: "0250.removed", Section: "§D", Needs: []Need{NeedRemoveSeam},
			Title:  "a removed event is left out of replay and refused as a cursor",
			Source: "an event removed by lawful deletion is left out of replay, and a cursor naming one is refused"}),
		leg(Leg{ID: "0250.oversize", Section: "§B", Needs: []Need{NeedEmitSeam},
			Title:  "a large event is delivered and replayed like any other",
			Source: "losing a retained event is a violation whatever its cause, an oversized internal notification among them"}),
		leg(Leg{ID: "0250.bounded-stream", Section: "§B",
			Title:  "a stream that the host ends resumes whole from its last id",
			Source: "resumable=true and the bounded close work as before under replay=required"}),
		leg(Leg{ID: "0250.other-instance", Section: "§B", Needs: []Need{NeedPeer},
			Title:  "what one instance emits is resumed, and then live, on another",
			Source: "a retained cursor resumes across ordinary process replacement, whichever process answers"}),
		leg(Leg{ID: "0250.oversize.other-instance", Section: "§B", Needs: []Need{NeedPeer, NeedEmitSeam},
			Title:  "a large event of one instance is delivered on another like a small one",
			Source: "losing a retained event is a violation whatever its cause, an oversized internal notification among them"}),
		leg(Leg{ID: "0250.expired", Section: "§C", Needs: []Need{NeedClock}, Last: true,
			Title:  "past its bound a cursor is resumed or refused like an unknown one, and nothing younger is lost",
			Source: "the bound is a floor: an older cursor may be resumed or refused, a younger one is resumed"}),
		leg(Leg{ID: "0250.restart", Section: "§B", Needs: []Need{NeedRestart}, Last: true,
			Title:  "a cursor from before the host's process was replaced resumes whole",
			Source: "a retained cursor stays resumable across ordinary process replacement"}),
	}
}
