import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { addSummary, getState, saveState, setOutput } from '../../../src/action/report/command-files.ts';
import { keyValuePairs } from '../../support/runner/file-commands.ts';

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'command-files-'));
  file = join(folder, 'file');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

beforeEach(async () => {
  await writeFile(file, '');
  for (const name of ['OUTPUT', 'STATE', 'STEP_SUMMARY']) vi.stubEnv(`GITHUB_${name}`, file);
  return () => vi.unstubAllEnvs();
});

/** A carriage return at the end would be read as a part of the line end; the toolkit's is lost in the same way. */
const values = fc
  .string({ unit: fc.constantFrom('end-1', 'end-2', '\n', '\r', '<<', '=', 'a', ' ', '💥') })
  .filter((value) => !value.endsWith('\r'));

test('the runner reads outputs as they are, whatever they are, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(values), async (outputs) => {
      await writeFile(file, '');
      for (const [index, value] of outputs.entries()) setOutput(`output_${index}`, value);
      const read = [...keyValuePairs(await readFile(file, 'utf8'))];
      expect(read).toEqual(outputs.map((value, index) => [`output_${index}`, value]));
    }),
  );
});

test('a value cannot end early and set another output', async () => {
  setOutput('status', 'ok\nend-1\nacquired=true');
  expect([...keyValuePairs(await readFile(file, 'utf8'))]).toEqual([['status', 'ok\nend-1\nacquired=true']]);
});

test('state comes back to the post-step', async () => {
  saveState('step', 'an id');
  expect([...keyValuePairs(await readFile(file, 'utf8'))]).toEqual([['step', 'an id']]);
  expect(getState('step')).toBe('');
  vi.stubEnv('STATE_step', 'an id');
  expect(getState('step')).toBe('an id');
});

test('a summary is added to what is there', async () => {
  addSummary('<p>one</p>\n');
  addSummary('<p>two</p>\n');
  expect(await readFile(file, 'utf8')).toBe('<p>one</p>\n<p>two</p>\n');
});

test.each([undefined, ''])('outside of a workflow, where the file is %j, nothing is written', (variable) => {
  for (const name of ['OUTPUT', 'STATE', 'STEP_SUMMARY']) vi.stubEnv(`GITHUB_${name}`, variable);
  expect(() => {
    setOutput('status', 'ok');
    saveState('step', 'an id');
    addSummary('all');
  }).not.toThrow();
});
