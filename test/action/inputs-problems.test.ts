import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type OperationName, operations } from '../../src/action/inputs/table.ts';
import { type Given, problemsOf, rightStep } from './step-environment.ts';

const duration = 'It has to be a whole number and one of the units s, m, h and d, such as 90s, 15m, 1h or 2d.';
const boolean = 'It has to be true or false.';
const http =
  'Plain http would expose the token to everyone on the way. Use https, or set `allow-http: true` on a network that is yours alone.';
const notALock = 'Pass the output `locks` of a lock step unchanged.';

const wrong: readonly (readonly [operation: OperationName, input: string, value: string, problem: string])[] = [
  [
    'sync',
    'base-url',
    '',
    'Input `base-url` is missing. It has to be an address such as https://workspaces.example.com/v1.',
  ],
  [
    'sync',
    'base-url',
    'workspaces',
    'Input `base-url` is "workspaces". It has to be an address such as https://workspaces.example.com/v1.',
  ],
  [
    'sync',
    'base-url',
    'https://w.example/',
    'Input `base-url` is "https://w.example/". It has to end in /v1, the version of the interface.',
  ],
  [
    'sync',
    'base-url',
    'ftp://w.example/v1',
    'Input `base-url` is "ftp://w.example/v1". It has to begin with https://.',
  ],
  ['sync', 'base-url', 'http://10.0.0.1/v1', `Input \`base-url\` is "http://10.0.0.1/v1". ${http}`],
  ['sync', 'base-url', 'http://localhost.example/v1', `Input \`base-url\` is "http://localhost.example/v1". ${http}`],
  ['sync', 'base-url', 'http://0.0.0.0/v1', `Input \`base-url\` is "http://0.0.0.0/v1". ${http}`],
  [
    'sync',
    'base-url',
    'https://ada:geheim@w.example/v1',
    'Input `base-url` is "***@w.example/v1". It must not contain a user name or a password: the token is sent in a header.',
  ],
  [
    'sync',
    'base-url',
    'https://w.example/v1?key=geheim',
    'Input `base-url` is "https://w.example/v1?***". It must not have a query or a fragment.',
  ],
  ['sync', 'allow-http', 'yes', `Input \`allow-http\` is "yes". ${boolean}`],
  [
    'sync',
    'token',
    '',
    'Input `token` is missing. It has to be an API token of the service, in one piece: pass it from a secret.',
  ],
  [
    'sync',
    'token',
    'two words',
    'Input `token` is not valid. It has to be an API token of the service, in one piece: pass it from a secret.',
  ],
  ['sync', 'request-timeout', '30', `Input \`request-timeout\` is "30". ${duration}`],
  ['sync', 'request-timeout', '0s', 'Input `request-timeout` is "0s". It has to be from 1s to 1h.'],
  ['sync', 'retries', 'many', 'Input `retries` is "many". It has to be a whole number from 0 to 100.'],
  ['sync', 'retries', '-1', 'Input `retries` is "-1". It has to be a whole number from 0 to 100.'],
  ['sync', 'retries', '101', 'Input `retries` is "101". It has to be a whole number from 0 to 100.'],
  ['sync', 'summary', '1', `Input \`summary\` is "1". ${boolean}`],
  [
    'sync',
    'workspace',
    '',
    'Input `workspace` is missing. A workspace must not be empty. `operation: list-workspaces` lists the ids there are.',
  ],
  [
    'sync',
    'workspace',
    '../other',
    'Input `workspace` is "../other". A workspace must not have slashes, backslashes or control characters. `operation: list-workspaces` lists the ids there are.',
  ],
  ['sync', 'branch', 'ma\nin', 'Input `branch` is "ma\\nin". It has to be the name of a branch.'],
  ['sync', 'wait', 'long', `Input \`wait\` is "long". ${duration}`],
  ['sync', 'wait', '31d', 'Input `wait` is "31d". It has to be from 0s to 30d.'],
  ['lock', 'path', '', 'Input `path` is missing. Name what to lock, one path per line.'],
  [
    'lock',
    'path',
    'Content/../Hero.uasset',
    'Input `path` has the line "Content/../Hero.uasset". A path must not have a segment "." or "..".',
  ],
  [
    'lock',
    'path',
    '/etc/passwd',
    'Input `path` has the line "/etc/passwd". A path is relative to the workspace: it must not start with /.',
  ],
  [
    'lock',
    'path',
    'C:\\Assets\\Hero.uasset',
    'Input `path` has the line "C:\\\\Assets\\\\Hero.uasset". A path is relative to the workspace: it must not start with a drive (C:).',
  ],
  ['lock', 'glob', 'no', `Input \`glob\` is "no". ${boolean}`],
  [
    'lock',
    'type',
    'ex\u0007clusive',
    'Input `type` is "ex\\u0007clusive". It has to be a kind of lock, such as exclusive.',
  ],
  ['lock', 'ttl', '1 hour', `Input \`ttl\` is "1 hour". ${duration}`],
  ['lock', 'ttl', '0s', 'Input `ttl` is "0s". A lock lives for 1s at the least and 30d at the most.'],
  ['lock', 'ttl', '31d', 'Input `ttl` is "31d". A lock lives for 1s at the least and 30d at the most.'],
  ['lock', 'wait', '-5m', `Input \`wait\` is "-5m". ${duration}`],
  ['lock', 'auto-release', 'nope', `Input \`auto-release\` is "nope". ${boolean}`],
  ['lock', 'on-lost', 'ignore', 'Input `on-lost` is "ignore". It has to be one of fail, warn.'],
  ['lock', 'on-lost', 'Fail', 'Input `on-lost` is "Fail". It has to be one of fail, warn.'],
  ['unlock', 'path', '', 'Input `path` is missing. Name what to release: with `path`, `locks` or `locks-file`.'],
  ['unlock', 'locks', '[]', 'Input `locks` is not valid. Give one of `path`, `locks` and `locks-file`, not several.'],
  [
    'unlock',
    'locks-file',
    '/tmp/l.json',
    'Input `locks-file` is "/tmp/l.json". Give one of `path`, `locks` and `locks-file`, not several.',
  ],
  ['unlock', 'force', 'maybe', `Input \`force\` is "maybe". ${boolean}`],
  ['list-locks', 'changed-files', 'x', `Input \`changed-files\` is "x". ${boolean}`],
  ['list-locks', 'fail-if-locked', 'x', `Input \`fail-if-locked\` is "x". ${boolean}`],
  ['register-hook', 'hook-url', '', 'Input `hook-url` is missing. It has to be an https address.'],
  [
    'register-hook',
    'hook-url',
    'ftp://a:b@ci.example/?key=geheim',
    'Input `hook-url` is "***@ci.example/?***". It has to be an https address.',
  ],
  [
    'register-hook',
    'hook-options',
    '[1]',
    'Input `hook-options` is not valid. It has to be a JSON object, such as {"format": "github"}.',
  ],
  [
    'register-hook',
    'hook-options',
    '{',
    'Input `hook-options` is not valid. It has to be a JSON object, such as {"format": "github"}.',
  ],
  [
    'register-hook',
    'hook-options',
    // It would exhaust the stack of whoever looks for secrets in it.
    `{"headers":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
    'Input `hook-options` is not valid. It has to be a JSON object, such as {"format": "github"}.',
  ],
];

test.each(wrong)(
  '%s with %s %j: the problem names it, the value and what is allowed',
  (operation, input, value, problem) => {
    expect(problemsOf(rightStep(operation, { [input]: value }))).toEqual([problem]);
  },
);

describe('changed files', () => {
  const changed = (given: Given): readonly string[] =>
    problemsOf(rightStep('list-locks', { 'changed-files': 'true', ...given }));

  test('are not listed beside paths', () => {
    expect(changed({ path: 'Content/Hero.uasset' })).toEqual([
      'Input `path` is "Content/Hero.uasset". With `changed-files: true` the paths come from the pull request or push: give only one of the two.',
    ]);
  });

  test.each(['ghs_1 x', 'ghs_\u00e9', 'ghs_1\r\nx: y'])('are not asked for with the token %j', (token) => {
    expect(changed({ 'github-token': token })).toEqual([
      'Input `github-token` is not valid. With `changed-files: true` it has to be a GitHub token, in one piece. Leave it out to use the token of the job.',
    ]);
    expect(problemsOf(rightStep('list-locks', { 'github-token': token }))).toEqual([]);
  });
});

test.each([
  ['not JSON', 'It is not JSON.'],
  ['{}', 'It is not a JSON list.'],
])('locks that are %s are refused', (locks, why) => {
  expect(problemsOf(rightStep('unlock', { path: '', locks }))).toEqual([
    `Input \`locks\` is not valid. ${why} ${notALock}`,
  ]);
});

