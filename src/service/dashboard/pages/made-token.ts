import { html } from 'hono/html';
import { isLoopback } from '../../../interface/loopback.ts';
import { Refusal } from '../../contract/problem.ts';
import { unsealed } from '../../sessions/secret.ts';
import { curlLine, workflowStep } from '../../tokens/first-steps.ts';
import { looksLikeTokenId } from '../../tokens/secret.ts';
import type { Token } from '../../tokens/tokens.ts';
import { plural } from '../assets/text.js';
import { copyable, type Markup, userText } from '../elements/text.ts';
import type { View } from '../frame/layout.ts';
import type { PageCall } from '../frame/page.ts';
import { shownScopes, shownWorkspaces } from './permissions.ts';
import { shownEnd } from './tokens.ts';

/** A form carries the id of its future token, so that sending it twice creates one token. */
export function sealedTokenId({ c }: PageCall, sealedId: string): string | undefined {
  const id = unsealed(sealedId, c.get('session').secret);
  return id !== undefined && looksLikeTokenId(id) ? id : undefined;
}

export const unknownForm = (): Refusal =>
  new Refusal('malformed-request', 'This form is not one of this service. Open its page again.');

/** The address of the service: the one that it was told, or else the one that the browser uses. */
export function originOf({ c }: PageCall, publicUrl: string | undefined): URL {
  if (publicUrl !== undefined) return new URL(publicUrl);
  const { origin = '' } = c.env.incoming.headers;
  if (/^https?:/.test(origin) && URL.canParse(origin)) return new URL(origin);
  throw new Refusal('malformed-request', 'The browser did not send the address of the service (Origin).');
}

export interface MadeToken {
  /** What happened, in a sentence. */
  readonly done: Markup;
  readonly token: Token;
  readonly secret: string;
  /** Active ones, which can release its locks. */
  readonly othersOfOwner?: readonly Token[];
  /** See originOf(). */
  readonly origin: URL;
  /** One that the token sees, if any. */
  readonly workspace: string | undefined;
  readonly now: number;
}

const maxShownTokens = 5;

const plainHttp = html`<p class="hint">This page came over plain http, which the action accepts only from its own machine. Put
  TLS in front of the service, or add <code>allow-http: true</code> in a closed network.</p>`;

const baseUrlAt = ({ origin }: URL): string => `${origin}/v1`;

const forPeople = html`<p>It signs a person in here and lets them do everything. Treat it like a password, and create
  a different one for workflows.</p>`;

function inWorkflow({ scopes }: Token, origin: URL, workspace: string): Markup {
  const step = workflowStep({ baseUrl: baseUrlAt(origin), workspace, scopes }).join('\n');
  return html`<h2>In a workflow</h2>
    <p>Store it in the repository as the secret <code>WORKSPACE_TOKEN</code>, and add a step:</p>
    ${copyable('step', 'the step', html`<pre id="step">${step}</pre>`)}
    ${origin.protocol === 'http:' && !isLoopback(origin.hostname) ? plainHttp : ''}`;
}

/** Whoever gives two tokens one owner should mean it. */
function sharedOwner({ owner }: Token, others: readonly Token[]): Markup | string {
  if (others.length === 0) return '';
  const names = others
    .slice(0, maxShownTokens)
    .map(({ name }, index) => html`${index === 0 ? '' : ', '}${userText(name)}`);
  const more = others.length - names.length;
  return html`<p class="warning">The owner ${userText(owner)} already has ${plural(others.length, 'other active token')}: ${names}${more > 0 ? ` and ${more} more` : ''}.
    Each of them can renew and release the locks of the others.</p>`;
}

/** The only page that ever shows the secret of the token. */
export function madeTokenView(made: MadeToken): View {
  const { done, token, secret, othersOfOwner = [], origin, workspace = 'your-workspace', now } = made;
  const baseUrl = baseUrlAt(origin);
  const commands = [
    `export WORKSPACE_BASE_URL=${baseUrl} WORKSPACE_ID=${workspace}`,
    // In one line: read would take a second pasted line for the secret.
    `read -rs WORKSPACE_TOKEN && ${curlLine}`,
  ].join('\n');
  const main = html`
    <p class="notice" role="status">${done} <strong>Copy its secret now: it is never shown again.</strong></p>
    ${copyable('secret', 'the secret', html`<code id="secret" class="secret">${secret}</code>`)}
    ${sharedOwner(token, othersOfOwner)}
    <dl class="facts">
      <dt>Owner</dt><dd>${userText(token.owner)}</dd>
      <dt>Scopes</dt><dd>${shownScopes(token.scopes)}</dd>
      <dt>Workspaces</dt><dd>${shownWorkspaces(token.workspaces)}</dd>
      <dt>Expires</dt><dd>${shownEnd(token, now)}</dd>
    </dl>
    ${token.scopes.includes('admin') ? forPeople : inWorkflow(token, origin, workspace)}
    <h2>In a shell</h2>
    <p>The second line reads the secret without leaving it in the history, then lists branches:</p>
    ${copyable('commands', 'the commands', html`<pre id="commands">${commands}</pre>`)}
    <p><a href="/tokens">All tokens</a></p>`;
  return { title: 'Copy this token', location: { section: 'tokens' }, main };
}
