import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withJobWorkspace } from '../../src/action/inputs/job-workspace.ts';
import { readRawInputs, wantsLedger } from '../../src/action/inputs/read.ts';
import type { OperationName } from '../../src/action/inputs/table.ts';
import { loadInputs } from '../../src/action/inputs/task.ts';
import type { Entry, Grant } from '../../src/locks/ledger/entry.ts';
import { ledgerFile } from '../../src/locks/ledger/ledger.ts';
import { game, workspaceId } from '../client/test-client.ts';
import { at, grantOf, lockOf, place } from '../locks/samples.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { type Given, getInputOf, stepEnvironment } from './step-environment.ts';

const folder = folderOfTests();

let jobs = 0;

/** Loads the inputs of a step whose job has this ledger. */
async function load(
  operation: OperationName,
  ledger: readonly Entry[],
  given: Given = {},
  more: NodeJS.ProcessEnv = {},
) {
  jobs += 1;
  const temporaryFolder = join(folder, String(jobs));
  const file = ledgerFile(temporaryFolder);
  await mkdir(dirname(file), { recursive: true });
  if (ledger.length > 0) await writeFile(file, ledger.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  const step = { operation, token: 'wsa_0123456789', ...given };
  const environment = stepEnvironment(step, { RUNNER_TEMP: temporaryFolder, ...more });
  const inputs = readRawInputs(getInputOf(environment), environment);
  const raw = wantsLedger(inputs) ? withJobWorkspace(inputs, temporaryFolder) : inputs;
  return loadInputs(raw, getInputOf(environment), environment);
}

const placeIn = (loaded: Awaited<ReturnType<typeof load>>) => {
  if (!loaded.ok || !('workspace' in loaded.inputs.task)) return undefined;
  return { service: loaded.inputs.connection.baseUrl, workspace: loaded.inputs.task.workspace };
};
const placeOf = async (...given: Parameters<typeof load>) => placeIn(await load(...given));
const problemsOf = async (...given: Parameters<typeof load>) => {
  const loaded = await load(...given);
  return loaded.ok ? [] : loaded.problems;
};

const film = { ...place, workspace: workspaceId('film') };
const elsewhere = { service: 'https://other.example.com/v1', workspace: game };
const planIn = (where: typeof place): Entry => ({ kind: 'plan', ...where, step: 's', at, paths: ['a'] });
const ended = ({ service, workspace, path, lock: { id } }: Grant): Entry => {
  return { kind: 'ended', service, workspace, path, id, at };
};
const inGame = grantOf('a');
const inFilm = grantOf('a', { ...film, key: 'film' });
const handoff = (...grants: readonly Grant[]): string =>
  JSON.stringify(grants.map(({ path, lock: { id, etag } }) => ({ path, id, etag })));

describe.each(['check', 'unlock'] as const)('the service and workspace of %s', (operation) => {
  test('are taken from the paths that its steps tried to lock, if the job holds none', async () => {
    expect(await placeOf(operation, [planIn(place), inGame, ended(inGame)])).toEqual(place);
    expect(await placeOf(operation, [planIn(place)])).toEqual(place);
  });

  test('are taken from its inputs and the environment first', async () => {
    const given = { 'base-url': elsewhere.service, workspace: film.workspace };
    expect(await placeOf(operation, [inGame], given)).toEqual({ ...elsewhere, workspace: film.workspace });
    const variables = { WORKSPACE_BASE_URL: elsewhere.service, WORKSPACE_ID: 'film' };
    expect(await placeOf(operation, [inGame], {}, variables)).toEqual({ ...elsewhere, workspace: film.workspace });
  });

  test.each<[string, Given, typeof place]>([
    ['the workspace', { workspace: 'film' }, film],
    ['the service, with a trailing slash', { 'base-url': `${elsewhere.service}/` }, elsewhere],
  ])('are taken from the locks of the job there, if the step names only %s', async (_, given, expected) => {
    const held = [inFilm, grantOf('a', { ...elsewhere, key: 'elsewhere' })];
    expect(await placeOf(operation, held, given)).toEqual(expected);
  });

  test('are required as inputs if no step has locked anything', async () => {
    // True as well if the locks are elsewhere, or the ledger cannot be read.
    const reason =
      'The locks of this job do not show it: none in its ledger matches the other inputs, or they are in several workspaces.';
    const [service, workspace] = ['base-url', 'workspace'].map((input) =>
      expect.stringMatching(new RegExp(`^Input \`${input}\` is missing\\. .* ${RegExp.escape(reason)}$`)),
    );
    expect(await problemsOf(operation, [])).toEqual([service, workspace]);
    expect(await problemsOf(operation, [inGame], { 'base-url': elsewhere.service })).toEqual([workspace]);
    expect(await problemsOf(operation, [inGame], { locks: handoff(grantOf('b')) })).toEqual([service, workspace]);
    // The locks are in two workspaces, of one service.
    expect(await problemsOf(operation, [inGame, inFilm])).toEqual([workspace]);
  });

  test('are taken from a lock on a plain http service only with `allow-http`', async () => {
    const open = { service: 'http://10.0.0.1/v1', workspace: game };
    expect(await problemsOf(operation, [grantOf('a', open)])).toEqual([
      expect.stringMatching(/^Input `base-url` is "http:\/\/10\.0\.0\.1\/v1"\. Plain http would expose the token/),
    ]);
    expect(await placeOf(operation, [grantOf('a', open)], { 'allow-http': 'true' })).toEqual(open);
  });

  test('are taken from the locks that `locks` or `locks-file` names, if this job took all of them', async () => {
    const renewed = grantOf('a', { key: 'film', ...film, lock: lockOf('a', { id: 'lock_film', etag: '"2"' }) });
    const first = grantOf('a', { ...renewed, lock: lockOf('a', { id: 'lock_film', etag: '"1"' }) });
    const file = join(folder, 'locks.json');
    await writeFile(file, handoff(first));
    for (const given of [{ locks: handoff(first) }, { 'locks-file': file }]) {
      expect(await placeOf(operation, [inGame, first, renewed], given)).toEqual(film);
    }
  });

  test('are still found if `locks` is invalid, so that only that is reported', async () => {
    expect(await problemsOf(operation, [inGame], { locks: '{' })).toEqual([
      expect.stringMatching(/^Input `locks` is not valid\./),
    ]);
  });
});

test.each(['sync', 'lock', 'list-locks', 'register-hook', 'list-workspaces', 'list-branches'] as const)(
  '%s does not take service and workspace from the locks of the job',
  async (operation) => {
    const problems = await problemsOf(operation, [inGame], {
      path: 'a',
      branch: 'main',
      'hook-url': 'https://a.example',
    });
    expect(problems).toContainEqual(expect.stringMatching(/^Input `base-url` is missing\. It must be a URL/));
  },
);