test.each([[[{ path: 'a' }, {}]], [[{ path: 'a' }, { path: '../b' }]], [[{ path: 'a' }, 7]]])(
  'one entry of locks that is none makes them all wrong: %j',
  (locks) => {
    expect(problemsOf(rightStep('unlock', { path: '', locks: JSON.stringify(locks) }))).toEqual([
      'Input `locks` is not valid. Entry 2 is not a lock: it has no valid path.',
    ]);
  },
);

test('an operation that there is not is told together with what else is wrong', () => {
  expect(problemsOf({ operation: 'look', retries: 'x', token: 't' })).toEqual([
    'Input `operation` is "look". It has to be one of sync, lock, unlock, list-locks, register-hook, list-workspaces, list-branches.',
    'Input `base-url` is missing. It has to be an address such as https://workspaces.example.com/v1.',
    'Input `retries` is "x". It has to be a whole number from 0 to 100.',
  ]);
});

const wrongAnywhere: Given = {
  'base-url': 'x',
  'allow-http': 'x',
  token: 'x x',
  'request-timeout': 'x',
  retries: 'x',
  summary: 'x',
};

const wrongIn: Readonly<Record<OperationName, Given>> = {
  sync: { workspace: '/', branch: '\u0007', wait: 'x' },
  lock: {
    workspace: '/',
    path: '..',
    glob: 'x',
    type: '\u0007',
    ttl: 'x',
    wait: 'x',
    'auto-release': 'x',
    'on-lost': 'x',
  },
  unlock: { workspace: '/', path: '..', glob: 'x', locks: 'x', force: 'x' },
  'list-locks': { workspace: '/', path: '..', glob: 'x', 'changed-files': 'x', 'fail-if-locked': 'x' },
  'register-hook': { workspace: '/', 'hook-url': 'x', 'hook-options': 'x' },
  'list-workspaces': {},
  'list-branches': { workspace: '/' },
};

