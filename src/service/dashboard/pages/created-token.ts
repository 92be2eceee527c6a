import { html } from 'hono/html';
import { grants } from '../../contract/scopes.ts';
import { lfsClientSettings } from '../../lfs/client-settings.ts';
import { workflowStep } from '../../tokens/first-steps.ts';
import type { Token } from '../../tokens/tokens.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { copyable, faint, literal, literals, type Markup, time, userText } from '../elements/text.ts';
import type { PageCall, View } from '../frame/layout.ts';
import type { Site } from '../frame/page.ts';

interface CreatedToken {
  readonly token: Token;
  readonly secret: string;
}

/** The only page that ever shows the secret of the token. The result is a sentence. */
export async function createdTokenView(
  site: Site,
  call: PageCall,
  { token, secret }: CreatedToken,
  result: Markup,
): Promise<View> {
  const main = html`
    <p class="notice" role="status">${result} <strong>Copy its secret now: it is never shown again.</strong></p>
    ${copyable('secret', 'the secret', html`<code id="secret" class="secret">${secret}</code>`)}
    ${tokenFacts(token, call.now)}
    ${await nextSteps(site, call, token)}
    <p><a href="/tokens">All tokens</a></p>`;
  return { title: 'Copy this token', main };
}

export const tokenFacts = (token: Token, now: number, more: Markup | string = ''): Markup =>
  html`<dl class="facts">
    <dt>Token</dt><dd>${userText(token.name)} <span class="faint">${literal(token.id)}</span></dd>
    <dt>Owner</dt><dd>${userText(token.owner)}</dd>
    <dt>Scopes</dt><dd>${scopeList(token)}</dd>
    <dt>Workspaces</dt><dd>${workspaceList(token)}</dd>
    <dt>Expires</dt><dd>${expiryText(token, now)}</dd>
    ${more}
  </dl>`;

export const scopeList = ({ scopes }: Token): Markup => (scopes.length === 0 ? faint('none') : literals(scopes));

export const workspaceList = ({ workspaces }: Token): Markup =>
  workspaces === null ? html`all` : literals(workspaces);

export const expiryText = ({ expires_at }: Token, now: number): Markup =>
  expires_at === null ? html`never` : time(expires_at, now);

async function nextSteps(
  { publicUrl, storage }: Site,
  { c }: PageCall,
  { scopes, workspaces }: Token,
): Promise<Markup> {
  if (scopes.includes('admin')) {
    return html`<p>It signs a person in here and lets them do everything. Treat it like a password, and create a different one
      for workflows.</p>`;
  }
  const origin = publicUrl() ?? c.env.incoming.headers.origin ?? '';
  const workspace = workspaces?.[0] ?? (await listWorkspaces(storage.read))[0]?.id ?? 'your-workspace';
  // The scopes of a person who works with git.
  const isPerson = scopes.includes('contents:read') && grants(scopes, 'locks:write');
  return isPerson ? forArtist(origin, workspace) : inWorkflow(origin, workspace, scopes);
}

function inWorkflow(origin: string, workspace: string, scopes: Token['scopes']): Markup {
  const step = workflowStep({ baseUrl: `${origin}/v1`, workspace, scopes }).join('\n');
  return html`<h2>In a workflow</h2>
    <p>Store it in the repository as the secret <code>WORKSPACE_TOKEN</code>, and add a step:</p>
    ${copyable('step', 'the step', html`<pre id="step">${step}</pre>`)}`;
}

function forArtist(origin: string, workspace: string): Markup {
  const commands = [...lfsClientSettings(origin, workspace).perClone, 'git lfs lock Content/Hero.uasset'].join('\n');
  return html`<h2>Hand it over</h2>
    <p>Send the secret to its owner as you would a password. They can sign in at <code>${origin}</code> with it, and lock files there.</p>
    <h2>With git</h2>
    <p>They run this in their clone. git asks for a user name and a password: any user name will do, and the password is the secret.</p>
    ${copyable('commands', 'the commands', html`<pre id="commands">${commands}</pre>`)}`;
}
