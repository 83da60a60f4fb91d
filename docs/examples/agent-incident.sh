#!/usr/bin/env bash
# One incident from end to end, against a host that was started with
#   wopwitness serve --seams --clock manual
# Needs bash, curl and jq. HOST and KEY say where it is, where they aren't the usual ones.
set -euo pipefail
dlq=${HOST:-http://127.0.0.1:8077}/conformance/seams/sample
key=${KEY:-local-key-of-tenant-a}

# call METHOD PATH [BODY] [JQ]: what is shown is the request as typed below, and the part of the answer that matters.
call() {
  local body=()
  [ -n "${3:-}" ] && body=(--data "$3")
  echo "\$ $1 $2${3:+ $3}"
  curl --silent --show-error --fail-with-body -X "$1" -H 'OpenWOP-Version: 2' -H "Authorization: Bearer $key" \
    -H 'Content-Type: application/json' "${body[@]}" "$dlq$2" | jq -c "${4:-.}"
}
# settled ID: waits for the end of a message.
settled() {
  for _ in $(seq 200); do
    case $(curl -s -H 'OpenWOP-Version: 2' -H "Authorization: Bearer $key" "$dlq/agent-dlq/messages/$1" | jq -r .status) in
      queued | running) sleep 0.05 ;;
      *) break ;;
    esac
  done
  call GET "/agent-dlq/messages/$1" '' '{status, deliveries, modelCalls, tokensSpent}'
}
# classified: waits until the classifier has seen every entry, which is soon: appending comes first.
classified() {
  for _ in $(seq 200); do
    [ "$(curl -s -H 'OpenWOP-Version: 2' -H "Authorization: Bearer $key" "$dlq/agent-dlq/queues/tool?category=unclassified" | jq .depth)" = 0 ] && return
    sleep 0.05
  done
}
refund() {
  call POST /agent-dlq/messages "{\"messageId\":\"$1\",\"body\":\"{\\\"task\\\":\\\"refund\\\"}\",\"retryBudget\":1,\"workflow\":{\"steps\":[{\"tool\":\"orders\",\"args\":{\"order\":$2}},{\"tool\":\"payments\",\"args\":{\"order\":$2,\"receipt\":\"ada@example.com\"},\"dependsOn\":[0]}]}}"
  settled "$1"
}

# It can be played once on a host that has the seams and a clock to move.
there() { curl -s -o /dev/null -w '%{http_code}' -H 'OpenWOP-Version: 2' -H "Authorization: Bearer $key" "$dlq/agent-dlq/$1" || true; }
case $(there metrics) in
  200) ;;
  404) echo "the host has no agent seams (404 at $dlq/agent-dlq): start it with serve --seams --clock manual" >&2; exit 1 ;;
  401) echo "the host doesn't know the key: set KEY to one that serve printed" >&2; exit 1 ;;
  *) echo "no host answers as it should at $dlq: set HOST to where serve says that it is" >&2; exit 1 ;;
esac
if [ "$(curl -s -H 'OpenWOP-Version: 2' -H "Authorization: Bearer $key" "$dlq/clock" | jq -r .mode)" != manual ]; then
  echo "the host's clock can't be moved, as the incident needs: start it with serve --seams --clock manual" >&2
  exit 1
fi
if [ "$(there messages/refund-1)" = 200 ]; then
  echo "this was played on this host before (its message refund-1 is there): start a new one" >&2
  exit 1
fi

echo '# Two tools; payments is in trouble: it fails for two refunds, and then its credential is refused.'
call PUT /agent-dlq/tools/orders '{"script":[{"outcome":"ok"}]}' '{outcomes: [.script[].outcome]}'
call PUT /agent-dlq/tools/payments '{"script":[{"outcome":"server_error"},{"outcome":"server_error"},{"outcome":"server_error"},{"outcome":"server_error"},{"outcome":"unauthorized"}],"sideEffect":true,"idempotent":true}' '{outcomes: [.script[].outcome]}'

echo '# Two runs spend their budget. Each ends tool_failed, with an entry that says where to go on.'
refund refund-1 101
refund refund-2 102

echo '# The credential is refused: one entry, one alert, and the circuit opens.'
refund refund-3 103
echo '# Whoever comes now is told so at once, and makes no entry.'
refund refund-4 104
call GET /agent-dlq/tools/payments '' '{circuit: (.circuit | {state, reason}), alerts, calls: (.calls | length), effects}'

classified
echo '# The queue, as whoever is on call reads it. No address of a customer is in it.'
call GET '/agent-dlq/queues/tool?resolution=unresolved' '' '.depth, (.entries[] | {originalMessageId, stepIndex, toolName, toolArgs, attempts, category, lastError})'
call GET /agent-dlq/queues/message '' '{depth}'
call GET /agent-dlq/reviews/security '' '[.entries[].originalMessageId]'

echo '# The tool is mended. The circuit lets one call through once its time is over; until then, nothing is replayed by itself.'
call POST /agent-dlq/pause '{"tool":"payments"}'
call PUT /agent-dlq/tools/payments '{"script":[{"outcome":"ok"}],"sideEffect":true,"idempotent":true}' '{outcomes: [.script[].outcome]}'
call POST /clock/advance '{"seconds":61}' 'has("now")'
refund refund-5 105
call GET /agent-dlq/tools/payments '' '{circuit: .circuit.state, effects}'

echo '# The transient failures are drained, one a second. What waits for security is passed over.'
call POST /agent-dlq/resume '{"tool":"payments"}'
shown=$(call POST /agent-dlq/drains '{"tool":"payments","batch":2,"perSecond":1,"minSuccessRate":0.5}')
echo "$shown"
drain=$(tail -n 1 <<<"$shown" | jq -r .drainId)
call POST /clock/advance '{"seconds":5}' 'has("now")'
call GET "/agent-dlq/drains/$drain"
call GET '/agent-dlq/queues/tool' '' '.depth, (.entries[] | {originalMessageId, resolution})'

echo '# The runs went on where they had failed: two model calls more each, and one side effect.'
settled refund-1
settled refund-2
call GET /agent-dlq/tools/orders '' '{calls: (.calls | length)}'
call GET /agent-dlq/tools/payments '' '{effects}'

echo '# The refused one is replayed by a person, who says why.'
entry=$(curl -s -H 'OpenWOP-Version: 2' -H "Authorization: Bearer $key" "$dlq/agent-dlq/reviews/security" | jq -r '.entries[0].entryId')
call POST "/agent-dlq/queues/tool/$entry/replay" '{"by":"grace","notes":"the credential was rotated, ticket 4711"}'
settled refund-3
call GET "/agent-dlq/queues/tool/$entry" '' '.audit[] | {by, action, resolution, notes}'
