import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codeUnits } from '../../interface/texts.ts';
import { databaseKinds } from '../../support/databases.ts';
import { requestRaw } from '../../support/raw-http.ts';
import { runs } from '../../support/runs.ts';
import { locksOf, sharedService, words } from '../http/shared-service.ts';
import { lfsMediaType } from './lfs-of.ts';

const text = fc.oneof(
  codeUnits,
  fc.constantFrom('', '\0', '\ud800', 'a'.repeat(5_000), ...words('main a/b .. -x lock_1 __proto__ true 0 -1 1e9')),
);
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }));
const often = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 2, arbitrary: usual }, { weight: 1, arbitrary: other });
const object = fc.record({ oid: often(fc.constant('a'.repeat(64)), value), size: value });
const names = words('path ref cursor limit force id transfers hash_algo size expires signature');
const fields = fc.record(
  {
    ...Object.fromEntries(names.map((name) => [name, value])),
    operation: often(fc.constantFrom('download', 'upload'), value),
    objects: often(fc.array(object), value),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  fields.map((json) => JSON.stringify(json)),
  value.map((json) => JSON.stringify(json)),
  text,
);
const name = fc.string({ unit: fc.constantFrom(...'abcX-_'), minLength: 1, maxLength: 8 });
const workspace = often(
  fc.constant('W'),
  fc.oneof(name, fc.constantFrom('', ...words('w %57 W%00 % %zz %2F .. . W. ;a a@b'))),
);
/** Ends of the URL, including those of clients that were given a URL with an extra slash or suffix. */
const end = often(
  fc.constantFrom('/locks', '/locks/verify', '/objects/batch', `/objects/${'a'.repeat(64)}`),
  fc.constantFrom(
    '',
    ...words(
      '/ /locks/ //locks /locks//verify /locks/verify/ /LOCKS /locks? /locks/verify?x=% /objects/a /objects/..%2f',
    ),
  ),
);
const header = often(
  fc.constant('content-type: application/vnd.git-lfs+json'),
  fc.constantFrom(
    ...words('content-type:text/plain content-type: content-encoding:gzip expect:a accept:text/html range:bytes=0-'),
    ...words('authorization:Basic if-match:"a" prefer:wait=1 idempotency-key:\u00ff referer:x'),
  ),
);
const query = often(
  fc.constant(''),
  fields.map((given) => {
    const pairs = Object.entries(given).map(
      ([key, each]) => `${key}=${encodeURIComponent((JSON.stringify(each) ?? '').toWellFormed())}`,
    );
    // Node.js does not even read longer requests.
    return `?${pairs.join('&')}`.slice(0, 8_000);
  }),
);
const request = fc.record({
  method: often(
    fc.constantFrom('GET', 'POST'),
    fc.constantFrom(...words('HEAD PUT PATCH DELETE OPTIONS TRACE PROPFIND')),
  ),
  workspace,
  end,
  query,
  headers: fc.array(header, { maxLength: 3 }),
  signedIn: often(fc.constantFrom('Bearer', 'Basic'), fc.constant('')),
  body: often(fc.constant('{}'), body),
});

/** A valid request, so that at least one is accepted. */
const letIn = {
  ...({ method: 'GET', workspace: 'W', end: '/locks', query: '', signedIn: 'Bearer', body: '' } as const),
  headers: [],
};

describe.each(databaseKinds)('garbage on $name', (kind) => {
  const service = sharedService(kind);

  test('no LFS endpoint responds 404 or 501, and every error has a message', async () => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(request, async ({ method, workspace, end, query, headers, signedIn, body }) => {
        const target = `/v1/workspaces/${workspace.replace(/^W/, service.home)}/lfs${end}${query}`.replace(
          /[^\x21-\x7e]/g,
          '',
        );
        const secret = signedIn === 'Basic' ? btoa(`a:${service.secret}`) : service.secret;
        const response = await requestRaw(service.port, {
          method,
          target,
          headers: [...headers, ...(signedIn === '' ? [] : [`authorization: ${signedIn} ${secret}`])],
          body,
        });
        seen.add(response.status);
        expect([404, 501], `${method} ${target}`).not.toContain(response.status);
        expect(response.status, response.text).not.toBe(500);
        if (response.status < 400 || method === 'HEAD') return;
        expect(response.headers.get('content-type'), `${method} ${target}: ${response.text}`).toBe(lfsMediaType);
        expect(response.body.message).toMatch(/\S/);
      }),
      { numRuns: runs(150, 3_000), examples: [[letIn]] },
    );
    expect([...seen]).toEqual(expect.arrayContaining([200, 401, 403, 405]));
    expect((await locksOf(service, service.home, service.secret).list()).status).toBe(200);
    for (const text of ['request failed', 'wsa_', btoa(`a:${service.secret}`)])
      expect(service.log()).not.toContain(text);
  });
});
