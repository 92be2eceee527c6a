import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Ask, ask, type Reply } from '../../support/running-service.ts';
import { type CommandResult, type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { commandEnvironment, runMain } from './run-main.ts';

export interface InService {
  service(): ServiceProcess;
  /** Runs a command on the folder of the running service. */
  run(...args: readonly string[]): Promise<CommandResult>;
  /** The JSON document of a command that succeeds. */
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  json(...args: readonly string[]): Promise<any>;
  /** A request with the token that may do everything. */
  ask(method: string, path: string, given?: Ask): Promise<Reply>;
  lock(path: string, given?: { readonly ttl?: string; readonly origin?: string }): Promise<Reply>;
}

/** One service as its own process for all tests of a file, with commands beside it in the process of the test. */
export function besideService(): InService {
  let service: ServiceProcess;
  let parent: string;
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'workspace-cli-'));
    // A space, as in the names of many people's folders.
    service = await startServiceProcess({ folder: join(parent, 'the data') });
  });
  afterAll(async () => {
    await service.stop();
    await rm(parent, { recursive: true, force: true, maxRetries: 3 });
  });
  const run = (...args: readonly string[]) => runMain(args, commandEnvironment(service.folder));
  const asAdmin: InService['ask'] = (method, path, given) =>
    ask(service.baseUrl, method, path, { token: service.token, ...given });
  return {
    service: () => service,
    run,
    async json(...args) {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (code !== 0 || stdout.split('\n').length !== 2) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
      return JSON.parse(stdout);
    },
    ask: asAdmin,
    lock: (path, { ttl = '1h', origin } = {}) =>
      asAdmin('POST', `/workspaces/${service.workspace}/locks`, {
        json: { path, type: 'exclusive', ttl },
        ...(origin !== undefined && { headers: { referer: origin } }),
      }),
  };
}
