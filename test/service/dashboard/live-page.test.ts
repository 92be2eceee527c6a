import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createLivePageQuota } from '../../../src/service/dashboard/frame/live-page.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { signedIn, visit } from './browser-like.ts';

const service = serviceOfTests();

async function open(url: string, cookie: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { headers: { cookie } }), 'response')) as [IncomingMessage];
  onTestFinished(() => void response.destroy());
  return response;
}

test('tokens get live pages up to their limit and that of all tokens, and no more', () => {
  const limits = { total: 8, perToken: 3 };
  const opening = fc.record({ kind: fc.constant('open' as const), token: fc.constantFrom('a', 'b', 'c', 'd') });
  const closing = fc.record({ kind: fc.constant('close' as const), which: fc.nat(), times: fc.constantFrom(1, 2) });
  fc.assert(
    fc.property(fc.array(fc.oneof(opening, opening, closing), { maxLength: 80, size: 'max' }), (steps) => {
      const take = createLivePageQuota(limits);
      const pages: { token: string; free: () => void }[] = [];
      for (const step of steps) {
        if (step.kind === 'close') {
          const [closed] = pages.splice(step.which % Math.max(1, pages.length), 1);
          for (let time = 0; time < step.times; time += 1) closed?.free();
          continue;
        }
        const { token } = step;
        const ofToken = pages.filter((page) => page.token === token).length;
        if (pages.length < limits.total && ofToken < limits.perToken) pages.push({ token, free: take(token) });
        else expect(() => take(token)).toThrow(/At most \d+ live pages/);
      }
    }),
  );
});

test('the 65th live page of a token is refused, in whichever session, until another one is closed', async () => {
  const greedy = await signedIn(service);
  const again = visit(service);
  await again.signIn(greedy.secret);
  const other = await signedIn(service);
  const url = `${service.baseUrl}/workspaces/${await service.workspace()}/locks/events`;
  const cookies = Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? greedy : again).cookie());
  const pages = await Promise.all(cookies.map((cookie) => open(url, cookie)));
  expect(new Set(pages.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  const refused = await open(url, again.cookie());
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '30']);
  expect((await open(url, other.cookie())).statusCode).toBe(200);
  pages[0]?.destroy();
  await expect.poll(async () => (await open(url, again.cookie())).statusCode).toBe(200);
});

test('the response to a HEAD request is not a live page', async () => {
  const visitor = await signedIn(service);
  const url = `${service.baseUrl}/workspaces/${await service.workspace()}/locks/events`;
  const headers = { cookie: visitor.cookie() };
  const heads = await Promise.all(Array.from({ length: 64 }, () => fetch(url, { method: 'HEAD', headers })));
  expect(new Set(heads.map(({ status }) => status))).toEqual(new Set([200]));
  await expect.poll(async () => (await open(url, visitor.cookie())).statusCode).toBe(200);
});
