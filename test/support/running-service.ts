import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import pino from 'pino';
import type { Duration } from '../../src/interface/duration.ts';
import { scopes as allScopes, type Scope } from '../../src/service/contract/scopes.ts';
import { createGit } from '../../src/service/git/git.ts';
import { createTargetCheck, type Resolve } from '../../src/service/outbound/target.ts';
import { parseCidr } from '../../src/service/platform/ip-address.ts';
import { createMetrics } from '../../src/service/runtime/metrics.ts';
import { startService } from '../../src/service/service.ts';
import { createToken } from '../../src/service/tokens/tokens.ts';
import type { WorkspaceSettings } from '../../src/service/workspaces/workspaces.ts';
import { type DatabaseKind, temporaryDataFolder } from './databases.ts';
import { endlessDisk } from './endless-disk.ts';
import { operator } from './operator.ts';
import { shippedRateLimit } from './shipped-settings.ts';
import { storeWorkspace } from './stored-rows.ts';
import { valueIn } from './value-in.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, for tests to inspect; null if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  readonly body: any;
}

export interface Ask {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  /** Cancels the request. */
  readonly signal?: AbortSignal;
}

export interface TokenOptions {
  readonly name?: string;
  /** Default: its name. */
  readonly owner?: string;
  readonly scopes?: readonly Scope[];
  readonly workspaces?: readonly string[] | null;
  readonly lifetime?: Duration | null;
}

type Settings = Parameters<typeof startService>[0];

/** By default, those of `serve`. */
export interface RunningServiceOptions extends Partial<Omit<Settings, 'publicUrl' | 'trustedProxies'>> {
  readonly trustedProxies?: readonly string[];
  readonly allowedNetworks?: readonly string[];
  readonly resolve?: Resolve;
  readonly publicUrl?: Settings['publicUrl'] | undefined;
  readonly environment?: NodeJS.ProcessEnv;
}

/** Each request has its own connection: a kept one may be closed while a test is busy. */
export async function ask(base: string, method: string, path: string, given: Ask = {}): Promise<Reply> {
  const { token, headers = {}, json, raw, signal } = given;
  const body = raw ?? (json === undefined ? undefined : JSON.stringify(json));
  const asked = request(new URL(base + path), {
    method,
    agent: false,
    ...(signal && { signal }),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
  });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const text = await readText(response);
  const fields = new Headers();
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    fields.append(response.rawHeaders[index] ?? '', response.rawHeaders[index + 1] ?? '');
  }
  const isJson = text !== '' && /\bjson\b/.test(fields.get('content-type') ?? '');
  return { status: response.statusCode ?? 0, headers: fields, text, body: isJson ? JSON.parse(text) : null };
}

const cidr = (text: string) => valueIn(parseCidr(text));

/** Tests reach nothing but this machine, so they ask no name server. */
const noNames: Resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));

export type RunningService = Awaited<ReturnType<typeof startTestService>>;

/** The complete service in this process, on a real socket and its own database. */
export async function startTestService(kind: DatabaseKind, options: RunningServiceOptions = {}) {
  const data = await temporaryDataFolder();
  const metrics = createMetrics();
  const { storage, remove } = await kind.open();
  const lines: string[] = [];
  const { environment = process.env, allowedNetworks = [], trustedProxies = [], ...more } = options;
  const { allowFileRemotes = true, publicUrl = () => undefined, resolve = noNames, ...settings } = more;
  const service = await startService({
    storage,
    git: createGit({ dataFolder: data.folder, allowFile: allowFileRemotes, environment }),
    dataFolder: data.folder,
    targets: createTargetCheck(allowedNetworks.map(cidr), resolve),
    metrics,
    log: pino({ level: 'debug' }, { write: (line: string) => lines.push(line) }),
    ...{ host: '127.0.0.1', port: 0, allowFileRemotes },
    ...{ drainDelay: { seconds: 0 }, drainTimeout: { seconds: 10 } },
    ...{ syncTimeout: { seconds: 60 }, freeDisk: endlessDisk, keepAudit: undefined, rateLimit: shippedRateLimit },
    trustedProxies: trustedProxies.map(cidr),
    publicUrl,
    ...settings,
  });
  const baseUrl = `http://127.0.0.1:${service.port}`;
  return {
    baseUrl,
    port: service.port,
    storage,
    dataFolder: data.folder,
    /** The log so far, as JSON lines, unless it goes elsewhere. */
    log: () => lines.join(''),
    ask: (method: string, path: string, given?: Ask) => ask(baseUrl, method, path, given),
    async token({
      name = 'ada',
      owner,
      scopes = allScopes,
      workspaces = null,
      lifetime = null,
    }: TokenOptions = {}): Promise<{ readonly id: string; readonly secret: string }> {
      const { token, secret } = await storage.commit('global', (db) =>
        createToken(db, operator, { name, owner, scopes, workspaces, lifetime }),
      );
      return { id: token.id, secret };
    },
    /** A new workspace; its remote is not contacted unless a test syncs it. */
    async workspace(
      remote: string = 'https://git.example.com/assets.git',
      desk: Partial<WorkspaceSettings> = {},
    ): Promise<string> {
      const id = `w${randomUUID()}`;
      await storeWorkspace(storage, { id, remote, ...desk });
      return id;
    },
    async stop(): Promise<void> {
      await service.stop();
      await remove();
      await data.remove();
    },
  };
}
