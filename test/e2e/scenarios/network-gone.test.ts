import { expect, test } from 'vitest';
import { measured } from '../../support/measured.ts';
import { fasterTime, preload } from '../../support/preload.ts';
import { runs } from '../../support/runs.ts';
import { hero, locking, openWithJob, openWithProxy, soak, useService } from './stage.ts';

useService();

/** Only in a post-step, also in one that shares the process of its main step. */
const brokenPostStep = preload(`
  const { values } = Map.prototype;
  Map.prototype.values = function () {
    if (process.env.STATE_step) throw new Error('It broke.');
    return values.call(this);
  };
`);

test('an internal error in a post-step causes a warning, and does not fail the job', async () => {
  const { job } = await openWithJob();
  await job.run({ ...locking(hero), env: { NODE_OPTIONS: brokenPostStep } });
  const [post] = await job.post();
  const message = expect.stringMatching(
    /^Could not release the locks of this step: It broke\. They stay .* by hand\.$/,
  );
  expect(post).toMatchObject({ conclusion: 'success', annotations: [{ level: 'warning', message }] });
});

const times = soak ? 1 : 5;

test('a network that never responds leads to one warning with the commands to release by hand, within 60 s', async () => {
  const { stage, proxy, job } = await openWithProxy();
  const env = times === 1 ? {} : { NODE_OPTIONS: fasterTime(times) };
  await job.run({ ...locking(["Content/it's #1.uasset", hero]), env });
  const [lock, other] = await stage.locks();
  proxy.meet(() => ({ kind: 'silence' }));

  const running = await job.nextPost();
  const began = performance.now();
  await running?.waitForLog('Trying again');
  const inTroubleAfter = performance.now() - began;
  const post = await running?.finished;
  // The start of the process does not run in faster time.
  const tookMs = inTroubleAfter + (performance.now() - began - inTroubleAfter) * times;
  measured('a post-step without a network gave up after (s)', tookMs / 1_000, { atMost: runs(60, 50) });
  // The step does not start a last pause that would be too long.
  expect(tookMs).toBeGreaterThan(20_000);
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0 });
  expect(post?.annotations).toHaveLength(1);
  const { level, message } = post?.annotations[0] ?? {};
  expect(level).toBe('warning');
  expect(message).toMatch(/^Some locks could not be released and will expire\. /);
  expect(message).toMatch(/, \d+ attempts\)\./);
  expect(message).toContain(`${hero} (id ${lock?.id}, held until `);
  expect(message).toContain(
    `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>' -H 'If-Match: "${lock?.id}"' '${stage.baseUrl}/workspaces/${stage.workspace}/locks/Content%2FHero.uasset'`,
  );
  // A quote in a path survives pasting into a shell.
  expect(message).toContain(`-H 'If-Match: "${other?.id}"'`);
  expect(message).toContain(`/locks/Content%2Fit'\\''s%20%231.uasset'`);
  expect(await stage.locks()).toHaveLength(2);
  expect(post?.summary).toContain('not released');
});
