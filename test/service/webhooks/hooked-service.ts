import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect } from 'vitest';
import type { DatabaseKind } from '../../support/databases.ts';
import {
  type Ask,
  type Reply,
  type RunningService,
  type RunningServiceOptions,
  startTestService,
} from '../../support/running-service.ts';
import { type Delivery, startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';

/** The whole service, for tests of hooks. It knows the secrets that they gave it, and everything that it answered. */
export interface HookedService extends RunningService {
  /** Asks with a token that may do everything. */
  call(method: string, path: string, ask?: Ask): Promise<Reply>;
  /** A new workspace, and how to register hooks in it. */
  hooks(remote?: string): Promise<HookedWorkspace>;
  /** A receiver that is there until the tests of the file are over, so that tests can run side by side. */
  receiver(): Promise<WebhookReceiver>;
}

export interface HookedWorkspace {
  readonly id: string;
  register(body: Registration | Readonly<Record<string, unknown>>, key?: string): Promise<Reply>;
  lock(path: string, ttl?: string): Promise<Reply>;
  unlock(path: string): Promise<Reply>;
  sync(branch: string): Promise<Reply>;
}

interface Registration {
  readonly url: string;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** What a test gave that must not come back: the secret, the values of the headers, the query of the address. */
function secretsIn({ url, secret, headers }: Readonly<Record<string, unknown>>): string[] {
  const query = typeof url === 'string' && URL.canParse(url) ? new URL(url).search.slice(1) : '';
  const values = typeof headers === 'object' && !Array.isArray(headers) ? Object.values(headers ?? {}) : [];
  return [query, secret, ...values].filter((text): text is string => typeof text === 'string' && text.length > 7);
}

/** The address is for whoever registers it; the secret is for the one who had it made, and for a repetition of that. */
function withoutWhatIsMeantForIt({ text, status, body }: Reply): string {
  if (typeof body?.url !== 'string') return text;
  const { url: _, secret, ...rest } = body;
  expect(secret === undefined || status === 201).toBe(true);
  return JSON.stringify(rest);
}

/** Starts the service before the tests of a file; after them, looks whether it has told a secret to anybody. */
export function hookedService(kind: DatabaseKind, options: RunningServiceOptions = {}): () => HookedService {
  let started: HookedService | undefined;
  const replies: Reply[] = [];
  const secrets = new Set<string>();
  const receivers: WebhookReceiver[] = [];

  beforeAll(async () => {
    const service = await startTestService(kind, { allowedNetworks: ['127.0.0.0/8'], ...options });
    const token = (await service.token()).secret;
    const call: HookedService['call'] = async (method, path, ask) => {
      const reply = await service.ask(method, path, { token, ...ask });
      replies.push(reply);
      return reply;
    };
    started = {
      ...service,
      call,
      async receiver() {
        const receiver = await startWebhookReceiver();
        receivers.push(receiver);
        return receiver;
      },
      async hooks(remote) {
        const id = await service.workspace(remote);
        const base = `/v1/workspaces/${id}`;
        return {
          id,
          async register(json, key) {
            const headers = key === undefined ? {} : { 'idempotency-key': key };
            const reply = await call('POST', `${base}/hooks`, { json, headers });
            for (const secret of [...secretsIn(json), ...secretsIn(reply.body)]) secrets.add(secret);
            return reply;
          },
          lock: (path, ttl = '1h') => call('POST', `${base}/locks`, { json: { path, type: 'exclusive', ttl } }),
          sync: (branch) => call('POST', `${base}/sync`, { json: { branch } }),
          unlock: (path) => call('DELETE', `${base}/locks/${encodeURIComponent(path)}`),
        };
      },
    };
  });

  afterAll(async () => {
    if (started === undefined) return;
    const errors = await started.storage.read.selectFrom('deliveries').select('last_error').execute();
    await started.stop();
    for (const { close } of receivers) await close();
    const told = [
      started.log(),
      ...errors.map(({ last_error }) => last_error ?? ''),
      ...replies.map(withoutWhatIsMeantForIt),
    ].join('\n');
    expect(told).not.toBe('');
    expect(secrets.size).toBeGreaterThan(0);
    for (const secret of secrets) expect(told.includes(secret), `${secret} was told`).toBe(false);
  });

  return () => {
    if (started === undefined) throw new Error('The service runs only while tests do.');
    return started;
  };
}

/** What a delivery says, once the standardwebhooks package has verified it. */
export const verified = (secret: string, { body, headers }: Delivery): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

export const idOf = ({ headers }: Delivery): string => String(headers['webhook-id']);
