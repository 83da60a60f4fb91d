'use strict';
// What the page knows of the host it learns from discovery; everything it shows it reads with the key typed into it.
// Host text goes into the page as text only.

const $ = (id) => document.getElementById(id);
const mostRows = 100;
const every = 1500; // ms between two looks at what no stream tells

const host = { major: 2, seams: '', runs: '', headers: {}, key: '', agent: false };
let lastId = '';
let stream = null; // the AbortController of the open one
let timer = 0;

function say(text, bad) {
  const p = $('said');
  p.textContent = text;
  p.classList.toggle('bad', !!bad);
  p.hidden = !text;
}

async function call(method, path, body) {
  const headers = { ...host.headers };
  if (host.key) headers.Authorization = 'Bearer ' + host.key;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await answer.text();
  let content = null;
  try { content = text ? JSON.parse(text) : null; } catch { content = null; }
  if (!answer.ok) {
    const why = content && content.error ? content.error + ': ' + content.message : text.slice(0, 200);
    const wait = answer.headers.get('Retry-After');
    const failed = new Error(`${method} ${path} was answered ${answer.status} ${why}` + (wait ? ` (come back in ${wait} s)` : ''));
    failed.status = answer.status;
    throw failed;
  }
  return content;
}

// act runs what a button asks for, and says what went wrong.
function act(work) {
  return async (event) => {
    const button = event.currentTarget;
    button.disabled = true;
    try { await work(button); } catch (e) { say(e.message, true); } finally { button.disabled = false; look(); }
  };
}

function cell(row, text, kind) {
  const td = row.insertCell();
  td.textContent = text === null || text === undefined ? '' : String(text);
  if (kind) td.className = kind;
  return td;
}

function fill(body, none, entries, draw) {
  $(body).replaceChildren(...entries.map((e) => {
    const tr = document.createElement('tr');
    draw(tr, e);
    return tr;
  }));
  $(none).hidden = entries.length > 0;
}

function buttons(row, choices) {
  const td = row.insertCell();
  for (const [name, work] of choices) {
    const b = document.createElement('button');
    b.textContent = name;
    b.addEventListener('click', act(work));
    td.append(b);
  }
}

const clockOf = (text) => (text || '').replace('T', ' ').replace(/\.\d+Z$|Z$/, '');

// ── host events

function came(event, how) {
  const tr = document.createElement('tr');
  let envelope = {};
  try { envelope = JSON.parse(event.data); } catch { /* shown as it is */ }
  cell(tr, clockOf(envelope.timestamp));
  cell(tr, event.type);
  cell(tr, event.id || envelope.eventId || '', 'code');
  cell(tr, how);
  const rows = $('event-rows');
  rows.prepend(tr);
  while (rows.rows.length > mostRows) rows.deleteRow(-1);
  $('no-events').hidden = true;
}

function streaming(state, kind) {
  $('stream').textContent = state;
  $('stream').className = 'state ' + (kind || '');
}

async function listen(from) {
  if (stream) stream.abort();
  const mine = new AbortController();
  stream = mine;
  const headers = { ...host.headers, Authorization: 'Bearer ' + host.key, Accept: 'text/event-stream' };
  let path = '/host/events';
  if (from) {
    headers['Last-Event-ID'] = from;
    path += '?replay=required';
  }
  try {
    const answer = await fetch(path, { headers, signal: mine.signal, cache: 'no-store' });
    if (!answer.ok) {
      const refusal = await answer.json().catch(() => ({}));
      streaming(`refused: ${answer.status} ${refusal.error || ''}`, 'bad');
      return;
    }
    streaming(from ? 'open, resumed' : 'open', 'good');
    await read(answer.body, from ? 'resumed or live' : 'live');
    if (stream === mine) streaming('ended by the host');
  } catch (e) {
    if (stream === mine) streaming(mine.signal.aborted ? 'cut; what comes now is missed until you resume' : 'broken: ' + e.message, 'bad');
  }
}

