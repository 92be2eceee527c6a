import { expect, test } from 'vitest';
import { maxFormBytes } from '../../../src/service/dashboard/frame/form.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { sendHeadAlone, signedIn } from './browser-like.ts';

const service = serviceOfTests({ rateLimit: { perSecond: 0.001, burst: 10 } });

test('a form of another site, without a session or above the rate limit is refused before it is read', async () => {
  const visitor = await signedIn(service);
  const [own, other] = ['Origin: http://localhost', 'Origin: https://evil.example'];
  const cookie = `Cookie: ${visitor.cookie()}`;
  const statusOf = async (path: string, ...headers: string[]) => (await sendHeadAlone(service, path, headers)).status;
  expect(await statusOf('/sign-in', other)).toBe(403);
  expect(await statusOf('/sign-in')).toBe(403);
  expect(await statusOf('/sign-in/link', 'Origin: null')).toBe(403);
  expect(await statusOf('/sign-out', other, cookie)).toBe(403);
  expect(await statusOf('/sign-out', own, 'Accept: text/html')).toBe(303);
  while ((await visitor.get('/')).status === 200);
  expect(await statusOf('/sign-out', own, cookie)).toBe(429);
});

test('a form that is too large is refused with a page that says so', async () => {
  const visitor = await signedIn(service);
  const { status, headers, text } = await visitor.post('/sign-out', { filler: 'x'.repeat(maxFormBytes) });
  expect([status, headers.get('content-type')]).toEqual([413, 'text/html; charset=utf-8']);
  expect(text).toContain('The request body must not be larger than 65536 bytes.');
});
