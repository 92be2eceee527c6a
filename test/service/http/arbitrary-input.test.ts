import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { codeUnits } from '../../interface/texts.ts';
import { databaseKinds } from '../../support/databases.ts';
import { requestRaw } from '../../support/raw-http.ts';
import { runs } from '../../support/runs.ts';
import { expectDescribed } from './described-operations.ts';
import { type Answered, expectProblem } from './expect-problem.ts';
import { locksOf, sharedService, words } from './shared-service.ts';

/** Text of the kinds that often break programs, and any other. */
const text: fc.Arbitrary<string> = fc.oneof(
  codeUnits,
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '\0', '\ud800', 'a'.repeat(5_000), ...words('main a/b .. -x 1h 0h exclusive __proto__')),
);

const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
const value = fc.oneof(text, json, fc.array(text, { maxLength: 3 }), fc.dictionary(text, text, { maxKeys: 3 }));

/** The expected fields with any values, some of them valid, or any other JSON. */
const body = fc.oneof(
  json,
  fc.record(
    {
      path: fc.oneof(text, value),
      type: fc.oneof(fc.constant('exclusive'), value),
      ttl: fc.oneof(fc.constant('1s'), value),
    },
    { requiredKeys: [] },
  ),
  fc.record({ branch: value }, { requiredKeys: [] }),
  fc.record(
    {
      url: fc.oneof(fc.constant('https://ci.example.com/hook'), fc.webUrl(), value),
      events: fc.oneof(fc.constant(['sync.failed']), value),
      branches: value,
      secret: value,
      format: value,
      headers: value,
    },
    { requiredKeys: [] },
  ),
);

const pieces = fc.oneof(
  fc.constantFrom(...words(String.raw`/ // .. . %2e %2F %5c \ %00 %zz % %ff %c3%bc %ed%a0%80`)),
  fc.constantFrom(...words('v1 workspaces locks hooks sync syncs openapi.json metrics')),
  fc.constantFrom(...words('? & = # ; : + limit cursor path prefix owner force true 1')),
  // Every character that a request line can contain.
  fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
);
const target = fc
  .tuple(fc.constantFrom('/', '/v1/workspaces/', '/v1/workspaces/W/', '/v1/workspaces/W/locks'), fc.array(pieces))
  .map(([start, rest]) => start + rest.join(''));

describe.each(databaseKinds)('arbitrary input on $name', (kind) => {
  const service = sharedService(kind);
  const at = (address: string) => `/v1/workspaces/${service.home}/${address}`;
  afterAll(async () => {
    // The service still works after all of this input.
    const { take, release } = locksOf(service, service.home, service.secret);
    expect((await take('after/all')).status).toBe(201);
    expect((await release('after/all')).status).toBe(204);
    expect((await service.ask('GET', '/readyz')).status).toBe(200);
    expect(service.log()).not.toContain('request failed');
  });

  function expectSuccessOrProblem(response: Answered): void {
    if (response.status >= 200 && response.status < 300) {
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      return;
    }
    expect(response.status).toBeLessThan(500);
    expectProblem(response, response.body.type.replace(/^.*:/, ''));
  }

  test.each(['locks', 'sync', 'hooks'] as const)(
    'any JSON that is sent to %s succeeds or gets a client error',
    async (to) => {
      await fc.assert(
        fc.asyncProperty(body, async (json) => {
          const response = await service.ask('POST', at(to), { token: service.secret, json });
          expectSuccessOrProblem(response);
          expectDescribed('POST', `/v1/workspaces/{id}/${to}`, response);
        }),
        { numRuns: runs(40, 1_500) },
      );
    },
  );

  test('any request target succeeds or gets a client error', async () => {
    const method = fc.constantFrom('GET', 'DELETE', 'POST', 'PUT', 'OPTIONS');
    await fc.assert(
      fc.asyncProperty(method, target, async (method, text) => {
        const target = text.replace('W', service.home);
        expectSuccessOrProblem(await requestRaw(service.port, { method, target, token: service.secret }));
      }),
      { numRuns: runs(100, 4_000) },
    );
  });
});
