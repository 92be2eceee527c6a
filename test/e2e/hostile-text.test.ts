import { describe, expect, test } from 'vitest';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { startJob } from '../support/runner/start-job.ts';
import type { StepResult } from '../support/runner/step.ts';
import { commandNames, parseCommand } from '../support/runner/workflow-command.ts';
import { forms } from '../support/runs.ts';
import { pictureLine, summaryShape } from '../support/summary-shape.ts';
import { everyOperation, refusingWith, sayingEverywhere } from './every-operation.ts';

const attack = 'INJECTED';

const commands = [
  `::error::${attack}`,
  `\r::error::${attack}`,
  `\n::error::${attack}\n::stop-commands::${attack}\n  ::set-output name=injected::${attack}`,
  `\u2028::error::${attack}\u0085::error::${attack}`,
  `%0A::error::${attack}%0D%0A::error::${attack}`,
  `##[error]${attack}`,
  `x##[set-env name=INJECTED]${attack}`,
  `\ninjected<<end-1\n${attack}\nend-1\ninjected=${attack}`,
];

const markup = [
  `</td></tr></table><script>${attack}</script><img src=x onerror=${attack}>`,
  `[${attack}](javascript:${attack}) ![x](https://evil.example/x.png) **${attack}** @octocat #1`,
  `\n\n# ${attack}\n\n\`\`\`\n\n| a |\n|---|`,
];

const texts: readonly string[] = [...commands.slice(0, 2), commands.join(' '), markup.join(' ')];

/** What the action itself says with commands. */
const ours: ReadonlySet<string> = new Set(['add-mask', 'debug', 'endgroup', 'error', 'group', 'warning']);

function expectNothingInjected(result: StepResult): void {
  const said = result.written.flatMap(({ text }) => parseCommand(text, (name) => commandNames.has(name)) ?? []);
  for (const { name, data, properties } of said) {
    expect(ours).toContain(name);
    // Whatever is said stands in a sentence of ours.
    expect(data.startsWith(attack)).toBe(false);
    expect([...properties.keys()].filter((key) => key !== 'title' && key !== 'file')).toEqual([]);
  }
  for (const { message } of result.annotations) expect(message).not.toMatch(/[\r\n]/);
  expect(Object.keys(result.outputs)).not.toContain('injected');
  expect(Object.values(result.outputs)).not.toContain(attack);
  expect(result.env).toEqual({});
  const [table = '', picture = ''] = result.rawSummary.split('\n```mermaid\n');
  if (table !== '') expect(`${table.trimEnd()}\n\n`).toMatch(summaryShape);
  for (const line of picture.split('\n')) expect(line).toMatch(pictureLine);
  expect(result.rawSummary).not.toMatch(/@octocat|#1\b|javascript:(?!<wbr>)/);
}

describe.each(forms(texts, 2))('a service that says %j', (text) => {
  test('wherever it can, says it and does nothing', async () => {
    for (const answer of [sayingEverywhere(text), refusingWith(text)]) {
      const server = await startOtherServer(answer);
      const job = await startJob({
        debug: true,
        env: { WORKSPACE_BASE_URL: server.baseUrl, WORKSPACE_TOKEN: 'wsa_0123456789', WORKSPACE_ID: 'game' },
      });
      for (const step of everyOperation) expectNothingInjected(await job.run({ with: step }));
      for (const result of await job.post()) expectNothingInjected(result);
    }
  });
});

test('inputs cannot do it either', async () => {
  const job = await startJob({
    env: { WORKSPACE_BASE_URL: 'http://127.0.0.1:1/v1', WORKSPACE_TOKEN: 'wsa_0123456789' },
  });
  const text = commands.join(' ');
  for (const step of everyOperation) {
    const wrong = { workspace: text, path: text, branch: text, retries: text, ttl: text, 'hook-url': text };
    expectNothingInjected(await job.run({ with: { ...step, ...wrong } }));
  }
});