// read takes the frames of an event stream apart.
async function read(body, how) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let event = { type: 'message', data: [], id: null };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const raw of lines) {
      const line = raw.replace(/\r$/, '');
      if (line === '') {
        if (event.id !== null) lastId = event.id;
        if (event.data.length) came({ type: event.type, data: event.data.join('\n'), id: event.id }, how);
        event = { type: 'message', data: [], id: null };
        continue;
      }
      const at = line.indexOf(':');
      const field = at < 0 ? line : line.slice(0, at);
      const text = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
      if (field === 'event') event.type = text;
      if (field === 'data') event.data.push(text);
      if (field === 'id' && !text.includes('\0')) event.id = text;
    }
  }
}

// ── what no stream tells

async function look() {
  clearTimeout(timer);
  if ($('panels').hidden) return;
  try {
    if (host.seams) await Promise.all([lookAtClock(), lookAtDead(), host.agent ? lookAtAgent() : null]);
    if (host.lost) { say('the host answers again'); host.lost = false; }
  } catch (e) {
    host.lost = true;
    say(e.status ? e.message : 'the host does not answer: ' + e.message, true);
  }
  timer = setTimeout(look, every);
}

async function lookAtClock() {
  const c = await call('GET', host.seams + '/clock');
  $('now').textContent = clockOf(c.now);
  $('mode').textContent = c.mode === 'manual' ? 'runs, and can be moved' : 'real: serve it with --clock manual to move it';
  $('moves').hidden = c.mode !== 'manual';
}

async function lookAtDead() {
  const { entries } = await call('GET', host.seams + '/deadletter/entries?limit=50');
  fill('dead-rows', 'no-dead', entries, (tr, e) => {
    cell(tr, e.runId, 'code');
    cell(tr, e.reason);
    cell(tr, e.attempts, 'n');
    cell(tr, clockOf(e.deadLetteredAt));
    cell(tr, clockOf(e.expiresAt));
    buttons(tr, [['fork', async () => {
      const path = host.runs + '/' + encodeURIComponent(e.runId) + ':fork';
      const fork = await call('POST', path, { mode: 'replay' });
      say('forked into ' + fork.runId);
    }]]);
  });
}

async function lookAtAgent() {
  const base = host.seams + '/agent-dlq';
  const [tool, message, metrics] = await Promise.all([
    call('GET', base + '/queues/tool?resolution=unresolved&limit=100'),
    call('GET', base + '/queues/message?resolution=unresolved&limit=100'),
    call('GET', base + '/metrics'),
  ]);
  const depth = metrics['dlq.depth'];
  $('depth').textContent = depth.alert ? `${depth.value} unresolved: over the alert threshold of ${depth.threshold}` : `${depth.value} unresolved`;
  $('depth').className = 'state ' + (depth.alert ? 'bad' : '');
  const rate = metrics['dlq.replay.success.rate'];
  const time = metrics['dlq.time.to.resolution'];
  figures([
    ['unresolved', depth.value, depth.alert],
    ['oldest', tool.oldestAgeSeconds === null ? '–' : Math.round(tool.oldestAgeSeconds) + ' s'],
    ['replays that succeed', rate.rate === null ? '–' : Math.round(rate.rate * 100) + ' % of ' + rate.replayed],
    ['to resolution, p95', time.p95 === null ? '–' : Math.round(time.p95) + ' s'],
  ]);
  const does = (queue, e, what) => async () => {
    const body = { by: 'console' };
    if (what !== 'replay') { // final, so that it wants a reason
      const notes = prompt(`Why ${what} ${e.entryId}? This is final.`);
      if (notes === null) return;
      if (notes) body.notes = notes;
    }
    const { resolution } = await call('POST', `${base}/queues/${queue}/${encodeURIComponent(e.entryId)}/${what}`, body);
    const still = resolution === 'unresolved';
    say(still ? `${what} of ${e.entryId} did not succeed, or not yet: it is unresolved` : `${what} of ${e.entryId}: ${resolution}`, still);
  };
  call('GET', base + '/pause').then(paused, () => {}); // a host need not tell
  const choices = (queue, e) => ['replay', 'resolve', 'discard'].map((what) => [what, does(queue, e, what)]);
  fill('tool-rows', 'no-tool', tool.entries, (tr, e) => {
    cell(tr, clockOf(e.firstSeenAt));
    cell(tr, e.toolName);
    cell(tr, e.stepIndex);
    cell(tr, e.attempts, 'n');
    cell(tr, e.lastError.kind + (e.lastError.status ? ' ' + e.lastError.status : ''));
    cell(tr, e.category || '…');
    cell(tr, clockOf(e.nextReplayAt));
    buttons(tr, choices('tool', e));
  });
  fill('message-rows', 'no-message', message.entries, (tr, e) => {
    cell(tr, clockOf(e.firstSeenAt));
    cell(tr, e.messageId, 'code');
    cell(tr, e.reason);
    cell(tr, e.deliveries, 'n');
    buttons(tr, choices('message', e));
  });
}

