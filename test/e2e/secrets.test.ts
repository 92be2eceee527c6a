import { expect, test } from 'vitest';
import { startGitHubApi } from '../support/other-servers/github-api.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { json, nothing, problem } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { pullRequestEvent } from '../support/runner/github-context.ts';
import type { Job } from '../support/runner/job.ts';
import type { StepResult } from '../support/runner/step.ts';
import { everythingLeft, jobAt } from './scene.ts';

/** A step of each operation, for any service in the environment. */
const everyOperation: readonly Readonly<Record<string, string>>[] = [
  { operation: 'sync', branch: 'main', wait: '30s' },
  { operation: 'lock', path: 'a\nb' },
  { operation: 'unlock', path: 'a' },
  { operation: 'list-locks', 'fail-if-locked': 'true' },
  { operation: 'register-hook', 'hook-url': 'https://ci.example.com/hook' },
  { operation: 'list-workspaces' },
  { operation: 'list-branches' },
];

const headersOf = (text: string): Readonly<Record<string, string>> => {
  // Removes characters that headers cannot contain.
  const value = text.replaceAll(/[^\x20-\x7e]/g, '');
  return {
    etag: `"${value.replaceAll('"', '')}"`,
    'x-request-id': value,
    'www-authenticate': `Bearer error="insufficient_scope", scope="${value.replaceAll('"', '')}"`,
    deprecation: value,
    sunset: value,
    link: `<https://other.example/${value}>; rel="deprecation"`,
    server: value,
  };
};

const fieldsOf = (text: string) => ({
  type: text,
  owner: text,
  origin: text,
  holder: { name: text },
  head: text,
  remote: text,
  comment: text,
  [text]: text,
});

/** A service that works, and returns the text wherever a response can contain one. */
const sayingEverywhere =
  (text: string): Answer =>
  (response, request) => {
    const { method, url } = request;
    const headers = headersOf(text);
    const fields = fieldsOf(text);
    const answers: readonly (readonly [RegExp, Answer])[] = [
      [
        /^POST .*\/sync$/,
        json(202, { ...fields, sync_id: text, status: text, branch: text }, { ...headers, location: '/v1/progress' }),
      ],
      [/^GET \/v1\/progress/, json(200, { ...fields, status: 'failed', error: text }, headers)],
      [/^POST .*\/locks$/, json(201, { ...fields, id: text, path: text }, headers)],
      [/^GET .*\/locks/, json(200, { locks: [{ ...fields, id: text, path: text }, text] }, headers)],
      [/^DELETE /, nothing(204, headers)],
      [/^POST .*\/hooks$/, json(201, { ...fields, id: text, secret: text }, headers)],
      [/^GET .*\/branches/, json(200, { branches: [{ ...fields, name: text, synced_head: text }, text] }, headers)],
      [/^GET .*\/workspaces/, json(200, { workspaces: [{ ...fields, id: text }, text] }, headers)],
    ];
    const [, answer] = answers.find(([which]) => which.test(`${method} ${url}`)) ?? [];
    (answer ?? nothing(404))(response, request);
  };

/** A service that rejects all requests, and returns the text wherever an error can contain one. */
const refusingWith =
  (text: string): Answer =>
  (response, request) => {
    const status = request.url.endsWith('/locks') && request.method === 'POST' ? 409 : 403;
    const lock = { ...fieldsOf(text), path: text, id: text };
    const body = {
      title: text,
      detail: text,
      error: text,
      message: text,
      errors: [{ pointer: text, detail: text }],
      request_id: text,
      lock,
    };
    problem(status, body, headersOf(text))(response, request);
  };

// Secrets with characters that are encoded in JSON, URLs and HTML.
const token = 'wsa_\\geheim/1+2&<3>%@:4';
const hookSecret = "whsec_geheim=\\5/6'#";
const header = 'Basic geheim:\\7&8/=';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The parts of an encoded secret that do not depend on adjacent bytes, at each of the three offsets in Base64. */
const coresOf = (secret: string): readonly string[] =>
  ['', '.', '..'].map((before) => base64(`${before}${secret}...`).slice(4, -8));

function expectNoSecretIn(text: string): void {
  expect(text).not.toMatch(/geheim/i);
  for (const core of [token, hookSecret, header].flatMap(coresOf)) expect(text).not.toContain(core);
}

