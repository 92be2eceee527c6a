import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Lock } from '../../src/service/contract/schemas.ts';
import type { Scope } from '../../src/service/contract/scopes.ts';
import type { Job, JobOptions } from '../support/runner/job.ts';
import { startJob } from '../support/runner/start-job.ts';
import type { StepResult } from '../support/runner/step.ts';
import type { RunningService, RunningServiceOptions } from '../support/running-service.ts';
import { everyForm } from '../support/runs.ts';
import { serviceOfTests } from '../support/service-of-tests.ts';
import { stable } from './stable.ts';

export interface SceneJobOptions extends JobOptions {
  readonly workspace?: string;
  /** All scopes by default. */
  readonly scopes?: readonly Scope[];
  /** Name of the token: the owner of its locks. */
  readonly name?: string;
}

export interface SceneJob extends Job {
  readonly token: string;
}

export type Scene = ReturnType<typeof openScene>;

/** A service for all tests of a file, and jobs whose environment names it. */
export function openScene(options: RunningServiceOptions = {}) {
  const service = serviceOfTests(options);
  return {
    service,
    /** Starts a job with its own token. The environment of the job has service, token and workspace. */
    async job({ workspace, scopes, name, env, secrets = [], ...rest }: SceneJobOptions = {}): Promise<SceneJob> {
      const { secret } = await service.token({ ...(scopes && { scopes }), ...(name && { name }) });
      const token = env?.['WORKSPACE_TOKEN'] ?? secret;
      const job = await startJob({
        sharesProcesses: !everyForm,
        ...rest,
        env: {
          WORKSPACE_BASE_URL: `${service.baseUrl}/v1`,
          ...(workspace !== undefined && { WORKSPACE_ID: workspace }),
          ...env,
          WORKSPACE_TOKEN: token,
        },
        secrets: [token, ...secrets],
      });
      return { ...job, token };
    },
    /** Takes a lock on the path on behalf of someone who is not a job. */
    async lock(
      workspace: string,
      path: string,
      {
        name = 'grace',
        ttl = '2h',
        origin = 'https://github.com/octo-games/dragon/actions/runs/7',
      }: { readonly name?: string; readonly ttl?: string; readonly origin?: string } = {},
    ): Promise<void> {
      const { secret: token } = await service.token({ name });
      await takeLock(service, workspace, path, { token, ttl, origin });
    },
    /** Releases the lock on the path, regardless of its holder. */
    release: (workspace: string, path: string) => forceRelease(service, workspace, path),
    /** Paths of all locks, sorted. */
    async locked(workspace: string): Promise<readonly string[]> {
      const { secret } = await service.token();
      const { body } = await service.ask('GET', `/v1/workspaces/${workspace}/locks?limit=1000`, { token: secret });
      return body.locks.map(({ path }: { readonly path: string }) => path);
    },
  };
}

interface Taking {
  readonly token: string;
  readonly ttl: string;
  /** The URL of the run, if not empty. */
  readonly origin: string;
}

/** Takes a lock that must be free, as another job, a person or a script does. */
export async function takeLock(
  service: RunningService,
  workspace: string,
  path: string,
  { token, ttl, origin }: Taking,
): Promise<Lock> {
  const { status, body, text } = await service.ask('POST', `/v1/workspaces/${workspace}/locks`, {
    token,
    headers: origin === '' ? {} : { referer: origin },
    json: { path, type: 'exclusive', ttl },
  });
  if (status !== 201) throw new Error(`The lock on ${path} could not be taken: ${text}`);
  return body;
}

/** Releases the lock of any holder. */
export async function forceRelease(service: RunningService, workspace: string, path: string): Promise<void> {
  const { secret: token } = await service.token();
  const address = `/v1/workspaces/${workspace}/locks/${encodeURIComponent(path)}?force=true`;
  const { status, text } = await service.ask('DELETE', address, { token });
  if (status !== 204) throw new Error(`The lock on ${path} could not be released: ${text}`);
}

/** A job that uses a simulated server. */
export const jobAt = (baseUrl: string, options: JobOptions = {}): Promise<Job> =>
  startJob({
    sharesProcesses: !everyForm,
    ...options,
    env: {
      WORKSPACE_BASE_URL: baseUrl,
      WORKSPACE_TOKEN: 'wsa_of_another_service',
      WORKSPACE_ID: 'game',
      ...options.env,
    },
  });

/** Puts empty files into the checkout of a job. */
export async function checkOut({ folders }: Pick<Job, 'folders'>, ...files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(folders.workspace, file)), { recursive: true });
    await writeFile(join(folders.workspace, file), '');
  }
}

/** Everything that a step leaves behind, except the lines that mask secrets. */
export async function everythingLeft({ folders }: Pick<Job, 'folders'>, result: StepResult): Promise<string> {
  const files = await readdir(folders.temp, { recursive: true, withFileTypes: true });
  const contents = await Promise.all(
    files.filter((file) => file.isFile()).map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
  );
  const { outputs, state, env, summary, annotations, debug } = result;
  const log = result.written.filter((line) => !line.startsWith('::add-mask::'));
  return [...contents, JSON.stringify({ outputs, state, env, annotations, debug }), summary, ...log].join('\n');
}

/** The paths in the output `locks`. */
export const lockedIn = ({ outputs }: StepResult): readonly string[] =>
  JSON.parse(outputs['locks'] ?? '').map(({ path }: { readonly path: string }) => path);

export const errorsOf = ({ annotations }: StepResult): readonly string[] =>
  annotations.map(({ message }) => stable(message));
