import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OperationName } from '../../src/action/inputs/table.ts';
import { type Given, problemsOf, rightStep } from './step-environment.ts';

const address = 'It must be a URL such as https://workspaces.example.com/v1.';
const apiToken = 'It must be an API token, without spaces or line breaks. Pass it from a secret.';
const boolean = 'It must be true or false.';
const duration = 'It must be a whole number and one of the units s, m, h and d, such as 90s, 15m, 1h or 2d.';
const http =
  'Plain http would expose the token on the network. Use https, or set `allow-http: true` on a private network only.';
const listed = '`operation: list-workspaces` lists the existing ids.';
const noCredentials = 'It must not contain a user name or a password: the token is sent in a header.';
const noQuery = 'It must not have a query or a fragment.';
const noSegment = 'A path must not have a segment "." or "..".';
const bothSet = (one: string, other: string): string =>
  `Inputs \`${one}\` and \`${other}\` are both set: give only one of them.`;
const oneUrl = 'It must be a single URL, without spaces or line breaks.';
const options = 'It must be a JSON object, such as {"format": "github"}.';
const outOfRange = 'It must be a whole number from 0 to 100.';
const atLeastOne = 'It must be a whole number from 1 to 999999.';
const reaction = 'It must be one of fail, warn, cancel.';
const relative = 'A path is relative to the workspace: it must not start with';
const ttl = 'It must be from 1s to 30d.';
const unchanged = 'Pass the output `locks` of a lock step unchanged.';
const noSlashes = 'A workspace must not have slashes, backslashes or control characters.';

/** Phrase that names a wrong value that is not quoted as a whole. */
const missing = 'is missing.';
const hidden = 'is not valid.';
const line = (value: string): string => `has the line ${JSON.stringify(value)}.`;

// Deep enough to exhaust the stack of a recursive search for secrets.
const deep = `{"headers":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;

const wrong: readonly (readonly [OperationName, input: string, value: string, reason: string, named?: string])[] = [
  ['sync', 'base-url', '', address, missing],
  ['sync', 'base-url', 'workspaces', address],
  ['sync', 'base-url', 'https://a.example\nhttps://b.example/v1', oneUrl],
  ['sync', 'base-url', 'https://w.example/', 'It must end in /v1, the API version.'],
  ['sync', 'base-url', 'ftp://w.example/v1', 'It must start with https://.'],
  ['sync', 'base-url', 'http://10.0.0.1/v1', http],
  ['sync', 'base-url', 'http://localhost.example/v1', http],
  ['sync', 'base-url', 'https://ada:geheim@w.example/v1', noCredentials, 'is "***@w.example/v1".'],
  ['sync', 'base-url', 'https://w.example/v1?key=geheim', noQuery, 'is "https://w.example/v1?***".'],
  ['sync', 'allow-http', 'yes', boolean],
  ['sync', 'audience', 'a\nb', 'It must be an audience that the service accepts, such as its origin.'],
  ['sync', 'token', 'two words', apiToken, hidden],
  ['sync', 'request-timeout', '30', duration],
  ['sync', 'request-timeout', '0s', 'It must be from 1s to 1h.'],
  ['sync', 'retries', 'many', outOfRange],
  ['sync', 'retries', '101', outOfRange],
  ['sync', 'workspace', '', `Set it to the id of a workspace. ${listed}`, missing],
  ['sync', 'workspace', '../other', `${noSlashes} ${listed}`],
  ['sync', 'branch', 'ma\nin', 'It must be the name of a branch.'],
  ['sync', 'wait', '31d', 'It must be from 0s to 30d.'],
  ['lock', 'path', '', 'List the paths to lock, one per line.', missing],
  ['lock', 'path', 'Content/../Hero.uasset', noSegment, line('Content/../Hero.uasset')],
  ['lock', 'path', '/etc/passwd', `${relative} /.`, line('/etc/passwd')],
  ['lock', 'path', 'C:\\Assets\\Hero.uasset', `${relative} a drive (C:).`, line('C:\\Assets\\Hero.uasset')],
  ['lock', 'any', '0', atLeastOne],
  ['lock', 'any', '1.5', atLeastOne],
  ['lock', 'any', '1000000', atLeastOne],
  ['lock', 'type', 'ex\u0007clusive', 'It must be a kind of lock, such as exclusive.'],
  ['lock', 'ttl', '1 hour', duration],
  ['lock', 'ttl', '0s', ttl],
  ['lock', 'ttl', '31d', ttl],
  ['lock', 'priority', 'urgent', 'It must be one of low, normal, high.'],
  ['lock', 'on-lost', 'Fail', `Did you mean fail? ${reaction}`],
  ['register-hook', 'hook-url', '', 'It must be an https URL.', missing],
  ['register-hook', 'hook-url', 'hooks.example/services/geheim', 'It must be an https URL.', hidden],
  ['register-hook', 'hook-options', '{', options, hidden],
  ['register-hook', 'hook-options', deep, options, hidden],
];

test.each(
  wrong.map(([operation, input, value, reason, named = `is ${JSON.stringify(value)}.`]) => {
    return { operation, input, value, problem: `Input \`${input}\` ${named} ${reason}` };
  }),
)('$operation with $input $value reports the input, the value and what is allowed', (row) => {
  expect(problemsOf(rightStep(row.operation, { [row.input]: row.value }))).toEqual([row.problem]);
});

