import { describe, expect, test } from 'vitest';
import { type JobEvent, pushEvent } from '../support/runner/github-context.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { runWorkflowJob } from '../support/workflow/job-runner.ts';
import { type Game, openGame, recipe } from './game.ts';

const branchesOf = async ({ service }: Game) => {
  const { secret } = await service.token();
  const { body } = await service.ask('GET', '/v1/workspaces/game/branches', { token: secret });
  return body.branches;
};

describe('"Sync and wait"', () => {
  const game = openGame();

  test('syncs the branch of the push before the next step', async () => {
    const event = pushEvent('main');
    const result = await runWorkflowJob({ workflow: recipe('Sync and wait'), event, ...(await game.given()) });
    expect(result).toMatchObject({ result: 'success', annotations: [] });
    expect(result.steps.at(-1)?.log).toMatch(/^main is synced, about \d+ objects \(sync_[\w-]+\)\.$/);
    const synced = { name: 'main', synced_head: game.remote.head('main') };
    expect(await branchesOf(game)).toContainEqual(expect.objectContaining(synced));
  });
});

describe('"Build when a sync ends"', () => {
  const game = openGame();

  test('starts a build that knows what was synced', async () => {
    const github = await startWebhookReceiver();
    try {
      const run = { apiUrl: new URL(github.url('/')).origin };
      const given = await game.given();
      const dispatchToken = 'github_pat_11AAAAAAA0geheim';
      const secrets = { ...given.secrets, DISPATCH_TOKEN: dispatchToken };
      const register = recipe('Build when a sync ends, 1');
      const registered = await runWorkflowJob({ workflow: register, ...given, run, secrets });
      expect(registered.result).toBe('success');
      expect(registered.annotations).toEqual([]);

      // The hook is for main only, so a sync of topic sends nothing.
      const { secret } = await game.service.token();
      await game.service.ask('POST', '/v1/workspaces/game/sync', { token: secret, json: { branch: 'topic' } });
      const sync = await runWorkflowJob({ workflow: recipe('Sync and wait'), event: pushEvent('main'), ...given });
      expect(sync.result).toBe('success');

      const { method, path, headers, body } = await github.nextDelivery();
      expect({ method, path }).toEqual({ method: 'POST', path: '/repos/octo-games/dragon/dispatches' });
      expect(headers).toMatchObject({
        authorization: `Bearer ${dispatchToken}`,
        accept: 'application/vnd.github+json',
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/./),
      });
      const { event_type, client_payload, ...others } = JSON.parse(body);
      expect({ event_type, others }).toEqual({ event_type: 'sync.succeeded', others: {} });
      for (const { log } of [registered, sync]) expect(log).not.toContain('geheim');
      expect(game.service.log()).not.toContain('geheim');

      const build = recipe('Build when a sync ends, 2');
      expect(build.on).toMatchObject({ repository_dispatch: { types: [event_type] } });
      const event: JobEvent = {
        name: 'repository_dispatch',
        ref: 'refs/heads/main',
        payload: { action: event_type, branch: 'main', client_payload },
      };
      const built = await runWorkflowJob({ workflow: build, event, ...given });
      expect(built).toMatchObject({ result: 'success', annotations: [] });
      const told = built.step('Run ./build.sh').log.split('\n');
      expect(told.slice(0, 3)).toEqual(['WORKSPACE game', 'BRANCH main', `COMMIT ${game.remote.head('main')}`]);
    } finally {
      await github.close();
    }
  });
});
