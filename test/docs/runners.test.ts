import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/git-folders.ts';
import { ask } from '../support/running-service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { readPage, section, snippets } from './pages.ts';

const page = await readPage('docs/runners.md');
const root = fileURLToPath(new URL('../..', import.meta.url));
const path = 'Content/Hero.uasset';

let service: ServiceProcess;

beforeAll(async () => {
  service = await startServiceProcess();
});

afterAll(() => service.stop());

const askForLocks = (method: string, json?: unknown) =>
  ask(service.baseUrl, method, `/workspaces/${service.workspace}/locks`, { token: service.token, json });

describe.each(['With the action', 'With curl'])('%s, a script holds a lock', (title) => {
  async function run(command: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const [text = ''] = snippets(section(page, title), 'bash');
    const script = join(await temporaryFolder(), 'locked');
    // Nobody gives the path back here.
    await writeFile(script, text.replace('INPUT_WAIT=30m', 'INPUT_WAIT=0s'), { mode: 0o755 });
    return promisify(execFile)(script, [path, 'bash', '-c', command], {
      env: {
        PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
        WORKSPACE_ACTION: root,
        WORKSPACE_BASE_URL: service.baseUrl,
        WORKSPACE_TOKEN: service.token,
        WORKSPACE_ID: service.workspace,
      },
    });
  }

  const paths = async (): Promise<readonly string[]> =>
    (await askForLocks('GET')).body.locks.map((lock: { readonly path: string }) => lock.path);

  test('while the command runs, and no longer', async () => {
    const list =
      'curl --silent "$WORKSPACE_BASE_URL/workspaces/$WORKSPACE_ID/locks" -H "Authorization: Bearer $WORKSPACE_TOKEN"';
    const { stdout, stderr } = await run(`echo; echo "seen: $(${list})"; echo`);
    expect(stdout + stderr).not.toContain(service.token);
    const [, during = ''] = /^seen: (.*)$/m.exec(stdout) ?? [];
    expect(JSON.parse(during).locks).toMatchObject([{ path }]);
    expect(await paths()).toEqual([]);
  });

  test('also if the command fails, and ends as it does', async () => {
    await expect(run('exit 7')).rejects.toMatchObject({ code: 7 });
    expect(await paths()).toEqual([]);
  });

  test('also if the job is cancelled', async () => {
    await expect(run('kill -TERM $PPID')).rejects.toMatchObject({ code: 143 });
    expect(await paths()).toEqual([]);
  });

  test('or does not run the command', async () => {
    await askForLocks('POST', { path, type: 'exclusive', ttl: '1h' });
    await expect(run('echo "It ran."')).rejects.toMatchObject({ stdout: expect.not.stringContaining('It ran.') });
    expect(await paths()).toEqual([path]);
    await ask(service.baseUrl, 'DELETE', `/workspaces/${service.workspace}/locks/Content%2FHero.uasset`, service);
  });
});
