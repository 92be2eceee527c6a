import { describe, expect, test } from 'vitest';
import { type GitHubApiOptions, notAccessible, startGitHubApi } from '../support/other-servers/github-api.ts';
import { type JobEvent, pullRequestEvent, pushEvent } from '../support/runner/github-context.ts';
import { runWorkflowJob, type WorkflowJobResult } from '../support/workflow/job-runner.ts';
import { arena, hero, openGame, recipe } from './game.ts';
import { actionPage, codeIn, section, tableRows } from './pages.ts';

const byAda = (event = 'pull_request'): JobEvent => {
  const pull_request = { number: 7, head: { ref: 'topic' }, base: { ref: 'main' }, user: { login: 'ada' } };
  return { ...pullRequestEvent({ number: 7, head: 'topic', payload: { pull_request } }), name: event };
};

describe('"Refuse a pull request that touches locked files"', () => {
  const game = openGame();

  async function check(options: GitHubApiOptions, event: JobEvent = byAda()): Promise<WorkflowJobResult> {
    const { apiUrl } = await startGitHubApi(options);
    const guard = recipe('Refuse a pull request that touches locked files');
    return runWorkflowJob({ workflow: guard, event, run: { apiUrl }, ...(await game.given()) });
  }

  const changing = (filename: string): GitHubApiOptions => ({
    pulls: { 7: { files: [{ filename, status: 'modified' }] } },
  });

  test.each(['pull_request', 'pull_request_target'])(
    'fails with an annotation on the file, naming who has it, on %s',
    async (event) => {
      await game.lock(hero);
      const result = await check(changing(hero), byAda(event));
      await game.release(hero);
      expect(result.result).toBe('failure');
      expect(result.annotations).toContainEqual(
        expect.objectContaining({
          level: 'error',
          file: hero,
          message: expect.stringMatching(new RegExp(`^${hero} is held by grace until `)),
        }),
      );
    },
  );

  test('ignores the locks of the author, and those of unchanged files', async () => {
    await game.lock(hero, 'ada');
    await game.lock(arena);
    await expect(check(changing(hero))).resolves.toMatchObject({
      result: 'success',
      annotations: [],
    });
  });

  test.each([
    ['in a pull request', byAda()],
    ['in a push', pushEvent('main', { before: '1'.repeat(40), after: '2'.repeat(40) })],
  ])('needs %s what the table of permissions says', async (what, event) => {
    const rows = tableRows(section(actionPage, 'Scopes and permissions'), 'Step');
    const [, permission = ''] = rows.find(([step]) => step?.includes(what)) ?? [];
    const { result, log } = await check({ instead: () => notAccessible }, event);
    expect(result).toBe('failure');
    expect(codeIn(permission)).toHaveLength(1);
    expect(log).toContain(permission);
  });
});