test.each(operations)('%s is told of all that is wrong at once', (operation) => {
  const given = { ...wrongAnywhere, ...wrongIn[operation] };
  const named = problemsOf(rightStep(operation, given)).map((problem) => /^Input `(.+?)`/.exec(problem)?.[1]);
  expect(named.toSorted()).toEqual(Object.keys(given).toSorted());
});

test('every bad line of the paths is told, beside what else is wrong', () => {
  expect(problemsOf(rightStep('lock', { path: 'a/b\n../c\nd\n/e', ttl: 'x', glob: 'x' }))).toHaveLength(4);
});

test('what is wrong with paths is told with glob: false too, and then of lines with wildcards as well', () => {
  const path = '../*.uasset';
  expect(problemsOf(rightStep('lock', { path, glob: 'true' }))).toEqual([]);
  expect(problemsOf(rightStep('lock', { path, glob: 'false' }))).toEqual([
    'Input `path` has the line "../*.uasset". A path must not have a segment "." or "..".',
  ]);
});

test('a long value is shown by its beginning', () => {
  const [problem = ''] = problemsOf(rightStep('sync', { wait: 'x'.repeat(5_000) }));
  expect(problem.length).toBeLessThan(500);
  expect(problem).toContain(`"${'x'.repeat(200)}…"`);
});

describe('secrets', () => {
  const secret = fc
    .string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789 {}[]",:'.split('')), minLength: 12 })
    .map((text) => `geheim${text}`);

  test.each([
    ['token', 'sync'],
    ['hook-secret', 'register-hook'],
    ['hook-options', 'register-hook'],
    ['github-token', 'list-locks'],
    ['locks', 'unlock'],
  ] as const)('%s is never repeated, however wrong it is', (input, operation) => {
    fc.assert(
      fc.property(secret, (value) => {
        const problems = problemsOf({ ...rightStep(operation), [input]: value, retries: 'wrong' });
        expect(problems.length).toBeGreaterThan(0);
        expect(problems.join('\n')).not.toContain('geheim');
      }),
    );
  });

  test.each(['base-url', 'hook-url'])('what an address has of credentials is never repeated: %s', (input) => {
    fc.assert(
      fc.property(
        secret,
        fc.constantFrom('x:/', 'ftp://', 'https:///', ''),
        fc.constantFrom('@host', '@host/v1'),
        (value, scheme, rest) => {
          const withName = problemsOf({ ...rightStep('register-hook'), [input]: `${scheme}ada:${value}${rest}` });
          const inQuery = problemsOf({ ...rightStep('register-hook'), [input]: `${scheme}host?key=${value}` });
          expect([...withName, ...inQuery].join('\n')).not.toContain('geheim');
        },
      ),
    );
  });
});
