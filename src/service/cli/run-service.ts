import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Logger, pino } from 'pino';
import { packageVersion, revision, versionText } from '../../built/version.ts';
import { CommandError } from '../../command/command.ts';
import { awaitStop, type Output, type ProcessIo } from '../../command/io.ts';
import { printJson, printLines, quoted, safeJson } from '../../command/print.ts';
import { isLoopback } from '../../interface/loopback.ts';
import { shellWord } from '../../interface/shell-word.ts';
import { errorCode } from '../../interface/system-errors.ts';
import { scopes } from '../contract/scopes.ts';
import { createGit, type Git } from '../git/git.ts';
import type { Instance } from '../instance/instance.ts';
import { createTargetCheck } from '../outbound/target.ts';
import { cidr } from '../platform/ip-address.ts';
import { unlessMissing } from '../platform/missing-file.ts';
import { measureFreeDisk } from '../runtime/free-disk.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { type Service, startService } from '../service.ts';
import { makeSignInLink } from '../sessions/sessions.ts';
import { endAllClaims } from '../storage/claim.ts';
import { databaseKey } from '../storage/database-key.ts';
import { schemaVersion } from '../storage/schema.ts';
import type { Storage } from '../storage/storage.ts';
import { createToken } from '../tokens/tokens.ts';
import { addWorkspace } from '../workspaces/workspaces.ts';
import { withDatabase, withOwnFolder } from './open-storage.ts';
import { originAt, publicUrlOf, type ServeSettings, signInLines, signInUrl } from './settings.ts';
import { operatorActor } from './storage-command.ts';

export async function runService(
  settings: ServeSettings,
  environment: NodeJS.ProcessEnv,
  io: ProcessIo,
  unknownVariables: readonly string[],
): Promise<void> {
  const { data, dev, allowFileRemotes } = settings;
  const log = createLog(settings, io.stderr);
  for (const variable of unknownVariables) log.warn({ variable }, 'unknown variable: it has no effect');
  const metrics = createMetrics();
  metrics.buildInfo.set({ ...build, revision: revision ?? 'unknown', node: process.versions.node }, 1);
  const git = createGit({ dataFolder: data, allowFile: allowFileRemotes || dev, environment });
  await checkGit(git);
  const advice =
    'Stop it, or choose another folder with --data. To run several services, use PostgreSQL (DATABASE_URL), and a separate folder for each.';
  const onIdleError = (error: Error): void => log.warn({ err: error }, 'database connection lost');
  await withOwnFolder(data, advice, () =>
    withDatabase({ data, environment, onIdleError }, (storage) =>
      serveUntilStopped({ settings, storage, git, metrics, log, environment, io }),
    ),
  );
}

/** Older versions lack some settings that prevent a remote from making git run commands. */
const oldestGit = [2, 39] as const;

async function checkGit(git: Git): Promise<void> {
  const version = await git.version();
  const [major, minor] = version.split('.').map(Number);
  if (major === undefined || minor === undefined) return;
  if (major < oldestGit[0] || (major === oldestGit[0] && minor < oldestGit[1]))
    throw new CommandError(
      `The service needs git ${oldestGit.join('.')} or newer, but this is git ${version}. Install a newer version.`,
    );
}

interface ServeContext extends Pick<Instance, 'storage' | 'git' | 'metrics' | 'log'> {
  readonly settings: ServeSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly io: ProcessIo;
}

async function serveUntilStopped(context: ServeContext): Promise<void> {
  const { settings, storage, git, log, io } = context;
  await requireFolderOfDatabase(storage, settings.data);
  // The lock of the data folder excludes other services on it, and on SQLite also on its database.
  if (storage.dialect === 'sqlite') await endAllClaims(storage);
  await git.removeLeftovers();
  const { received, forget } = awaitStop(io);
  const service = await startInstance(context).catch((error: unknown) => {
    forget();
    throw error;
  });
  try {
    announce(context, service.port, settings.dev ? await setUpDev(storage, git) : null);
    const signal = await received;
    log.info({ signal }, 'stopping: open requests are answered, running syncs continue at the next start');
  } finally {
    await service.stop();
    forget();
  }
}

const loopbackNetworks = ['127.0.0.0/8', '::1/128'].map(cidr);

async function startInstance({ settings, ...context }: ServeContext): Promise<Service> {
  const { dev, host, port, data, minFreeDisk, allowHookNetwork, trustedProxy } = settings;
  // With SQLite, no other instance could take over requests during a delay.
  const { drainDelay = { seconds: context.storage.dialect === 'postgres' ? 5 : 0 } } = settings;
  const allowedNetworks = [...allowHookNetwork, ...(dev ? loopbackNetworks : [])];
  const freeDisk = await measureFreeDisk(data, minFreeDisk, context.metrics);
  try {
    return await startService({
      ...settings,
      ...context,
      drainDelay,
      dataFolder: data,
      freeDisk,
      allowFileRemotes: settings.allowFileRemotes || dev,
      targets: createTargetCheck(allowedNetworks),
      trustedProxies: trustedProxy,
      publicUrl: (port) => publicUrlOf(settings, port),
    });
  } catch (error) {
    throw listenFailure(error, host, port);
  }
}

/** Explains why the server cannot listen. Other errors are returned unchanged. */
function listenFailure(error: unknown, host: string, port: number): unknown {
  const reason = listenErrors[errorCode(error)];
  if (reason === undefined) return error;
  return new CommandError(
    `Could not listen on port ${port} of ${host}: ${reason}. Choose others with --port and --host.`,
  );
}

