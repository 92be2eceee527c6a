import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import { type Ask, ask, type Reply } from '../support/running-service.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { commandEnvironment, runMain, startMain } from './run-main.ts';

/** Runs one service for all tests of a file, and commands on its folder. */
export function besideService() {
  let service: ReturnType<typeof startMain>;
  let listening: { readonly base_url: string; readonly token: string };
  // The path contains a space, as the folders of many users do.
  const folder = join(folderOfTests(), 'the data');
  beforeAll(async () => {
    service = startMain(['serve', '--dev', '--json', '--port=0'], commandEnvironment(folder));
    listening = JSON.parse(await service.printed('listening'));
  });
  afterAll(async () => void (await service.stop()));
  /** Runs a command on the folder of the running service, or over HTTP with the token that has all scopes. */
  const run = (...args: readonly string[]) =>
    runMain(args, {
      ...commandEnvironment(folder),
      WORKSPACE_BASE_URL: listening.base_url,
      WORKSPACE_TOKEN: listening.token,
      WORKSPACE_ID: 'sample',
    });
  /** Sends a request, with the token that has all scopes unless another one is given. */
  const asAdmin = (method: string, path: string, given?: Ask): Promise<Reply> =>
    ask(listening.base_url, method, path, { token: listening.token, ...given });
  /** Runs a command that succeeds, and returns its JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  async function json(...args: readonly string[]): Promise<any> {
    const { code, stdout, stderr } = await run(...args, '--json');
    if (code !== 0 || stdout.split('\n').length !== 2) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
    return JSON.parse(stdout);
  }
  return {
    folder,
    run,
    json,
    /** The audit entries with this action, newest first. */
    async audited(name: string) {
      const { entries } = await json('audit', '--limit=1000');
      return entries.filter(({ action }: { action: string }) => action === name);
    },
    ask: asAdmin,
    lock: (path: string, ttl = '1h') =>
      asAdmin('POST', '/workspaces/sample/locks', { json: { path, type: 'exclusive', ttl } }),
    /** Works on the database, as another process may. */
    async inDatabase<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
      const storage = await openSqlite({ folder });
      return work(storage).finally(storage.close);
    },
  };
}
