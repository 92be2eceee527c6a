import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { inputTable, operations } from '../../src/action/inputs/table.ts';
import { findingsIn } from '../support/language-service.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { ourAction, ourVersion, readme, recipes, section, snippets, workflows } from './pages.ts';

const action = await readFile(ourActionFile, 'utf8');

const outputs = Object.keys(parse(action).outputs);

/** The language service rejects `<owner>` as the name of an account. */
const check = (content: string) =>
  findingsIn('.github/workflows/recipe.yml', content.replaceAll('<owner>', 'octo-org'), {
    [ourAction.replace('<owner>', 'octo-org')]: action,
  });

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

/** The tests below check this form. */
interface Workflow {
  readonly name?: string;
  readonly on?: unknown;
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, { readonly steps?: readonly Step[] }>>;
}

const read = (content: string): Workflow => parseDocument(content).toJS();

const ourSteps = (content: string): readonly Step[] =>
  Object.values(read(content).jobs)
    .flatMap(({ steps = [] }) => steps)
    .filter(({ uses }) => uses?.startsWith(ourAction));

test('every promised recipe exists', () => {
  expect(workflows.map(({ name }) => name)).toEqual([
    'Lock an asset while a job runs',
    'Lock during a release',
    'Wait for a busy asset',
    'Across jobs',
    'Sync and wait',
    'Build when a sync ends, 1',
    'Build when a sync ends, 2',
    'Refuse a pull request that touches locked files',
    'Reusable workflows',
  ]);
});

describe.each(workflows)('the workflow of "$name"', ({ content }) => {
  test('is YAML without errors or warnings', () => {
    const { errors, warnings } = parseDocument(content, { version: '1.2' });
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
  });

  test('is valid for the language service', async () => {
    expect(await check(content)).toEqual([]);
  });

  test('would be invalid with an unknown input', async () => {
    const steps = ourSteps(content);
    if (steps.length === 0) return;
    const misspelt = await check(content.replaceAll('workspace: game', 'wrkspace: game'));
    expect(misspelt.map(({ at }) => at)).toEqual(steps.map(() => 'wrkspace'));
  });

  test('says what its token may do', () => {
    expect(read(content)).toHaveProperty('permissions');
  });

  test('gives each operation only inputs that it uses', () => {
    for (const { uses, with: inputs = {} } of ourSteps(content)) {
      expect(uses).toBe(`${ourAction}@${ourVersion}`);
      const { operation, ...others } = inputs;
      expect(operations).toContain(operation);
      for (const name of Object.keys(others)) {
        const { usedBy } = Object.entries(inputTable).find(([each]) => each === name)?.[1] ?? {};
        expect(usedBy === 'all' ? [operation] : usedBy, name).toContain(operation);
      }
    }
  });

  test('reads only outputs that exist', () => {
    for (const [text, name] of content.matchAll(/\bsteps\.\w+\.outputs\.(\w+)/g)) expect(outputs, text).toContain(name);
  });

  test('passes values to scripts only through their environment', () => {
    const scripts = Object.values(read(content).jobs).flatMap(({ steps = [] }) =>
      steps.flatMap((step) => ('run' in step ? [step.run] : [])),
    );
    expect(scripts.join('\n')).not.toContain('${{');
  });
});

const text = `${readme.text}${recipes.text}`;

test('the text explains every variable and secret of the workflows', () => {
  const used = workflows.flatMap(({ content }) =>
    [...content.matchAll(/\b(?:vars|secrets)\.(\w+)/g)].map(([, name = '']) => name),
  );
  const [setUp = ''] = snippets(section(readme, 'Lock an asset while a job runs'), 'sh');
  for (const name of new Set(used)) {
    const [toldOf] = text.split('\n').filter((line) => line.includes(`\`${name}\``));
    expect(setUp.includes(name) || toldOf !== undefined, name).toBe(true);
  }
});

test('the action has the same placeholder everywhere, and a version that exists', () => {
  const names = [...text.matchAll(/[\w<>-]+\/workspace-automation\b[\w/.@-]*/g)].map(([name]) => name);
  expect(names.length).toBeGreaterThan(workflows.length);
  for (const name of names) expect(name).toMatch(new RegExp(`^${ourAction}(/.+\\.yml)?@${ourVersion}$`));
});
