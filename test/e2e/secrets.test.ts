import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { json, nothing, raw } from '../support/other-servers/answers.ts';
import { startGitHubApi } from '../support/other-servers/github-api.ts';
import { type Answer, startOtherServer } from '../support/other-servers/other-server.ts';
import { pullRequestEvent } from '../support/runner/github-context.ts';
import type { Job } from '../support/runner/job.ts';
import { startJob } from '../support/runner/start-job.ts';
import type { StepResult } from '../support/runner/step.ts';
import { forms } from '../support/runs.ts';
import { everyOperation, refusingWith, sayingEverywhere } from './every-operation.ts';

// Each has signs that look different in JSON, in a URL and in HTML.
const token = 'wsa_\\geheim/1+2&<3>%@:4';
const hookSecret = "whsec_geheim=\\5/6'#";
const header = 'Basic geheim:\\7&8/=';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** What of a secret stands in Base64, wherever in a group of three bytes it begins. */
const coresOf = (secret: string): readonly string[] =>
  ['', '.', '..'].map((before) => base64(`${before}${secret}...`).slice(4, -8));

/** What is left of a step, without the lines that tell the runner what to mask. */
async function everythingLeft({ folders }: Job, result: StepResult): Promise<string> {
  const files = await readdir(folders.temp, { recursive: true, withFileTypes: true });
  const contents = await Promise.all(
    files.filter((file) => file.isFile()).map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
  );
  const { outputs, state, env, rawSummary, annotations, debug } = result;
  const log = result.written.map(({ text }) => text).filter((line) => !line.startsWith('::add-mask::'));
  return [...contents, JSON.stringify({ outputs, state, env, annotations, debug }), rawSummary, ...log].join('\n');
}

function expectNoSecretIn(text: string): void {
  expect(text).not.toMatch(/geheim/i);
  for (const core of [token, hookSecret, header].flatMap(coresOf)) expect(text).not.toContain(core);
}

/** The first lines of a step, which mask its secrets. */
const masksFirst = (result: StepResult): readonly string[] => {
  const lines = result.written.map(({ text }) => text);
  const end = lines.findIndex((line) => !line.startsWith('::add-mask::'));
  return lines.slice(0, end < 0 ? lines.length : end);
};

const percent = (text: string): string => text.replaceAll('%', '%25');

async function jobAt(answer: Answer): Promise<Job> {
  const server = await startOtherServer(answer);
  return startJob({
    debug: true,
    env: { WORKSPACE_BASE_URL: server.baseUrl, WORKSPACE_TOKEN: token, WORKSPACE_ID: 'game' },
  });
}

const secretsOfHook = {
  'hook-secret': hookSecret,
  'hook-options': JSON.stringify({ headers: { authorization: header } }),
};

const all = [token, hookSecret, header];

/** The service answers with what it has got: the token always, the other secrets when a hook is registered. */
const withWhatItGot =
  (answer: (text: string) => Answer, spell: (secret: string) => string): Answer =>
  (response, request) => {
    const got = request.url.endsWith('/hooks') ? all : [token];
    answer(got.map(spell).join(' '))(response, request);
  };

const asItIs = (secret: string): string => secret;

const ways: readonly (readonly [name: string, answer: typeof refusingWith, spell: (secret: string) => string])[] = [
  ['as they are', sayingEverywhere, asItIs],
  ['in a URL', sayingEverywhere, encodeURIComponent],
  ['in Base64', sayingEverywhere, base64],
  ['in Base64, with something before', sayingEverywhere, (secret) => base64(`x:${secret}`)],
  ['in JSON', sayingEverywhere, (secret) => JSON.stringify({ secret })],
  ['as they are, with a refusal', refusingWith, asItIs],
  ['in Base64, with a refusal', refusingWith, base64],
];

