import { expect, test } from 'vitest';
import { createServiceText } from '../../src/client/service-text.ts';

const secret = 'wsa_c3VwZXIvc2VjcmV0K3Rva2Vu/with&signs';

test.each([
  ['as it is', secret],
  ['in an address', encodeURIComponent(secret)],
  ['in JSON', JSON.stringify({ secret })],
  ['in Base64', Buffer.from(`ada:${secret}`).toString('base64')],
  ['in HTML', secret.replaceAll('&', '&amp;')],
  ['in hexadecimal digits', Buffer.from(secret).toString('hex')],
])('a secret %s is masked before a text is cut, so that not even its beginning is left', (_, text) => {
  const beginning = text.slice(text.length / 2 - 6, text.length / 2 + 6);
  for (let most = 1; most <= text.length + 40; most += 1) {
    expect(createServiceText([secret]).line(`The service said: ${text} and more`, most)).not.toContain(beginning);
  }
});
