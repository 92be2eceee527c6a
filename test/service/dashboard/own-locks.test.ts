import { expect, test } from 'vitest';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { signedIn } from './browser-like.ts';
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
