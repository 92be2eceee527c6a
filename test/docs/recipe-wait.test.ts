import { describe, expect, test } from 'vitest';
import { runWorkflowJob, startWorkflowJob } from '../support/workflow/job-runner.ts';
import { parseWorkflow } from '../support/workflow/workflow-file.ts';
import { arena, openGame, recipe } from './game.ts';
import { workflow } from './pages.ts';

describe('"Wait for a busy asset"', () => {
  const game = openGame();

  test('waits until somebody else releases the lock, and then takes it', async () => {
    await game.lock(arena);
    const job = await startWorkflowJob({ workflow: recipe('Wait for a busy asset'), ...(await game.given()) });
    const step = await job.begun('lock');
    await step.waitForLog(`${arena} is held by grace until`);
    await game.release(arena);
    const result = await job.finished;
    expect(result).toMatchObject({ result: 'success', annotations: [] });
    expect(result.step('Run ./bake.sh').log).toMatch(new RegExp(`^WAITED_SECONDS \\d+\nlocked: ${arena}$`));
    expect(await game.locked()).toEqual([]);
  });

  test('says whom to ask when the time is up', async () => {
    await game.lock(arena);
    const short = workflow('Wait for a busy asset').replace('wait: 30m', 'wait: 1s');
    const result = await runWorkflowJob({ workflow: parseWorkflow(short), ...(await game.given()) });
    expect(result.result).toBe('failure');
    expect(result.step('Run ./bake.sh').outcome).toBe('skipped');
    expect(result.annotations).toContainEqual(
      expect.objectContaining({ level: 'notice', message: 'Ask grace for it.' }),
    );
    expect(await game.locked()).toEqual([arena]);
  });
});
