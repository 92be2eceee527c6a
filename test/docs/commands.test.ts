import { expect, test } from 'vitest';
import { welcome } from '../../src/service/cli/run-service.ts';
import { freePort } from '../support/listen.ts';
import { ask } from '../support/running-service.ts';
import { commandFile, startServiceProcess } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { codeIn, interfacePage, readme, runSnippet, section, snippets } from './pages.ts';

test('the curl commands work with the variables that `npm start` prints', async () => {
  expect(codeIn(section(readme, 'Try it').text)).toContain('npm start');
  const [lines = ''] = snippets(section(interfacePage, 'Try it with curl'), 'sh');
  expect(lines).toContain('curl');
  const service = await startServiceProcess();
  try {
    const exported = welcome(service.baseUrl, service).filter((line) => line.trim().startsWith('export '));
    expect(exported).toHaveLength(3);
    // By default, curl does not fail for an error response.
    const strict = 'curl() { command curl --fail-with-body --write-out "\\n" "$@"; }\n';
    const stdout = await runSnippet(`${exported.join('\n')}\n${strict}${lines}`, { cwd: temporaryFolder() });
    const answers = stdout.split('\n').filter((line) => line !== '');
    const [branches, lock, sync, ...rest] = answers.map((line) => JSON.parse(line));
    expect(branches.branches).toContainEqual(expect.objectContaining({ name: 'main' }));
    expect(lock).toMatchObject({ path: 'Content/Hero.uasset', type: 'exclusive', owner: 'dev' });
    expect(sync).toMatchObject({ status: 'queued', branch: 'main' });
    expect(rest).toEqual([]);
    const left = await ask(service.baseUrl, 'GET', `/workspaces/${service.workspace}/locks`, { token: service.token });
    expect(left.body.locks).toEqual([]);
  } finally {
    await service.stop();
  }
});

test('the commands of the README start a service, lock a file, and print a link to the page that shows it', async () => {
  const [lines = ''] = snippets(section(readme, 'Lock your first file'), 'sh');
  const [install, ...commands] = lines.trim().split('\n');
  expect(install).toBe('npm ci');
  expect(commands).toHaveLength(6);
  const cwd = temporaryFolder();
  const port = String(await freePort());
  const environment = { HOME: cwd, NODE: process.execPath, COMMAND: commandFile, WORKSPACE_SERVICE_PORT: port };
  // The command retries for a few seconds, and on a busy machine the service may take longer to start.
  const asInstalled = `
untilListening() {
  until (: </dev/tcp/127.0.0.1/$WORKSPACE_SERVICE_PORT) 2>/dev/null; do kill -0 $! || exit 1; sleep 0.1; done
}
npx() {
  shift
  if [[ $* == "lock take"* ]]; then untilListening; fi
  "$NODE" "$COMMAND" "$@"
}
trap 'pkill -P $!; wait' EXIT
`;
  const stdout = await runSnippet(asInstalled + commands.join('\n'), {
    cwd,
    environment,
    replaced: { ':8080': `:${port}` },
  });
  expect(stdout).toMatch(/Locked Content\/Hero\.uasset .*\/sign-in\?link=wsl_/s);
});
