import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createLivePageQuota } from '../../../src/service/dashboard/frame/live-page.ts';
import { startTestService } from '../../support/running-service.ts';
import { anyDatabase } from '../http/any-database.ts';
import { visit } from './browser-like.ts';

const limits = { total: 8, perSession: 3, perWorkspace: 4 };

const countOf = <Item>(items: readonly Item[], isCounted: (item: Item) => boolean): number =>
  items.filter(isCounted).length;

test('no session and no workspace has more live pages than its share, and whoever is below it gets one', () => {
  const opening = fc.record({
    kind: fc.constant('open' as const),
    session: fc.constantFrom('a', 'b', 'c', 'd'),
    workspace: fc.constantFrom('game', 'film', 'cad'),
  });
  const closing = fc.record({ kind: fc.constant('close' as const), which: fc.nat(), times: fc.constantFrom(1, 2) });
  fc.assert(
    fc.property(fc.array(fc.oneof(opening, closing), { maxLength: 80 }), (steps) => {
      const take = createLivePageQuota(limits);
      const open: { session: string; workspace: string; free: () => void }[] = [];
      for (const step of steps) {
        if (step.kind === 'close') {
          const [closed] = open.splice(step.which % Math.max(1, open.length), 1);
          for (let time = 0; time < step.times; time += 1) closed?.free();
          continue;
        }
        const { session, workspace } = step;
        const hasRoom =
          open.length < limits.total &&
          countOf(open, (page) => page.session === session) < limits.perSession &&
          countOf(open, (page) => page.workspace === workspace) < limits.perWorkspace;
        if (hasRoom) open.push({ session, workspace, free: take({ session, workspace }) });
        else expect(() => take({ session, workspace })).toThrow(/At most \d+ live pages/);
      }
    }),
  );
});

test.each(anyDatabase)('the seventeenth live page of one sign-in is refused until another is closed', async (kind) => {
  const service = await startTestService(kind);
  onTestFinished(() => service.stop());
  const { secret } = await service.token();
  const url = `${service.baseUrl}/workspaces/${await service.workspace()}/locks/events`;
  const [greedy, other] = [visit(service), visit(service)];
  for (const visitor of [greedy, other]) await visitor.signIn(secret);

  async function open(cookie: string): Promise<IncomingMessage> {
    const [answer] = (await once(get(url, { headers: { cookie } }), 'response')) as [IncomingMessage];
    onTestFinished(() => void answer.destroy());
    return answer;
  }
  const statusOf = async (cookie: string) => (await open(cookie)).statusCode;

  const pages = await Promise.all(Array.from({ length: 16 }, () => open(greedy.cookie())));
  expect(pages.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 16 }, () => 200));
  const refused = await open(greedy.cookie());
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '30']);
  expect(await statusOf(other.cookie())).toBe(200);
  pages[0]?.destroy();
  await expect.poll(() => statusOf(greedy.cookie()), { timeout: 10_000 }).toBe(200);
});
