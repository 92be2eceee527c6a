import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findingsIn } from '../support/language-service.ts';
import { ourActionFile, readActionFile } from '../support/runner/action-file.ts';

const content = await readFile(ourActionFile, 'utf8');
const action: {
  readonly description: string;
  readonly inputs: Readonly<Record<string, { description: string; default?: unknown; required?: unknown }>>;
  readonly outputs: Readonly<Record<string, { description: string }>>;
  readonly runs: unknown;
} = parse(content);

const expression = (text: string): string => `\${{ ${text} }}`;

const requiredInput = Symbol('required');
const noDefault = Symbol('no default');

/** The surface of the action: users' workflows depend on each of these names and defaults. */
const inputs: readonly (readonly [name: string, fallback: string | symbol])[] = [
  ['operation', requiredInput],
  ['base-url', noDefault],
  ['allow-http', 'false'],
  ['token', noDefault],
  ['workspace', noDefault],
  ['branch', noDefault],
  ['path', noDefault],
  ['glob', 'true'],
  ['type', 'exclusive'],
  ['ttl', '1h'],
  ['wait', '0s'],
  ['auto-release', 'true'],
  ['on-lost', 'fail'],
  ['locks', noDefault],
  ['locks-file', noDefault],
  ['force', 'false'],
  ['changed-files', 'false'],
  ['fail-if-locked', 'false'],
  ['ignore-owner', noDefault],
  ['hook-url', noDefault],
  ['hook-events', noDefault],
  ['hook-secret', noDefault],
  ['hook-options', noDefault],
  ['request-timeout', '30s'],
  ['retries', '4'],
  ['summary', 'true'],
  ['github-token', expression('github.token')],
];

const outputs = [
  'status',
  'sync_id',
  'branch',
  'estimated_objects',
  'locks',
  'locks_file',
  'count',
  'acquired',
  'holder',
  'waited_seconds',
  'released',
  'hook_id',
  'workspaces',
  'branches',
];

const operations = ['sync', 'lock', 'unlock', 'list-locks', 'register-hook', 'list-workspaces', 'list-branches'];

/** A description begins with the operations that it concerns. */
const concerns = new RegExp(
  `^(All operations|(${operations.join('|')})(, (${operations.join('|')}))*)( but \\S+)?[.:] `,
);

describe('action.yml', () => {
  test('has the inputs of the action, with their defaults, and no others', () => {
    const found = Object.entries(action.inputs).map(([name, input]) => [
      name,
      input.required === true ? requiredInput : (input.default ?? noDefault),
    ]);
    expect(found).toEqual(inputs);
  });

  test('has the outputs of the action, and no others', () => {
    expect(Object.keys(action.outputs)).toEqual(outputs);
  });

  test('gives an input that is required no default, and does not require one that has another source', () => {
    for (const [name, input] of Object.entries(action.inputs)) {
      expect(Object.keys(input).toSorted(), name).toEqual(
        name === 'operation'
          ? ['description', 'required']
          : input.default === undefined
            ? ['description']
            : ['default', 'description'],
      );
    }
  });

  test('names every operation where it says what to choose from', () => {
    for (const operation of operations) expect(action.inputs['operation']?.description).toContain(`\`${operation}\``);
  });

  test.each(inputs.map(([name]) => name).filter((name) => name !== 'operation'))(
    'says which operations the input %s concerns',
    (name) => {
      expect(action.inputs[name]?.description).toMatch(concerns);
    },
  );

  test.each(outputs.filter((name) => name !== 'status'))('says which operations the output %s comes from', (name) => {
    expect(action.outputs[name]?.description).toMatch(concerns);
  });

  test('runs a main and a post of its own on Node 24, the post after every job', () => {
    expect(action.runs).toEqual({ using: 'node24', main: 'dist/index.js', post: 'dist/post/index.js' });
  });

  test('has a description that the Marketplace takes', () => {
    expect(action.description.length).toBeLessThanOrEqual(125);
  });

  test('is one that the runner reads: no expression but in a default', async () => {
    expect((await readActionFile()).inputs.size).toBe(inputs.length);
  });

  test('is valid for the language service', async () => {
    expect(await findingsIn('action.yml', content)).toEqual([]);
  });
});