test('lock with `renew: true` and `auto-release: false` reports why renewal does not help, and what to do', () => {
  const both = { renew: 'true', 'auto-release': 'false' };
  expect(problemsOf(rightStep('lock', both))).toEqual([
    'Input `renew` is "true". Renewal ends with the job, so the locks of a step with `auto-release: false` would expire one `ttl` after it. Leave `renew` out, and choose a `ttl` that covers all jobs that need the locks.',
  ]);
  expect(problemsOf(rightStep('lock', { ...both, ttl: 'x' }))).toHaveLength(2);
  expect(problemsOf(rightStep('lock', { ...both, 'auto-release': 'true' }))).toEqual([]);
});

test('a lock takes its paths from `path` or from `pool`, and `where` goes with a pool', () => {
  const pool = { path: '', pool: 'unity-pro' };
  expect(problemsOf(rightStep('lock', { ...pool, where: 'host=b1\n os = linux, arm ' }))).toEqual([]);
  expect(problemsOf(rightStep('lock', { ...pool, path: 'a' }))).toEqual([bothSet('path', 'pool')]);
  expect(problemsOf(rightStep('lock', { path: 'a', where: 'host=b1' }))).toEqual([
    'Input `where` is "host=b1". It works only with `pool`: set `pool` as well.',
  ]);
  expect(problemsOf(rightStep('lock', { ...pool, pool: 'a\u0007', where: 'host\n=b1\nos=a\nos=b' }))).toEqual([
    'Input `pool` is "a\\u0007". It must be the name of a pool.',
    'Input `where` has the line "host". It must be a name and a value, such as host=b1.',
    'Input `where` has the line "=b1". It must be a name and a value, such as host=b1.',
    'Input `where` has the line "os=b". No item has two values of the same property.',
  ]);
});

describe('the input changed-files', () => {
  const changed = (given: Given): readonly string[] =>
    problemsOf(rightStep('list-locks', { 'changed-files': 'true', ...given }));

  test('cannot be combined with paths', () => {
    expect(changed({ path: 'Content/Hero.uasset' })).toEqual([bothSet('path', 'changed-files')]);
  });

  test.each(['ghs_\u00e9', 'ghs_1\r\nx: y'])('rejects the GitHub token %j', (token) => {
    expect(changed({ 'github-token': token })).toEqual([
      'Input `github-token` is not valid. It must be a GitHub token, without spaces or line breaks. Leave it out to use the token of the job.',
    ]);
    expect(problemsOf(rightStep('list-locks', { 'github-token': token }))).toEqual([]);
  });
});

test('`on-lost: cancel` needs renewal and a GitHub token', () => {
  expect(problemsOf(rightStep('lock', { 'on-lost': 'cancel', 'github-token': 'ghs_1 x' }))).toEqual([
    'Input `on-lost` is "cancel". It works only with `renew: true`: otherwise a loss is not noticed at once.',
    'Input `github-token` is not valid. It must be a GitHub token, without spaces or line breaks. Leave it out to use the token of the job.',
  ]);
});

const notALock = 'Entry 2 is not a lock: its path, id or ETag is not valid.';

