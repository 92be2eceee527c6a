import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { auditOf, hookedService, verified } from './hooked-service.ts';

const events = ['audit.recorded'];

describe.each(databaseKinds)('the event audit.recorded on $name', (kind) => {
  const service = hookedService(kind);

  async function audited() {
    const workspace = await service.hooks();
    const receiver = await service.receiver();
    const url = receiver.url('/audit?key=the-key-of-the-url');
    const { body } = await workspace.register({ url, events });
    const next = async () => verified(body.secret, await receiver.nextDelivery());
    return { ...workspace, url, receiver, hook: String(body.id), next };
  }

  test('sends each entry about the workspace as in the audit, starting with the registration', async () => {
    const { id, hook, next, lock } = await audited();
    await lock('a.psd');
    const { secret: other } = await service.token({ name: 'bo', owner: 'bo', scopes: ['locks:admin'] });
    await service.ask('DELETE', `/v1/workspaces/${id}/locks/a.psd?force=true&reason=Home`, { token: other });
    const [registered] = await auditOf(service.storage, hook);
    const { at: timestamp } = registered ?? {};
    expect(await next()).toEqual({
      type: 'audit.recorded',
      timestamp,
      data: { workspace: id, entry: registered },
    });
    expect(await next()).toMatchObject({
      data: { entry: { actor: 'bo', action: 'lock.force-released', detail: { workspace: id, path: 'a.psd' } } },
    });
  });

  test('is for administrators only', async () => {
    const { id, url, receiver } = await audited();
    const { secret: token } = await service.token({ scopes: ['hooks:write'] });
    const register = (json: object) => service.ask('POST', `/v1/workspaces/${id}/hooks`, { token, json });
    const refused = { status: 403, body: { type: expect.stringContaining('insufficient-scope') } };
    const asked = await register({ url: receiver.url('/mine'), events });
    expect(asked).toMatchObject(refused);
    expect(asked.headers.get('www-authenticate')).toContain('scope="admin"');
    expect(await register({ url, events: ['sync.failed'] })).toMatchObject(refused);
    expect((await register({ url: receiver.url('/mine'), events: ['sync.failed'] })).status).toBe(201);
  });
});