function figures(list) {
  $('figures').replaceChildren(...list.map(([name, value, bad]) => {
    const div = document.createElement('div');
    div.className = 'figure' + (bad ? ' bad' : '');
    const b = document.createElement('b');
    b.textContent = value;
    const span = document.createElement('span');
    span.textContent = name;
    div.append(b, span);
    return div;
  }));
}

// ── start

async function discover() {
  const d = await call('GET', '/.well-known/openwop');
  const impl = d.implementation || {};
  $('host').textContent = `${impl.name || 'host'} ${impl.version || ''}`;
  host.major = (d.protocolVersions || []).some((v) => String(v).startsWith('2')) ? 2 : 1;
  host.headers = host.major === 2 ? { 'OpenWOP-Version': '2' } : {};
  host.seams = host.major === 2 ? '/conformance/seams/sample' : '/v1/host/sample';
  host.runs = host.major === 2 ? '/runs' : '/v1/runs';
  host.agent = !!(d.extensions && d.extensions['example.agent-dlq']);
}

async function connect(key) {
  clearTimeout(timer);
  if (stream) stream.abort();
  host.key = key;
  await discover();
  try {
    await call('GET', host.runs + '/none'); // asked for the key's sake alone
  } catch (e) {
    if (e.status === 401 || !e.status) throw e;
  }
  try {
    await call('GET', host.seams + '/clock');
  } catch (e) {
    if (e.status !== 404) throw e;
    host.seams = ''; // not mounted: serve --seams
  }
  sessionStorage.setItem('key', key);
  for (const id of ['clock', 'runs']) $(id).hidden = !host.seams;
  $('agent').hidden = !(host.seams && host.agent);
  $('events').hidden = host.major !== 2;
  $('panels').hidden = false;
  say(host.seams ? '' : 'The clock, the dead letters and the agent queues are shown where the host is served with --seams.');
  if (host.major === 2) listen('');
  look();
}

$('keys').addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    await connect($('key').value.trim());
  } catch (e) {
    $('panels').hidden = true;
    say(e.status === 401 ? 'The host does not know this key. Use one that serve printed.' : e.message, true);
  }
});
const trigger = (delivery) => act(() => call('POST', '/host/events/test', { delivery }));
$('emit-durable').addEventListener('click', trigger('durable'));
$('emit-ephemeral').addEventListener('click', trigger('ephemeral'));
$('cut').addEventListener('click', act(async () => { if (stream) stream.abort(); }));
$('resume').addEventListener('click', act(async () => { listen(lastId); }));
$('die').addEventListener('click', act(async () => {
  const { event } = await call('POST', host.seams + '/deadletter/exhaust', { scenario: 'exhaust-retries' });
  say('died: ' + event.payload.runId);
}));
$('pause').addEventListener('click', act(async () => { paused(await call('POST', host.seams + '/agent-dlq/pause', {})); }));
$('unpause').addEventListener('click', act(async () => { paused(await call('POST', host.seams + '/agent-dlq/resume', {})); }));
function paused(answer) {
  $('paused').textContent = answer.paused.length ? 'paused: ' + answer.paused.join(', ').replace('*', 'every tool') : 'nothing is paused';
}
document.querySelectorAll('[data-advance]').forEach((b) => b.addEventListener('click', act(async () => {
  await call('POST', host.seams + '/clock/advance', { seconds: Number(b.dataset.advance) });
})));

discover().then(() => {
  const known = sessionStorage.getItem('key');
  if (known) {
    $('key').value = known;
    $('keys').requestSubmit();
  }
}).catch((e) => say('the host does not answer: ' + e.message, true));
