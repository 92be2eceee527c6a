import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { inputTable, operations } from '../../src/action/inputs/table.ts';
import { outputNames } from '../../src/action/report/outcome.ts';
import { findingsIn } from '../support/language-service.ts';
import { ourActionFile, readActionFile } from '../support/runner/action-file.ts';

const content = await readFile(ourActionFile, 'utf8');
const action: {
  readonly description: string;
  readonly inputs: Readonly<Record<string, { description: string; default?: unknown; required?: unknown }>>;
  readonly outputs: Readonly<Record<string, { description: string }>>;
  readonly runs: unknown;
} = parse(content);

/** A description starts with the operations that it applies to. */
const concerns = new RegExp(
  `^(All operations|(${operations.join('|')})(, (${operations.join('|')}))*)( but \\S+)?[.:] `,
);

describe('action.yml', () => {
  test('has the inputs that the code reads, with the same defaults, and requires only the operation', () => {
    const known = Object.entries(inputTable).map(([name, row]) => {
      if (name === 'operation') return [name, { required: true }];
      // The runner fills in this default.
      if (name === 'github-token') return [name, { default: expect.stringMatching(/^\$\{\{ github\.token \}\}$/) }];
      return [name, 'fallback' in row ? { default: row.fallback } : {}];
    });
    expect(Object.entries(action.inputs).map(([name, { description: _, ...rest }]) => [name, rest])).toEqual(known);
  });

  test('has the outputs that the code writes', () => {
    expect(Object.keys(action.outputs)).toEqual(outputNames);
  });

  test('lists the operations, and says which of them each input and output applies to', () => {
    const { operation, ...inputs } = action.inputs;
    for (const each of operations) expect(operation?.description).toContain(`\`${each}\``);
    const { status: _, ...outputs } = action.outputs;
    for (const { description } of [...Object.values(inputs), ...Object.values(outputs)]) {
      expect(description).toMatch(concerns);
    }
  });

  test('is valid for the Marketplace, for the runner and for the language service', async () => {
    expect(action.description.length).toBeLessThanOrEqual(125);
    // The runner refuses a file with an expression anywhere but in a default.
    expect(content.match(/^.*\$\{\{.*$/gm)).toEqual([
      expect.stringMatching(/^ {4}default: \$\{\{ github\.token \}\}$/),
    ]);
    expect((await readActionFile()).inputs.size).toBe(Object.keys(inputTable).length);
    expect(await findingsIn('action.yml', content)).toEqual([]);
  });
});
