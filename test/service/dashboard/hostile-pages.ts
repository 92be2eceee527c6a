import { expect } from 'vitest';
import { createRepository } from '../../support/git-repository.ts';
import type { RunningService } from '../../support/running-service.ts';
import { storePoolFile } from '../../support/stored-pool.ts';
import { changeRows, storeSyncs } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type SignedIn, signedIn } from './browser-like.ts';
import { hostileTexts } from './hostile.ts';
import { hostileName, hostilePath, takeLock } from './locked-service.ts';

/** All pages that links from these URLs lead to, by their URL. */
async function pagesFrom({ get }: SignedIn, addresses: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const known = new Set(addresses);
  for (const address of known) {
    const { status, text, headers } = await get(address);
    expect([address, status]).toEqual([address, expect.toBeOneOf([200, 303])]);
    // A file is not a page: browsers save it, whatever it contains.
    const isFile = headers.get('content-disposition')?.startsWith('attachment') ?? false;
    pages.set(address, isFile ? '' : text);
    if (isFile) continue;
    const inSight = text.replace(/<template.*?<\/template>/gs, '');
    const links = [...inSight.matchAll(/<a [^>]*href="(\/[^"#]*)/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    );
    for (const link of links) known.add(link);
    const to = headers.get('location');
    if (to !== null) known.add(to);
  }
  return pages;
}

/** Every page that an administrator sees, with hostile text in all names, errors and responses. */
export async function hostilePages(service: RunningService) {
  const { storage, ask, token } = service;
  const admin = await signedIn(service);
  const remote = createRepository(temporaryFolder(), 'remote.git');
  remote.commit({ branch: 'main', files: { a: '1' } });
  // Git limits the length of names, and does not allow spaces in them.
  const branches = hostileTexts.slice(0, 4).map((text) => text.replaceAll(' ', '/'));
  remote.commit(...branches.map((branch) => ({ branch, from: 'main', files: { b: '1' } })));
  const workspace = await service.workspace(remote.path);
  await service.workspace('https://ada:remote-s3cret@127.0.0.1:1/assets.git');
  const holder = await token({ name: hostileName });
  const origin = 'https://evil.example/"><script>alert(1)</script>';
  await takeLock(service, workspace, holder.secret, hostilePath, { origin, note: hostilePath.slice(0, 200) });
  await takeLock(service, workspace, admin.secret, `own/${hostilePath}`, { origin, note: hostilePath.slice(0, 200) });
  const seats = [
    { path: hostilePath, properties: { x: '<script>alert(1)</script>' } },
    { path: 'free/"><img src=x', properties: { y: 'pool-s3cret' }, secret: ['y'] },
  ];
  await storePoolFile(storage, workspace, 'seats', JSON.stringify(seats));
  const json = {
    url: 'https://ci.example.com/?key=query-s3cret',
    headers: { 'x-key': 'header-s3cret' },
    branches: [hostileTexts[0]],
    events: ['sync.failed', 'lock.acquired'],
  };
  const { body: hook } = await ask('POST', `/v1/workspaces/${workspace}/hooks`, { token: admin.secret, json });
  for (const [index, text] of hostileTexts.entries()) {
    await token({ name: text });
    await changeRows(storage, 'hooks', { last_error: text, failing_since: 1 }, { id: hook.id });
    const id = `sync_00000000-0000-0000-0000-00000000000${index}`;
    const told = { branch: text, requested_by: text, error: text };
    await storeSyncs(storage, { id, workspace_id: workspace, status: 'failed', ...told });
  }

  const typed = encodeURIComponent(hostileName);
  const queries = [`/locks?search=${typed}`, `/syncs?branch=${typed}`];
  const pages = await pagesFrom(admin, ['/', ...queries.map((query) => `/workspaces/${workspace}${query}`)]);
  const secrets = [
    admin.secret,
    holder.secret,
    hook.secret,
    'query-s3cret',
    'header-s3cret',
    'remote-s3cret',
    'pool-s3cret',
  ];
  return { admin, workspace, pages, secrets };
}
