// Checks a DSSE envelope without the project's code and prints the statement inside:
//
//   node check-envelope.mjs ENVELOPE PUBLIC-KEY.pem
//
// What is signed is the pre-authentication encoding of the DSSE specification: "DSSEv1", the length and text of the
// payload's type, and the length and bytes of the payload, one space between each.
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [envelopePath, keyPath] = process.argv.slice(2);
const envelope = JSON.parse(readFileSync(envelopePath, 'utf8'));
const payload = Buffer.from(envelope.payload, 'base64');
const encoded = Buffer.concat([
  Buffer.from(`DSSEv1 ${Buffer.byteLength(envelope.payloadType)} ${envelope.payloadType} ${payload.length} `, 'utf8'),
  payload,
]);
const key = createPublicKey(readFileSync(keyPath));
if (!envelope.signatures.some((s) => verify(null, encoded, key, Buffer.from(s.sig, 'base64')))) {
  console.error('no signature of this envelope verifies under the key');
  process.exit(1);
}
process.stdout.write(payload);