/** The first lines of a step, which mask its secrets. */
const masksFirst = (result: StepResult): readonly string[] => {
  const end = result.written.findIndex((line) => !line.startsWith('::add-mask::'));
  return result.written.slice(0, end < 0 ? result.written.length : end);
};

const percent = (text: string): string => text.replaceAll('%', '%25');

const jobOf = async (answer: Answer): Promise<Job> =>
  jobAt((await startOtherServer(answer)).baseUrl, { debug: true, env: { WORKSPACE_TOKEN: token } });

const secretsOfHook = {
  'hook-secret': hookSecret,
  'hook-options': JSON.stringify({ headers: { authorization: header } }),
};

const all = [token, hookSecret, header];

/** The service returns the secrets that it received: the token always, the others when a webhook is registered. */
const withWhatItGot =
  (answer: (text: string) => Answer, spell: (secret: string) => string): Answer =>
  (response, request) => {
    const got = request.url.endsWith('/hooks') ? all : [token];
    answer(got.map(spell).join(' '))(response, request);
  };

const asItIs = (secret: string): string => secret;

const ways: readonly (readonly [name: string, answer: typeof refusingWith, spell: (secret: string) => string])[] = [
  ['in plain form', sayingEverywhere, asItIs],
  ['in Base64 in an error', refusingWith, base64],
];

test.each(ways)('secrets that the service returns %s appear nowhere', async (_name, answer, spell) => {
  const job = await jobOf(withWhatItGot(answer, spell));
  for (const step of everyOperation) {
    const result = await job.run({ with: { ...step, ...(step['operation'] === 'register-hook' && secretsOfHook) } });
    // The step did send requests to the service.
    expect(result.written.length).toBeGreaterThan(1);
    expectNoSecretIn(await everythingLeft(job, result));
  }
  for (const result of await job.post()) expectNoSecretIn(await everythingLeft(job, result));
});

/** GitHub, or a gateway in front of it, repeats the token in links and file names. */
const repeating =
  (text: string): Answer =>
  (response, request) => {
    const files = [text, `${text}\\`].map((filename) => ({ filename, status: 'renamed', previous_filename: text }));
    const link = `<http://127.0.0.1:1/?token=${encodeURIComponent(text)}>; rel="next"`;
    const state = { head: { sha: text }, base: { sha: text }, changed_files: 2 };
    json(200, request.url.includes('/files') ? files : state, { link, deprecation: text })(response, request);
  };

test.each([asItIs, base64])(
  'the GitHub token that GitHub returns in files and links appears nowhere',
  async (spell) => {
    const api = await startGitHubApi({ instead: () => repeating(spell(token)) });
    const server = await startOtherServer(sayingEverywhere('x'));
    const event = pullRequestEvent({ number: 7, head: 'topic' });
    const job = await jobAt(server.baseUrl, { debug: true, event, run: { apiUrl: api.apiUrl } });
    const result = await job.run({
      with: { operation: 'list-locks', 'changed-files': 'true', 'fail-if-locked': 'true', 'github-token': token },
    });
    expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${token}`);
    expectNoSecretIn(await everythingLeft(job, result));
  },
);

test('a step and its post-step mask their secrets before any other output', async () => {
  const job = await jobOf(sayingEverywhere('x'));
  const given = { operation: 'register-hook', 'hook-url': 'https://ci.example.com/hook', ...secretsOfHook };
  const result = await job.run({ with: given });
  expect(masksFirst(result)).toEqual(
    [token, given['hook-url'], hookSecret, `ghs_${'0'.repeat(36)}`, header].map(
      (secret) => `::add-mask::${percent(secret)}`,
    ),
  );
  await job.run({ with: { operation: 'lock', path: 'a' } });
  const [post] = await job.post();
  expect(post?.written[0]).toBe(`::add-mask::${percent(token)}`);
  expect(post?.written.length).toBeGreaterThan(2);
});

test('a token in an input is masked first, even if all inputs are invalid', async () => {
  const job = await jobAt('');
  const result = await job.run({ with: { operation: 'x', token: `${token} x`, 'hook-secret': hookSecret } });
  expect(masksFirst(result).slice(0, 2)).toEqual([`::add-mask::${percent(token)} x`, `::add-mask::${hookSecret}`]);
  expect(result.exitCode).toBe(1);
  expectNoSecretIn(await everythingLeft(job, result));
});
