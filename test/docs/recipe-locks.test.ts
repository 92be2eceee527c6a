import { describe, expect, test } from 'vitest';
import { tagEvent } from '../support/runner/github-context.ts';
import { runWorkflowJob } from '../support/workflow/job-runner.ts';
import { arena, cave, hero, openGame, recipe } from './game.ts';

describe('"Lock an asset while a job runs"', () => {
  const game = openGame();

  test('holds the lock while the script runs, and no longer when the job has ended', async () => {
    const result = await runWorkflowJob({
      workflow: recipe('Lock an asset while a job runs'),
      ...(await game.given()),
    });
    expect(result).toMatchObject({ result: 'success', annotations: [] });
    expect(result.step('Run ./release.sh').log).toBe(`locked: ${hero}`);
    expect(await game.locked()).toEqual([]);
  });

  test('releases the lock if the script fails', async () => {
    const given = await game.given({ script: '#!/usr/bin/env bash\nexit 3\n' });
    const result = await runWorkflowJob({ workflow: recipe('Lock an asset while a job runs'), ...given });
    expect(result.result).toBe('failure');
    expect(result.log).toContain('Released 1 lock at the end of the job.');
    expect(await game.locked()).toEqual([]);
  });
});

describe('"Lock during a release"', () => {
  const game = openGame();

  test('holds all paths for the release, and releases some before the upload', async () => {
    const event = tagEvent('v1.0');
    const result = await runWorkflowJob({ workflow: recipe('Lock during a release'), event, ...(await game.given()) });
    expect(result).toMatchObject({ result: 'success', annotations: [] });
    expect(result.step('Run ./release.sh').log).toBe(`locked: ${hero} ${arena} ${cave}`);
    expect(result.step('Run ./upload.sh').log).toBe(`locked: ${hero}`);
    expect(await game.locked()).toEqual([]);
  });

  test('holds none of the paths if somebody else holds one', async () => {
    await game.lock(cave);
    const result = await runWorkflowJob({ workflow: recipe('Lock during a release'), ...(await game.given()) });
    expect(result.result).toBe('failure');
    expect(result.step('Run ./release.sh').outcome).toBe('skipped');
    expect(await game.locked()).toEqual([cave]);
  });
});

describe('"Across jobs"', () => {
  const game = openGame();
  const across = recipe('Across jobs');

  test.each(['success', 'failure', 'cancelled'] as const)(
    'holds the locks from the first job to the last, which releases them whatever the result of the one between: %s',
    async (outcome) => {
      const given = await game.given();
      const first = await runWorkflowJob({ workflow: across, job: 'lock', ...given });
      expect(first).toMatchObject({ result: 'success', annotations: [] });
      const lock = { result: first.result, outputs: first.outputs };

      const second = await runWorkflowJob({ workflow: across, job: 'build', ...given, needs: { lock } });
      expect(second.step('Run ./build.sh').log).toBe(`locked: ${hero} ${arena}`);
      expect(await game.locked()).toEqual([hero, arena]);

      const needs = { lock, build: { result: outcome } };
      const last = await runWorkflowJob({ workflow: across, job: 'unlock', ...given, needs });
      expect(last).toMatchObject({ result: 'success', annotations: [] });
      expect(await game.locked()).toEqual([]);
    },
  );

  test('releases nothing if the first job locked nothing', async () => {
    await game.lock(arena);
    const given = await game.given();
    const first = await runWorkflowJob({ workflow: across, job: 'lock', ...given });
    expect(first.result).toBe('failure');
    const needs = { lock: { result: first.result, outputs: first.outputs }, build: { result: 'skipped' } } as const;
    const last = await runWorkflowJob({ workflow: across, job: 'unlock', ...given, needs });
    expect(last).toMatchObject({ result: 'success', annotations: [] });
    expect(await game.locked()).toEqual([arena]);
    const without = { ...needs, lock: { result: 'failure' } } as const;
    const skipped = await runWorkflowJob({ workflow: across, job: 'unlock', ...given, needs: without });
    expect(skipped.result).toBe('skipped');
  });
});
