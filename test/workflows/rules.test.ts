import { describe, expect, test } from 'vitest';
import { ourAction, ourVersion } from '../docs/pages.ts';
import { parseWorkflow } from '../support/workflow/workflow-file.ts';
import { isReusable, templates, workflows } from './our-workflows.ts';

/** Each `uses:` with the rest of its line. */
const usesLines = (text: string) =>
  [...text.matchAll(/^\s*(?:- )?uses: *(\S+)(.*)$/gm)].map(([, action = '', comment = '']) => ({ action, comment }));

const usesIn = (text: string): readonly (string | undefined)[] =>
  Object.values(parseWorkflow(text).jobs).flatMap(({ uses, steps }) => [uses, ...steps.map((step) => step.uses)]);

describe.each([...workflows, ...templates])('$name', ({ name, text }) => {
  test('grants permissions per job, or those of its caller if it can only be called', () => {
    const isCalled = isReusable(name) && workflows.some((workflow) => workflow.text === text);
    expect(parseWorkflow(text).permissions).toEqual(isCalled ? undefined : {});
  });

  test('has no expression in a script', () => {
    for (const { steps } of Object.values(parseWorkflow(text).jobs)) {
      for (const { run = '' } of steps) expect(run).not.toContain('${{');
    }
  });
});

describe.each(workflows)('$name', ({ name: file, text }) => {
  test('pins each action to a commit, with its version in a comment; the probe uses our published version', () => {
    const lines = usesLines(text);
    expect(lines.map(({ action }) => action)).toEqual(usesIn(text).filter((uses) => uses !== undefined));
    for (const { action, comment } of lines) {
      if (/^[.$]\//.test(action)) continue;
      if (file === 'probe.yml' && action === `${ourAction}@${ourVersion}`) continue;
      expect(action).toMatch(/@[0-9a-f]{40}$/);
      expect(comment, action).toMatch(/^ # v\d+\.\d+\.\d+$/);
    }
  });

  test('sets permissions and a timeout for each job, and keeps no token in a checkout', () => {
    for (const [name, job] of Object.entries(parseWorkflow(text).jobs)) {
      if (!isReusable(file)) expect(job.permissions, name).toBeDefined();
      if (job.uses === undefined) expect(job['timeout-minutes'], name).toBeDefined();
      for (const step of job.steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))) {
        expect(step.with, name).toMatchObject({ 'persist-credentials': false });
      }
    }
  });
});

test('all workflows use the same version of an action', () => {
  const versions = new Map<string, Set<string>>();
  for (const { action, comment } of workflows.flatMap(({ text }) => usesLines(text))) {
    const [name = ''] = action.split('@');
    versions.set(name, (versions.get(name) ?? new Set()).add(action + comment));
  }
  for (const [name, found] of versions) expect([...found], name).toHaveLength(1);
});
