import { describe, expect, test } from 'vitest';
import { everythingLeft, openScene } from './scene.ts';
import { stable } from './stable.ts';

const scene = openScene({ resolve: async () => ['93.184.215.14'] });
const url = 'https://ci.example.com/hook';
const secret = 'whsec_Z2VoZWltZ2VoZWltZ2VoZWltZ2VoZWlt';

describe('a webhook', () => {
  test('is registered with the inputs and options', async () => {
    const job = await scene.job({ workspace: await scene.service.workspace() });
    const result = await job.run({
      with: {
        operation: 'register-hook',
        'hook-url': 'https://ci.example.com/hooks/workspace?key=geheim',
        'hook-events': 'sync.succeeded, sync.failed',
        'hook-secret': secret,
        'hook-options': '{"branches":["main"]}',
      },
    });
    expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [], state: {} });
    expect(result.outputs).toEqual({ status: 'registered', hook_id: expect.stringMatching(/^hook_/) });
    const sentence =
      'Registered the webhook: <workspace> now sends sync.succeeded, sync.failed to https://ci.example.com.';
    expect(stable(result.log)).toBe(sentence);
    expect(stable(result.summary)).toContain(sentence);
    expect(await everythingLeft(job, result)).not.toContain('eheim');
  });

  test.each([
    ['gets a generated secret if none is given, which is not shown', {}, 1],
    ['causes no message about a secret in the format github, since nothing verifies it', { format: 'github' }, 0],
  ])('%s', async (_, options, warnings) => {
    const job = await scene.job({ workspace: await scene.service.workspace() });
    const given = { 'hook-url': url, 'hook-options': JSON.stringify(options) };
    const result = await job.run({ with: { operation: 'register-hook', ...given } });
    expect(result.conclusion).toBe('success');
    expect(result.annotations.map(({ message }) => message)).toEqual(
      Array.from({ length: warnings }, () => expect.stringContaining('generated a secret')),
    );
    expect(await everythingLeft(job, result)).not.toContain('whsec_');
  });
});
