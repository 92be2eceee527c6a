import { expect, test } from 'vitest';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { signedIn, urlIn, type Visitor } from './browser-like.ts';
import { takeLock } from './locked-service.ts';

const service = serviceOfTests();

/** The names of the actions in each row. */
const offered = (page: string) =>
  [...page.matchAll(/aria-label="((?:Extend|Release) [^"]*)"/g)].map(([, name]) => name);

test('My locks lists the locks of the owner in all visible workspaces, with the allowed actions', async () => {
  const [film, game] = [await service.workspace(), await service.workspace()].sort();
  const limited = { name: 'laptop', owner: 'grace', workspaces: [film ?? ''] };
  const desk = await service.token({ name: 'desk', owner: 'grace' });
  await takeLock(service, film ?? '', desk.secret, 'b', { note: 'Final cut' });
  await takeLock(service, game ?? '', desk.secret, 'a');
  await takeLock(service, game ?? '', (await service.token({ owner: 'Grace' })).secret, 'c');
  const all = await signedIn(service, { name: 'desk', owner: 'grace', scopes: ['locks:write'] });
  const { text } = await all.get('/my-locks');
  expect(offered(text)).toEqual(['Extend b', 'Release b', 'Extend a', 'Release a']);
  for (const part of ['Final cut', `<a href="/workspaces/${game}/locks">`, '<bdi>grace</bdi>'])
    expect(text).toContain(part);
  expect((await all.get('/')).text).toContain('href="/my-locks"');
  const some = await signedIn(service, { ...limited, scopes: ['locks:write'] });
  expect(offered((await some.get('/my-locks')).text)).toEqual(['Extend b', 'Release b']);
  const reader = await signedIn(service, { ...limited, scopes: ['locks:read'] });
  const read = (await reader.get('/my-locks')).text;
  expect([offered(read), read.includes('>b</bdi>')]).toEqual([[], true]);
  const nobody = await signedIn(service, { name: 'nobody', scopes: ['locks:read'] });
  expect((await nobody.get('/my-locks')).text).toContain('You hold no locks.');
  expect((await (await signedIn(service, { scopes: ['sync'] })).get('/')).text).not.toContain('/my-locks');
});

test('My locks lists at most 200 locks, says how many there are, and leads to all', async () => {
  const workspace = await service.workspace();
  const farmed = { workspace_id: workspace, owner: 'farm' };
  await storeLocks(service.storage, ...Array.from({ length: 203 }, (_, index) => ({ ...farmed, path: `f${index}` })));
  const farm = await signedIn(service, { name: 'farm', scopes: ['locks:write'] });
  const { text } = await farm.get('/my-locks');
  expect(offered(text)).toHaveLength(400);
  expect(text).toContain('200 of 203 locks');
  const all = await farm.get(urlIn(text, /href="([^"]+)">All in/));
  expect(all.text).toContain('100 of 203 locks');
});

test('both sides see on the start page and My locks that one waits for the other, who may withdraw', async () => {
  const workspace = await service.workspace();
  const ada = await signedIn(service, { name: 'ada-1', scopes: ['locks:write'] });
  const bo = await signedIn(service, { name: 'bo-1', scopes: ['locks:write'] });
  await takeLock(service, workspace, ada.secret, 'Content/Hero.uasset');
  const sections = async (visitor: Visitor) =>
    Promise.all(
      ['/', '/my-locks'].map(async (page) => {
        const { text } = await visitor.get(page);
        return ['Others wait for you', 'You wait for'].filter((title) => text.includes(`<h2>${title}</h2>`));
      }),
    );
  const nobodyWaits = [
    [[], []],
    [[], []],
  ];
  expect([await sections(ada), await sections(bo)]).toEqual(nobodyWaits);
  await bo.post(`/workspaces/${workspace}/locks/ask`, { path: 'Content/Hero.uasset', note: 'For the trailer' });
  expect(await sections(ada)).toEqual([['Others wait for you'], ['Others wait for you']]);
  expect(await sections(bo)).toEqual([['You wait for'], ['You wait for']]);
  for (const said of ['data-notice="bo-1 waits for Content/Hero.uasset"', 'For the trailer'])
    expect((await ada.get('/')).text).toContain(said);
  const { text } = await bo.get('/my-locks');
  for (const said of ['1 of 1', '<bdi>ada-1</bdi>', 'Withdraw']) expect(text).toContain(said);
  const otherToken = await signedIn(service, { name: 'bo-2', owner: 'bo-1', scopes: ['locks:write'] });
  expect((await otherToken.get('/my-locks')).text).not.toContain('Withdraw</button>');
  await bo.post(urlIn(text, /action="([^"]+withdraw)"/), { path: 'Content/Hero.uasset' });
  expect([await sections(ada), await sections(bo)]).toEqual(nobodyWaits);
});