const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user may not use the port',
  EADDRNOTAVAIL: 'it is not an address of this machine',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve',
};

/** Prints and logs the URLs of the service. */
function announce({ settings, io, log }: ServeContext, port: number, dev: DevSetup | null): void {
  const { host, json } = settings;
  const base_url = `${originAt(host, port)}/v1`;
  const public_url = publicUrlOf(settings, port);
  const origin = public_url ?? originAt(host, port);
  const dashboard_url = `${origin}/`;
  const development = dev && { ...dev, sign_in_link: signInUrl(origin, dev.sign_in_link) };
  const signIn = `workspace-service sign-in --data ${shellWord(settings.data)} --public-url ${shellWord(origin)}`;
  if (json) {
    printJson(io.stdout, { event: 'listening', base_url, public_url, dashboard_url, ...build, ...development });
  } else {
    printLines(io.stdout, [
      `workspace-service ${versionText} listens on ${base_url}`,
      ...(settings.publicUrl === undefined ? [] : [`Its public URL is ${settings.publicUrl}/v1`]),
      `Its dashboard is at ${dashboard_url}`,
      ...(development === null
        ? [`To sign in to it without a token: ${signIn}`]
        : ['', ...signInLines(development.sign_in_link), ...welcome(`${dashboard_url}v1`, development)]),
    ]);
  }
  log.info({ base_url, public_url, ...build, schema: schemaVersion }, 'listening');
  if (!isLoopback(host)) {
    log.warn(
      { host },
      'listening on plain HTTP on an address that other machines may reach: put a proxy with TLS in front of it',
    );
  }
}

const build = { version: packageVersion, revision };

/** A folder belongs to one database: the service removes mirrors whose workspaces are not in the database. */
async function requireFolderOfDatabase(storage: Storage, folder: string): Promise<void> {
  const id = await databaseKey(storage, 'database-id');
  const file = join(folder, 'database-id');
  const known = await unlessMissing(readFile(file, 'utf8'));
  if (known === undefined) {
    // Renamed into place, because after a power failure the file could otherwise be empty.
    await writeFile(`${file}.new`, id, { mode: 0o600, flush: true });
    await rename(`${file}.new`, file);
  } else if (known !== id) {
    throw new CommandError(
      `The mirrors in ${quoted(folder)} belong to another database. Correct DATABASE_URL or --data. To keep this database with this folder, remove ${quoted(file)}: the service then removes the mirrors of all workspaces that the database does not have.`,
    );
  }
}

const sampleWorkspace = 'sample';
const devTokenLifetime = { seconds: 7 * 86_400 };

/** Creates sample data: a workspace with a small repository as its remote, and a token with all scopes. */
async function setUpDev(storage: Storage, git: Git) {
  const { commit } = storage;
  // A URL, because the address of a remote must not contain spaces.
  const remote = pathToFileURL(await git.sampleRepository()).href;
  const operator = operatorActor();
  const { secret } = await commit('global', async (db) => {
    await addWorkspace(db, operator, { id: sampleWorkspace, remote });
    return createToken(db, operator, { name: 'dev', scopes, workspaces: null, lifetime: devTokenLifetime });
  });
  return { token: secret, workspace: sampleWorkspace, sign_in_link: await makeSignInLink(storage) };
}

type DevSetup = Awaited<ReturnType<typeof setUpDev>>;

/** Startup message of development mode. The token is shown only here. */
export function welcome(baseUrl: string, { token, workspace }: Pick<DevSetup, 'token' | 'workspace'>): string[] {
  return [
    '',
    'This is a service for experiments, not for production: it mirrors repositories on this machine, delivers webhooks',
    'to it, and shows a token with all scopes that is valid for 7 days. Each start creates another one.',
    '',
    'Lock a file, in another terminal:',
    '',
    `  export WORKSPACE_BASE_URL=${baseUrl}`,
    `  export WORKSPACE_TOKEN=${token}`,
    `  export WORKSPACE_ID=${workspace}`,
    '  curl -H "Authorization: Bearer $WORKSPACE_TOKEN" -H "Content-Type: application/json" \\',
    `    -d '{"path":"Content/Maps/Arena.umap","type":"exclusive","ttl":"10m"}' \\`,
    '    "$WORKSPACE_BASE_URL/workspaces/$WORKSPACE_ID/locks"',
    '',
    'A step for a workflow whose runner is on this machine, with the token in the secret WORKSPACE_TOKEN:',
    '',
    '  - uses: workspace-automation/workspace-automation@main',
    '    with:',
    '      operation: lock',
    `      base-url: ${baseUrl}`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the syntax for a secret in a workflow.
    '      token: ${{ secrets.WORKSPACE_TOKEN }}',
    `      workspace: ${workspace}`,
    '      path: Content/Hero.uasset',
  ];
}

/** Writes one JSON object per line. Callers must not log secrets. */
export const createLog = ({ logLevel: level }: Pick<ServeSettings, 'logLevel'>, output: Output): Logger =>
  pino(
    {
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { err: errorFields },
    },
    { write: (line: string) => output.write(safeJson(line)) },
  );

/** Only fields without secrets: drivers attach more to an error, such as column values. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  return { type: name, message, stack, ...('code' in error && { code: error.code }) };
}
