import { generateKeyPairSync, sign } from 'node:crypto';

/** One DER element (ITU-T X.690): its tag, its length and its content. */
function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(content);
  const size = value.length;
  // The shortest form of the length: some certificate parsers accept no other.
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}

const sequence = (...content: readonly Uint8Array[]): Buffer => element(0x30, ...content);
const identifier = (hex: string): Buffer => element(0x06, Buffer.from(hex, 'hex'));
const bitString = (bits: Uint8Array): Buffer => element(0x03, Buffer.from([0]), bits);
const time = (date: Date): Buffer =>
  element(
    0x17,
    Buffer.from(
      `${date
        .toISOString()
        .replace(/\.\d+Z$|[-:T]/g, '')
        .slice(2)}Z`,
    ),
  );

const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'));
const commonName = identifier('550403');
const subjectAltName = identifier('551d11');

/** A certificate (RFC 5280) for one DNS name, generated on demand and signed with its own key. */
export function selfSigned(
  dnsName: string,
  validUntil: Date = new Date(Date.now() + 3_600_000),
): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(element(0x31, sequence(commonName, element(0x0c, Buffer.from(dnsName)))));
  const altNames = sequence(element(0x82, Buffer.from(dnsName)));
  const body = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(Date.now() - 86_400_000)), time(validUntil)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(sequence(subjectAltName, element(0x04, altNames)))),
  );
  const certificate = sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, privateKey)));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}
