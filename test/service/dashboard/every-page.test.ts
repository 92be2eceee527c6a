import { expect, test } from 'vitest';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { expectedPages } from './expected-pages.ts';
import { expectHarmless } from './hostile.ts';
import { hostilePages } from './hostile-pages.ts';

const service = serviceOfTests();

test('no page shows injected markup, reordered or hidden text, or a secret, and links lead to each page', async () => {
  const { workspace, pages, secrets } = await hostilePages(service);
  for (const [address, page] of pages) {
    expectHarmless(page);
    const [, title = workspace] = /<title>(.*?)<\/title>/.exec(page) ?? [];
    if (address.startsWith(`/workspaces/${workspace}`))
      expect([address, title]).toEqual([address, expect.stringContaining(workspace)]);
    for (const secret of secrets) expect(page).not.toContain(secret);
  }
  for (const path of ['/tokens', ...['', '/locks', '/syncs'].map((tab) => `/workspaces/${workspace}${tab}`)]) {
    const shown = [...pages].map(([address, text]) => (address.startsWith(path) ? text : '')).join('');
    expect(shown).toContain('&lt;script&gt;alert(1)');
    expect(shown).toMatch(/\\u\{(?:202e|ad)\}/);
  }
  const isLinked = (path: string) => {
    const pattern = new URLPattern({ pathname: path });
    return [...pages.keys()].some((address) => pattern.test(address, service.baseUrl));
  };
  const guarded = expectedPages.filter(({ method, need }) => method === 'GET' && need !== 'anyone');
  const unlinked = guarded.map(({ path }) => path).filter((path) => !isLinked(path));
  expect(unlinked.filter((path) => !/\/paths$/.test(path))).toEqual([]);
});
