import { html } from 'hono/html';
import { grants } from '../../../interface/scopes.ts';
import type { Storage } from '../../storage/storage.ts';
import { listTokens } from '../../tokens/tokens.ts';
import { newLockUrl } from '../elements/lock.ts';
import type { Markup } from '../elements/text.ts';

interface Step {
  readonly isDone: boolean;
  readonly text: Markup;
}

/** The setup steps up to the first lock, for administrators; undefined when all are done. */
export async function setupSteps(storage: Storage, workspace: string | undefined): Promise<Markup | undefined> {
  const [tokens, locked] = await Promise.all([listTokens(storage), hasEverLocked(storage)]);
  const steps: readonly Step[] = [
    {
      isDone: workspace !== undefined,
      text: html`Add a workspace, a mirror of a git repository whose files can then be locked, on the machine of the service:
        <code class="command">workspace-service workspace add game --remote https://git.example.com/studio/game.git</code>`,
    },
    {
      isDone: tokens.some(({ scopes }) => grants(scopes, 'locks:write') && !grants(scopes, 'admin')),
      text: html`<a href="/tokens/new?preset=artist">Create a token for an artist</a> or <a href="/tokens/new?preset=ci">for a CI job</a>.`,
    },
    {
      isDone: locked,
      text: html`${workspace === undefined ? 'Lock a file' : html`<a href="${newLockUrl(workspace)}">Lock a file</a>`}: here, with git, or in a workflow.`,
    },
  ];
  if (steps.every(({ isDone }) => isDone)) return undefined;
  return html`<section aria-labelledby="setup"><h2 id="setup">First steps</h2><ol>${steps.map(stepItem)}</ol></section>`;
}

const stepItem = ({ isDone, text }: Step): Markup =>
  html`<li${isDone ? html` class="faint"` : ''}>${isDone ? html`<span aria-hidden="true">✓</span><span class="visually-hidden">Done:</span> ` : ''}${text}</li>`;

/** Checks the fences: every lock uses one, and they are never removed. */
async function hasEverLocked({ read }: Storage): Promise<boolean> {
  const query = read
    .selectFrom('fences')
    .select('value')
    .where('workspace_id', '<>', '')
    .where('value', '>', 0)
    .limit(1);
  return (await query.executeTakeFirst()) !== undefined;
}
