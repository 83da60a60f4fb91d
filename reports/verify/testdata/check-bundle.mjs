// A second implementation of a bundle's digests and signatures, in another language and without the project's code:
//
//   node check-bundle.mjs BUNDLE [PUBLIC-KEY.pem] [VERIFIER-KEY.pem]
//
// It prints one JSON object that says for each digest and signature whether it holds, null where there is nothing to
// check it with, and exits 1 when one does not hold or one that a key was given for is not there. It knows no more than these rules:
// canonical JSON is RFC 8785; discovery.sha256 is over discovery.document; witnessSha256 is over the rows sorted by id,
// or over {rows, relaxations} where the operator declared any; the attestation is over the object of the four named
// values; signature and verifierSignature are over the bundle without those two members; all are Ed25519, their text
// unpadded base64url. Without a key it takes the one that the embedded document publishes.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

function canonical(value) {
  if (Array.isArray(value)) return '[' + value.map(canonical).join(',') + ']';
  if (value !== null && typeof value === 'object') {
    // JavaScript compares strings by UTF-16 code units, which is the order that RFC 8785 asks for.
    const names = Object.keys(value).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return '{' + names.map((n) => JSON.stringify(n) + ':' + canonical(value[n])).join(',') + '}';
  }
  return JSON.stringify(value);
}

const sha256 = (value) => createHash('sha256').update(canonical(value), 'utf8').digest('hex');

const [path, keyPath, verifierPath] = process.argv.slice(2);
const bundle = JSON.parse(readFileSync(path, 'utf8'));

const rows = [...bundle.results.requirements].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
const relaxations = bundle.host.relaxations ?? [];
const witness = relaxations.length > 0 ? { rows, relaxations } : rows;

function hostKey() {
  if (keyPath) return createPublicKey(readFileSync(keyPath));
  const listed = bundle.discovery?.document?.signingKeys ?? [];
  const entry = listed.find((k) => k.keyId === bundle.attestation?.keyId);
  return entry && createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: entry.publicKey }, format: 'jwk' });
}

function signed(key, over, member) {
  if (!key || !member) return null;
  return verify(null, Buffer.from(canonical(over), 'utf8'), key, Buffer.from(member.sig, 'base64url'));
}

const { signature, verifierSignature, ...whole } = bundle;
const attested = {
  witnessSha256: bundle.witnessSha256,
  'host.build': bundle.host.build,
  'suite.version': bundle.suite.version,
  'discovery.sha256': bundle.discovery?.sha256 ?? '',
};

const said = {
  discovery: bundle.discovery ? sha256(bundle.discovery.document) === bundle.discovery.sha256 : null,
  witness: sha256(witness) === bundle.witnessSha256,
  attestation: signed(hostKey(), attested, bundle.attestation),
  signature: signed(hostKey(), whole, signature),
  verifierSignature: signed(verifierPath && createPublicKey(readFileSync(verifierPath)), whole, verifierSignature),
};
console.log(JSON.stringify(said));
const absent = (keyPath && (said.attestation === null || said.signature === null)) || (verifierPath && said.verifierSignature === null);
process.exitCode = absent || Object.values(said).includes(false) ? 1 : 0;
