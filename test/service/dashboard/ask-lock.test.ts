import { expect, test } from 'vitest';
import { pathUrl } from '../../../src/service/dashboard/elements/lock-list.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { locksOf } from '../http/shared-service.ts';
import { signedIn, urlIn } from './browser-like.ts';
import { takeLock } from './locked-service.ts';

const service = serviceOfTests();
const path = 'Maps/Arena.umap';

async function heldPath() {
  const workspace = await service.workspace(undefined, { desk_ttl: '3d' });
  const holder = await signedIn(service, { name: 'ada', scopes: ['locks:write'] });
  await takeLock(service, workspace, holder.secret, path);
  const bo = await signedIn(service, { name: 'bo', scopes: ['locks:write'] });
  const page = async (visitor = bo) => (await visitor.get(pathUrl(workspace, path))).text;
  const ask = (fields: Readonly<Record<string, string>>) =>
    bo.post(`/workspaces/${workspace}/locks/ask`, { path, note: '', ...fields });
  return { workspace, holder, bo, page, ask };
}

test('someone who asks for a held lock is in line with a note, and has the path kept when it is free', async () => {
  const { workspace, holder, bo, page, ask } = await heldPath();
  const form = (await bo.get(urlIn(await page(), /href="([^"]+)"[^>]*>Ask</))).text;
  for (const part of ['Keep it for me when it is free', '<bdi>ada</bdi>']) expect(form).toContain(part);
  const { status, headers } = await ask({ note: 'Lights' });
  expect([status, headers.get('location')]).toEqual([303, pathUrl(workspace, path)]);
  const asked = await page();
  for (const part of ['Lights', 'Withdraw']) expect(asked).toContain(part);
  expect(asked).not.toContain('>Ask<');
  expect(await page(holder)).toContain('Lights');
  expect((await holder.get('/my-locks')).text).toContain('>1 waiting</a>');
  expect((await bo.get('/my-locks')).text).not.toContain('waiting</a>');
  const list = async () => (await bo.get(`/workspaces/${workspace}/locks`)).text;
  expect(await list()).toContain(`<a class="waiting" href="${pathUrl(workspace, path)}">1 waiting</a>`);
  for (const part of ['>Ask<', 'Withdraw']) expect(await page(holder)).not.toContain(part);
  await locksOf(service, workspace, holder.secret).release(path);
  await expect.poll(() => page(), { timeout: 10_000 }).toContain('Kept until');
  expect((await locksOf(service, workspace, holder.secret).take(path)).status).toBe(409);
  expect((await locksOf(service, workspace, bo.secret).take(path)).status).toBe(201);
  expect(await page()).not.toContain('Kept until');
  expect(await list()).not.toContain('waiting</a>');
});

test('a request can be withdrawn, also twice', async () => {
  const { workspace, bo, page, ask } = await heldPath();
  await ask({});
  for (const _ of [1, 2]) {
    expect((await bo.post(`/workspaces/${workspace}/locks/withdraw`, { path })).status).toBe(303);
    expect(await page()).toContain('No one is waiting.');
  }
});

test('a form with mistakes, or for a lock that needs no asking, is shown again with the reason', async () => {
  const { workspace, holder, ask } = await heldPath();
  const note = 'n'.repeat(201);
  const wrong = await ask({ note });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining(`value="${note}"`)]);
  await locksOf(service, workspace, holder.secret).release(path);
  const free = await ask({});
  expect([free.status, free.text]).toEqual([422, expect.stringContaining('and it is kept for nobody else. Lock it.')]);
});

test('a token that may only read is not offered to ask', async () => {
  const { page } = await heldPath();
  expect(await page(await signedIn(service, { scopes: ['locks:read'] }))).not.toContain('>Ask<');
});
