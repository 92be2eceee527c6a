import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import type { DatabaseKind } from '../../support/databases.ts';
import type { SeenRequest } from '../../support/other-servers/other-server.ts';
import { type Ask, type Reply, type RunningServiceOptions, startTestService } from '../../support/running-service.ts';
import { findRows } from '../../support/stored-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';

/** A limit for waits that would never end: the awaited result arrives quickly, even on a busy machine. */
export const patient = { timeout: 30_000 };

/** The secrets that a test passed in, which must not be returned: the secret, header values, and the URL query. */
function secretsIn({ url, secret, headers }: Readonly<Record<string, unknown>>): string[] {
  const query = typeof url === 'string' && URL.canParse(url) ? new URL(url).search.slice(1) : '';
  const values = typeof headers === 'object' && !Array.isArray(headers) ? Object.values(headers ?? {}) : [];
  return [query, secret, ...values].filter((text): text is string => typeof text === 'string' && text.length > 7);
}

/** The reply without its URL and secret, which are meant only for the client that registers the hook. */
function withoutWhatIsMeantForIt({ text, status, body }: Reply): string {
  if (typeof body?.url !== 'string') return text;
  const { url: _, secret, ...rest } = body;
  expect(secret === undefined || status === 201).toBe(true);
  return JSON.stringify(rest);
}

async function startHookedService(kind: DatabaseKind, options: RunningServiceOptions) {
  const service = await startTestService(kind, { allowedNetworks: ['127.0.0.0/8'], ...options });
  const token = (await service.token()).secret;
  const replies: Reply[] = [];
  const secrets = new Set<string>();
  const receivers: WebhookReceiver[] = [];

  /** Sends a request with a token that has all scopes. */
  async function call(method: string, path: string, ask?: Ask): Promise<Reply> {
    const reply = await service.ask(method, path, { token, ...ask });
    replies.push(reply);
    return reply;
  }
  return {
    ...service,
    call,
    /** A receiver that runs until the tests of the file have ended, so that tests can run concurrently. */
    async receiver(): Promise<WebhookReceiver> {
      const receiver = await startWebhookReceiver();
      receivers.push(receiver);
      return receiver;
    },
    /** Creates a workspace, and returns functions to register hooks in it. */
    async hooks(remote?: string) {
      const id = await service.workspace(remote);
      const base = `/v1/workspaces/${id}`;
      return {
        id,
        async register(json: Readonly<Record<string, unknown>>, key?: string): Promise<Reply> {
          const headers = key === undefined ? {} : { 'idempotency-key': key };
          const reply = await call('POST', `${base}/hooks`, { json, headers });
          for (const secret of [...secretsIn(json), ...secretsIn(reply.body)]) secrets.add(secret);
          return reply;
        },
        lock: (path: string, ttl = '1h') => call('POST', `${base}/locks`, { json: { path, type: 'exclusive', ttl } }),
        sync: (branch: string) => call('POST', `${base}/sync`, { json: { branch } }),
        unlock: (path: string) => call('DELETE', `${base}/locks/${encodeURIComponent(path)}`),
      };
    },
    /** Stops the service, and checks that no secret of the tests appears in its responses or records. */
    async stop() {
      const errors = await findRows(service.storage, 'hooks');
      await service.stop();
      for (const { close } of receivers) await close();
      const told = [
        service.log(),
        ...errors.map(({ last_error }) => last_error),
        ...replies.map(withoutWhatIsMeantForIt),
      ];
      expect(secrets.size).toBeGreaterThan(0);
      for (const secret of secrets) expect(told.join('\n').includes(secret), `${secret} was disclosed`).toBe(false);
    },
  };
}

export type HookedService = Awaited<ReturnType<typeof startHookedService>>;

/** A complete service for the hook tests of a file. */
export function hookedService(kind: DatabaseKind, options: RunningServiceOptions = {}): HookedService {
  // Not used before the service is started.
  const shared = {} as HookedService;
  beforeAll(async () => void Object.assign(shared, await startHookedService(kind, options)));
  afterAll(() => shared.stop());
  return shared;
}

/** The payload of a delivery, verified by the standardwebhooks package. */
export const verified = (secret: string, { body, headers }: SeenRequest): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

export const idOf = ({ headers }: SeenRequest): string => String(headers['webhook-id']);

/** The audit entries of one hook, oldest first. */
export const auditOf = async (storage: Storage, hook: string) =>
  (await readAudit(storage, { limit: 1_000 })).entries.filter(({ detail }) => detail['hook'] === hook).toReversed();
