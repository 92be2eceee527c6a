import { describe, expect, test } from 'vitest';
import { problem } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { errorsOf, everythingLeft, jobAt, openScene } from './scene.ts';

const scene = openScene({ resolve: async () => ['93.184.215.14'] });
const url = 'https://ci.example.com/services/geheim';

describe('the error for a rejected input', () => {
  test.each<[string, Readonly<Record<string, string>>, RegExp]>([
    [
      'the branch of a sync',
      { operation: 'sync', branch: 'a b' },
      /^Input `branch` is "a b"\. The name of a branch must not have a space .* \(POST \S+: 422 Unprocessable Entity, request id <request>\)\.$/,
    ],
    [
      'the type of a lock',
      { operation: 'lock', path: 'a', type: 'shared' },
      /^Input `type` is "shared"\. It must be exclusive.* \(POST \S+: 422 /,
    ],
    [
      'one event of a webhook',
      { operation: 'register-hook', 'hook-url': url, 'hook-events': 'sync.failed, lock.stolen' },
      /^Input `hook-events` has "lock\.stolen"\. It must be one of .* \(POST \S+: 422 /,
    ],
    [
      'the branches of a webhook, truncated',
      { operation: 'register-hook', 'hook-url': url, 'hook-options': `{"branches":"${'x'.repeat(20_000)}"}` },
      /^Input `hook-options` has "branches": "x{199}…\. .{1,200} \(POST \S+: 422 /,
    ],
    [
      'the URL of a webhook, without the parts that may be secret',
      { operation: 'register-hook', 'hook-url': 'https://127.0.0.1/services/geheim?key=geheim' },
      /^Input `hook-url` is "https:\/\/127\.0\.0\.1\/…"\. https:\/\/127\.0\.0\.1 leads to a loopback address\. /,
    ],
    [
      'the secret of a webhook, without its value',
      { operation: 'register-hook', 'hook-url': url, 'hook-secret': 'geheim' },
      /^Input `hook-secret` is not valid\. .* \(POST \S+: 422 /,
    ],
    [
      'the format of a webhook',
      { operation: 'register-hook', 'hook-url': url, 'hook-options': '{"format":"gitlab"}' },
      /^Input `hook-options` has "format": "gitlab"\. It must be one of .* \(POST \S+: 422 /,
    ],
    [
      'the headers of a webhook, without their values',
      { operation: 'register-hook', 'hook-url': url, 'hook-options': '{"headers":{"host":"geheim.example"}}' },
      /^Input `hook-options` has a member "headers" that is not valid\. .* \(POST \S+: 422 /,
    ],
  ])('names the input and its value: %s', async (_, inputs, message) => {
    const job = await scene.job({ workspace: await scene.service.workspace() });
    const result = await job.run({ with: inputs });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(errorsOf(result)).toEqual([expect.stringMatching(message)]);
    expect(await everythingLeft(job, result)).not.toContain('geheim');
  });

  test('names several inputs at once, and keeps the words of the service for other errors', async () => {
    const errors = [
      { pointer: '#/ttl', detail: 'At most 1 day.' },
      { pointer: '#/path', detail: 'Too deep.' },
      { pointer: '#/limit', detail: 'It must be a number.' },
    ];
    const server = await startOtherServer(problem(422, { detail: 'ttl: At most 1 day. (and 2 more)', errors }));
    const job = await jobAt(server.baseUrl);
    const result = await job.run({ with: { operation: 'lock', path: 'a/b', ttl: '2d' } });
    expect(errorsOf(result)).toEqual([
      'Input `ttl` is "2d". At most 1 day. Input `path` is "a/b". Too deep. limit: It must be a number (POST /v1/workspaces/game/locks: 422 Unprocessable Entity).',
    ]);
    const limited = await startOtherServer(
      problem(422, { detail: 'limit: It must be a number.', errors: [errors[2]] }),
    );
    const listing = await (await jobAt(limited.baseUrl)).run({ with: { operation: 'list-branches' } });
    expect(errorsOf(listing)).toEqual([expect.stringMatching(/^limit: It must be a number \(GET /)]);
  });

  test('names no path if several were given and the service refuses one', async () => {
    const server = await startOtherServer(problem(422, { errors: [{ pointer: '#/path', detail: 'Too deep.' }] }));
    const result = await (await jobAt(server.baseUrl)).run({ with: { operation: 'lock', path: 'a\nb/c' } });
    expect(errorsOf(result)).toEqual([
      expect.stringMatching(/^Input `path` has a line that the service refuses\. Too deep \(PUT /),
    ]);
  });
});
