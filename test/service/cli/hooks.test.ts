import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { besideService } from '../../command/in-service.ts';
import { nothing } from '../../support/other-servers/responses.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';

const { run, json, ask, lock, audited } = besideService();

const secret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;

test('hook list shows the results of deliveries, and no secrets', async () => {
  expect((await run('hook', 'list', 'sample')).stdout).toContain('has no hooks. Register one with POST');
  const receiver = await startWebhookReceiver();
  receiver.behave(nothing(204), nothing(500));
  try {
    const { body: hook } = await ask('POST', '/workspaces/sample/hooks', {
      json: {
        url: receiver.url('/build?key=s3cret-key'),
        events: ['lock.acquired', 'sync.failed'],
        branches: ['main'],
        secret,
        headers: { 'x-api-key': 's3cret-header' },
      },
    });
    for (const path of ['Content/Hero.uasset', 'Content/Gate.fbx']) {
      await lock(path);
      await receiver.nextDelivery();
    }
    const pending = async () => (await json('hook', 'list', 'sample')).hooks[0];
    await expect.poll(pending).toMatchObject({
      id: hook.id,
      url: receiver.url('/build?…'),
      active: true,
      pending_deliveries: 1,
      last_error: expect.stringContaining('responded with the status 500'),
    });
    const { stdout } = await run('hook', 'list', 'sample');
    expect(stdout.split('\n')[0]).toMatch(
      /^ID +URL +EVENTS +BRANCHES +FORMAT +ACTIVE +PENDING DELIVERIES +LAST ERROR$/,
    );
    expect(stdout).toContain(receiver.url('/build?…'));
    expect(stdout).toMatch(
      / sync\.failed,lock\.acquired +main +standard +true +1 +\S+ responded with the status 500\./,
    );
    expect(stdout + JSON.stringify(await pending())).not.toMatch(/s3cret|whsec_/);
  } finally {
    await receiver.close();
  }
});

test('hook remove takes effect at once, and the audit has the origin of the hook and the operator', async () => {
  const url = 'https://93.184.216.34/p4th-secret?key=s3cret';
  const { body: hook } = await ask('POST', '/workspaces/sample/hooks', { json: { url } });
  expect(await json('hook', 'remove', 'sample', hook.id)).toEqual({ removed: hook.id });
  const { hooks } = await json('hook', 'list', 'sample');
  expect(hooks.map(({ id }: { id: string }) => id)).not.toContain(hook.id);
  const entries = await audited('hook.removed');
  const operator = { actor: `operator:${userInfo().username}`, token_id: null, address: null };
  const detail = { workspace: 'sample', hook: hook.id, origin: 'https://93.184.216.34' };
  expect(entries).toEqual([expect.objectContaining({ ...operator, detail })]);
});
