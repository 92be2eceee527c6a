import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { type Ask, ask, type Reply } from '../../support/running-service.ts';
import type { CommandResult } from '../../support/service-process.ts';
import { commandEnvironment, runMain, startMain } from './run-main.ts';

export interface InService {
  folder(): string;
  /** Runs a command on the folder of the running service. */
  run(...args: readonly string[]): Promise<CommandResult>;
  /** The JSON document of a command that succeeds. */
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  json(...args: readonly string[]): Promise<any>;
  /** A request with the token that may do everything, if no other is given. */
  ask(method: string, path: string, given?: Ask): Promise<Reply>;
  lock(
    path: string,
    given?: { readonly ttl?: string; readonly origin?: string; readonly note?: string },
  ): Promise<Reply>;
  /** Works on the database, as another process may. */
  inDatabase<T>(work: (storage: Storage) => Promise<T>): Promise<T>;
}

/** One service for all tests of a file, with commands beside it. */
export function besideService(): InService {
  let service: ReturnType<typeof startMain>;
  let listening: { readonly base_url: string; readonly token: string };
  let parent: string;
  // A space, as in the names of many people's folders.
  const folder = () => join(parent, 'the data');
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'workspace-cli-'));
    service = startMain(['serve', '--dev', '--json', '--port=0'], commandEnvironment(folder()));
    listening = JSON.parse(await service.printed('listening'));
  });
  afterAll(async () => {
    await service.stop();
    await rm(parent, { recursive: true, force: true, maxRetries: 3 });
  });
  const run = (...args: readonly string[]) => runMain(args, commandEnvironment(folder()));
  const asAdmin: InService['ask'] = (method, path, given) =>
    ask(listening.base_url, method, path, { token: listening.token, ...given });
  return {
    folder,
    run,
    async json(...args) {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (code !== 0 || stdout.split('\n').length !== 2) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
      return JSON.parse(stdout);
    },
    ask: asAdmin,
    lock: (path, { ttl = '1h', origin, note } = {}) =>
      asAdmin('POST', '/workspaces/sample/locks', {
        json: { path, type: 'exclusive', ttl, note },
        ...(origin !== undefined && { headers: { referer: origin } }),
      }),
    async inDatabase(work) {
      const storage = await openSqlite({ folder: folder() });
      return work(storage).finally(storage.close);
    },
  };
}
