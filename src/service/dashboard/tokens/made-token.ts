import { html } from 'hono/html';
import { isLoopback } from '../../../interface/loopback.ts';
import { curlLine, workflowStep } from '../../first-steps.ts';
import type { Token } from '../../tokens/tokens.ts';
import { copied } from '../elements/copied.ts';
import type { Markup } from '../elements/markup.ts';
import { given } from '../elements/text.ts';
import type { View } from '../layout.ts';
import { shownEnd, shownScopes, shownWorkspaces } from './facts.ts';

export interface MadeToken {
  readonly token: Token;
  readonly secret: string;
  /** What the browser calls the service, without a path. */
  readonly origin: URL;
  /** One that the token sees, if there is any. */
  readonly workspace: string | undefined;
  readonly now: number;
}

const plainHttp = html`<p class="hint">This page came over plain http. The action takes that from its own machine alone:
  put TLS in front of the service, or add <code>allow-http: true</code> in a closed network.</p>`;

const baseUrlAt = ({ origin }: URL): string => `${origin}/v1`;

const forPeople = html`<p>It signs a person in here, and lets them do everything. Keep it as you keep a password, and
  give a workflow another one.</p>`;

function inWorkflow({ scopes }: Token, origin: URL, workspace: string): Markup {
  const step = workflowStep({ baseUrl: baseUrlAt(origin), workspace, scopes }).join('\n');
  return html`<h2>In a workflow</h2>
    <p>Keep it as the secret <code>WORKSPACE_TOKEN</code> of the repository, and add a step:</p>
    ${copied('step', 'the step', html`<pre id="step">${step}</pre>`)}
    ${origin.protocol === 'http:' && !isLoopback(origin.hostname) ? plainHttp : ''}`;
}

/** The only page that ever has the secret of the token. */
export function madeTokenView({ token, secret, origin, workspace = 'your-workspace', now }: MadeToken): View {
  const baseUrl = baseUrlAt(origin);
  const commands = [
    `export WORKSPACE_BASE_URL=${baseUrl} WORKSPACE_ID=${workspace}`,
    // In one line: what is pasted behind it would be taken for the secret.
    `read -rs WORKSPACE_TOKEN && ${curlLine}`,
  ].join('\n');
  const main = html`
    <p class="notice" role="status">The token ${given(token.name)} is made. <strong>Keep its secret now: it is never shown again.</strong></p>
    ${copied('secret', 'the secret', html`<code id="secret" class="secret">${secret}</code>`)}
    <dl class="facts">
      <dt>Scopes</dt><dd>${shownScopes(token.scopes)}</dd>
      <dt>Workspaces</dt><dd>${shownWorkspaces(token.workspaces)}</dd>
      <dt>Expires</dt><dd>${shownEnd(token, now)}</dd>
    </dl>
    ${token.scopes.includes('admin') ? forPeople : inWorkflow(token, origin, workspace)}
    <h2>In a shell</h2>
    <p>The second line waits for the secret, which stays out of the history, and lists branches with it:</p>
    ${copied('commands', 'the commands', html`<pre id="commands">${commands}</pre>`)}
    <p><a href="/tokens">All tokens</a></p>`;
  return { title: 'Keep this token', place: { section: 'tokens' }, main, styles: ['copied.css'] };
}
