import { html } from 'hono/html';
import { isLoopback } from '../../../interface/loopback.ts';
import { Refusal } from '../../contract/problem.ts';
import { grants } from '../../contract/scopes.ts';
import { lfsClientSettings } from '../../lfs/client-settings.ts';
import type { Storage } from '../../storage/storage.ts';
import { workflowStep } from '../../tokens/first-steps.ts';
import type { Token } from '../../tokens/tokens.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { copyable, type Markup } from '../elements/text.ts';
import type { PageCall, View } from '../frame/page.ts';
import { tokenFacts } from './tokens.ts';

/** The public origin of the service, or otherwise the origin that the browser uses. */
export function serviceOrigin({ c }: PageCall, publicUrl: string | undefined): URL {
  if (publicUrl !== undefined) return new URL(publicUrl);
  const { origin = '' } = c.env.incoming.headers;
  if (/^https?:/.test(origin) && URL.canParse(origin)) return new URL(origin);
  throw new Refusal('malformed-request', 'The browser did not send the URL of the service (Origin).');
}

export const workspaceIds = async ({ read }: Pick<Storage, 'read'>): Promise<readonly string[]> =>
  (await listWorkspaces(read)).map(({ id }) => id);

interface CreatedToken {
  /** The result as a sentence. */
  readonly result: Markup;
  readonly token: Token;
  readonly secret: string;
  readonly origin: URL;
  /** A workspace that the token can see, if any. */
  readonly workspace: string | undefined;
  readonly now: number;
}

/** The only page that ever shows the secret of the token. */
export function createdTokenView(created: CreatedToken): View {
  const { result, token, secret, now } = created;
  const main = html`
    <p class="notice" role="status">${result} <strong>Copy its secret now: it is never shown again.</strong></p>
    ${copyable('secret', 'the secret', html`<code id="secret" class="secret">${secret}</code>`)}
    ${tokenFacts(token, now)}
    ${nextSteps(created)}
    <p><a href="/tokens">All tokens</a></p>`;
  return { title: 'Copy this token', main };
}

const adminText = html`<p>It signs a person in here and lets them do everything. Treat it like a password, and create
  a different one for workflows.</p>`;

/** The scopes of a person who works with git. */
function nextSteps(created: CreatedToken): Markup {
  const { scopes } = created.token;
  if (scopes.includes('admin')) return adminText;
  return scopes.includes('contents:read') && grants(scopes, 'locks:write') ? forArtist(created) : inWorkflow(created);
}

const placeholder = 'your-workspace';

const plainHttp = html`<p class="hint">This page came over plain http, which the action accepts only from its own machine. Put
  TLS in front of the service, or add <code>allow-http: true</code> in a closed network.</p>`;

function inWorkflow({ token: { scopes }, origin, workspace = placeholder }: CreatedToken): Markup {
  const step = workflowStep({ baseUrl: `${origin.origin}/v1`, workspace, scopes }).join('\n');
  return html`<h2>In a workflow</h2>
    <p>Store it in the repository as the secret <code>WORKSPACE_TOKEN</code>, and add a step:</p>
    ${copyable('step', 'the step', html`<pre id="step">${step}</pre>`)}
    ${origin.protocol === 'http:' && !isLoopback(origin.hostname) ? plainHttp : ''}`;
}

function forArtist({ origin, workspace = placeholder }: CreatedToken): Markup {
  const { perClone } = lfsClientSettings(origin.origin, workspace);
  const commands = [...perClone, 'git lfs lock Content/Hero.uasset'].join('\n');
  return html`<h2>Hand it over</h2>
    <p>Send the secret to its owner as you would a password. They can sign in at <code>${origin.origin}</code> with it, and lock files there.</p>
    <h2>With git</h2>
    <p>They run this in their clone. git asks for a user name and a password: any user name will do, and the password is the secret.</p>
    ${copyable('commands', 'the commands', html`<pre id="commands">${commands}</pre>`)}`;
}