test.each([
  ['not JSON', `It is not a JSON list. ${unchanged}`],
  ['{}', `It is not a JSON list. ${unchanged}`],
  ['[{"path":"a"},{"path":"../b"}]', notALock],
  ['[{"path":"a"},7]', notALock],
  ['[{"path":"a"},{"path":"b","etag":"\\"b\\"\\r\\nX-Other: 1"}]', notALock],
  ['[{"path":"a"},{"path":"b","etag":7}]', notALock],
  ['[{"path":"a"},{"path":"b","etag":" "}]', notALock],
  ['[{"path":"a"},{"path":"b","etag":"*"}]', notALock],
  ['[{"path":"a"},{"path":"b","etag":"\\"x\\", *,"}]', notALock],
  ['[{"path":"a"},{"path":"b","etag":"W/\\"x\\""}]', notALock],
  ['[{"path":"a"},{"path":"b","id":{"b":1}}]', notALock],
  ['[{"path":"a"},{"path":"b","id":"x\\", \\"l1"}]', notALock],
])('rejects all locks if `locks` is %s', (locks, reason) => {
  expect(problemsOf(rightStep('unlock', { path: '', locks }))).toEqual([`Input \`locks\` is not valid. ${reason}`]);
});

test.each([
  ['/nowhere/locks.json', '"/nowhere/locks.json"'],
  ['x'.repeat(20_000), `"${'x'.repeat(200)}…"`],
])('a `locks-file` that cannot be read is named once, and truncated', (file, shown) => {
  const [problem = ''] = problemsOf(rightStep('unlock', { path: '', 'locks-file': file }));
  const [named, reason] = problem.split('. ', 2);
  expect(named).toBe(`Input \`locks-file\` is ${shown}`);
  // Windows has other reasons for a path that is too long.
  expect(reason).toMatch(/^The file cannot be read: E[A-Z]+: [^']+\.$/);
});

test('an unlock and a check take their locks from one input only', () => {
  const locksFile = '/tmp/l.json';
  expect(problemsOf(rightStep('check', { locks: '[]', 'locks-file': locksFile }))).toEqual([
    bothSet('locks', 'locks-file'),
  ]);
  for (const given of [{ locks: '[]' }, { 'locks-file': locksFile }]) {
    expect(problemsOf(rightStep('unlock', { path: 'a', ...given }))).toEqual([
      bothSet('path', Object.keys(given).join()),
    ]);
  }
});

test('reports an unknown operation together with all other mistakes', () => {
  expect(problemsOf({ operation: 'look', retries: 'x', token: 't' })).toEqual([
    'Input `operation` is "look". Did you mean lock? It must be one of sync, lock, unlock, list-locks, register-hook, list-workspaces, list-branches, check.',
    `Input \`base-url\` is missing. ${address}`,
    `Input \`retries\` is "x". ${outOfRange}`,
  ]);
});

describe('error messages', () => {
  const secret = fc
    .string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789 {}[]",:'.split('')), minLength: 12 })
    .map((text) => `geheim${text}`);

  test.each([
    ['token', 'sync'],
    ['hook-url', 'register-hook'],
    ['hook-secret', 'register-hook'],
    ['hook-options', 'register-hook'],
    ['github-token', 'list-locks'],
    ['locks', 'unlock'],
  ] as const)('never include the value of the secret %s, however wrong it is', (input, operation) => {
    fc.assert(
      fc.property(secret, (value) => {
        const problems = problemsOf({ ...rightStep(operation), [input]: value, retries: 'wrong' });
        expect(problems.length).toBeGreaterThan(0);
        expect(problems.join('\n')).not.toContain('geheim');
      }),
    );
  });

  test('never include the credentials or the query of the base URL', () => {
    const schemes = fc.constantFrom('x:/', 'ftp://', 'https:///', '');
    fc.assert(
      fc.property(secret, schemes, fc.constantFrom('@host', '@host/v1'), (value, scheme, rest) => {
        const withName = problemsOf({ ...rightStep('sync'), 'base-url': `${scheme}ada:${value}${rest}` });
        const inQuery = problemsOf({ ...rightStep('sync'), 'base-url': `${scheme}host?key=${value}` });
        expect([...withName, ...inQuery].join('\n')).not.toContain('geheim');
      }),
    );
  });
});