test.each(forms(ways, 0, 6))(
  'secrets that the service sends back %s are nowhere to be found',
  async (_name, answer, spell) => {
    const job = await jobAt(withWhatItGot(answer, spell));
    for (const step of everyOperation) {
      const result = await job.run({ with: { ...step, ...(step['operation'] === 'register-hook' && secretsOfHook) } });
      // It did speak with the service.
      expect(result.written.length).toBeGreaterThan(1);
      expectNoSecretIn(await everythingLeft(job, result));
    }
    for (const result of await job.post()) expectNoSecretIn(await everythingLeft(job, result));
  },
);

/** Ways in which GitHub, or what stands before it, can give back the token that it got. */
const givenBack: readonly (readonly [name: string, answer: (text: string) => Answer])[] = [
  ['in a refusal', (text) => json(403, { message: text, documentation_url: text, errors: [text] })],
  ['in a page', (text) => raw(200, text, { 'content-type': 'text/html' })],
  [
    'in a redirect',
    (text) =>
      nothing(302, { location: `http://127.0.0.1:1/${encodeURIComponent(text)}?token=${encodeURIComponent(text)}` }),
  ],
  [
    'in links and in names of files',
    (text) => (response, request) => {
      const files = [text, `${text}\\`].map((filename) => ({ filename, status: 'renamed', previous_filename: text }));
      const link = `<http://127.0.0.1:1/?token=${encodeURIComponent(text)}>; rel="next"`;
      const state = { head: { sha: text }, base: { sha: text }, changed_files: 2 };
      json(200, request.url.includes('/files') ? files : state, { link, deprecation: text })(response, request);
    },
  ],
];

describe.each(forms(givenBack, 3))('the token of GitHub, given back %s', (_name, answer) => {
  test.each(['as it is', 'in Base64'])('%s, is nowhere to be found', async (spelling) => {
    const api = await startGitHubApi({ instead: () => answer(spelling === 'as it is' ? token : base64(token)) });
    const server = await startOtherServer(sayingEverywhere('x'));
    const job = await startJob({
      debug: true,
      event: pullRequestEvent({ number: 7, head: 'topic' }),
      run: { apiUrl: api.apiUrl },
      env: { WORKSPACE_BASE_URL: server.baseUrl, WORKSPACE_TOKEN: 'wsa_0123456789', WORKSPACE_ID: 'game' },
    });
    const result = await job.run({
      with: { operation: 'list-locks', 'changed-files': 'true', 'fail-if-locked': 'true', 'github-token': token },
    });
    expect(api.requests[0]?.headers.authorization).toBe(`token ${token}`);
    expectNoSecretIn(await everythingLeft(job, result));
  });
});

test('what is secret is masked before anything else is said', async () => {
  const job = await jobAt(sayingEverywhere('x'));
  const given = { operation: 'register-hook', 'hook-url': 'https://ci.example.com/hook', ...secretsOfHook };
  const result = await job.run({ with: given });
  expect(masksFirst(result)).toEqual(
    [token, hookSecret, `ghs_${'0'.repeat(36)}`, header].map((secret) => `::add-mask::${percent(secret)}`),
  );
});

test('a token that is given as an input is masked first, also where the step is wrong in every way', async () => {
  const job = await startJob();
  const result = await job.run({ with: { operation: 'x', token: `${token} x`, 'hook-secret': hookSecret } });
  expect(masksFirst(result).slice(0, 2)).toEqual([`::add-mask::${percent(token)} x`, `::add-mask::${hookSecret}`]);
  expect(result.exitCode).toBe(1);
  expectNoSecretIn(await everythingLeft(job, result));
});

test('the post-step masks them first, too', async () => {
  const job = await jobAt(sayingEverywhere('x'));
  await job.run({ with: { operation: 'lock', path: 'a' } });
  const [post] = await job.post();
  expect(post?.written[0]?.text).toBe(`::add-mask::${percent(token)}`);
  expect(post?.written.length).toBeGreaterThan(2);
});
