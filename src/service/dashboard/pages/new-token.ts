import { html } from 'hono/html';
import { isLoopback } from '../../../interface/loopback.ts';
import type { Answer } from '../../contract/answer.ts';
import { Refusal } from '../../contract/problem.ts';
import { type App, actorOf } from '../../http/context.ts';
import { sealed, unsealed } from '../../sessions/secret.ts';
import { createTokenOnce } from '../../tokens/audited.ts';
import { curlLine, workflowStep } from '../../tokens/first-steps.ts';
import { looksLikeTokenId, newTokenId } from '../../tokens/secret.ts';
import { findToken, type Token } from '../../tokens/tokens.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { copyable, type Markup, userText } from '../elements/text.ts';
import { seeOther } from '../frame/answer.ts';
import { showPage, type View } from '../frame/layout.ts';
import { addAction, addPage, type PageCall, queryOf } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { newTokenForm, type Problems, readNewToken, type Typed, typedIn, untouched } from './new-token-form.ts';
import { shownEnd, shownScopes, shownWorkspaces } from './tokens.ts';

const madeBefore = ({ id, name, state }: Token): View => ({
  title: 'This token was already created',
  location: { section: 'tokens' },
  main: html`<p class="warning">This form already created the token ${userText(name)} and does not create a second one. The secret was shown
      then and cannot be shown again.</p>
    ${state === 'active' ? html`<p>If you did not keep it, <a href="/tokens/${id}/revoke">revoke the token</a> and <a href="/tokens/new">create another</a>.</p>` : ''}
    <p><a href="/tokens">All tokens</a></p>`,
});

function idIn({ c }: PageCall, sealedId: string): string | undefined {
  const id = unsealed(sealedId, c.get('session').secret);
  return id !== undefined && looksLikeTokenId(id) ? id : undefined;
}

const unknownForm = (): Refusal =>
  new Refusal('malformed-request', 'This form is not one of this service. Open “New token” again.');

/** The address the browser uses for the service, which a service behind a proxy cannot know. */
function originOf({ c }: PageCall): URL {
  const { origin = '' } = c.env.incoming.headers;
  if (/^https?:/.test(origin) && URL.canParse(origin)) return new URL(origin);
  throw new Refusal('malformed-request', 'The browser did not send the address of the service (Origin).');
}

export function addNewTokenPages(app: App, parts: DashboardParts): void {
  const { storage } = parts;
  const workspaceIds = async () => (await listWorkspaces(storage.read)).map(({ id }) => id);

  async function showForm(call: PageCall, id: string, typed: Typed, problems: Problems): Promise<Answer> {
    const status = Object.keys(problems).length === 0 ? 200 : 422;
    return showPage(call, newTokenForm(call, { id, typed, problems, workspaces: await workspaceIds() }), status);
  }

  async function showMade(call: PageCall, made: Pick<MadeToken, 'token' | 'secret' | 'origin'>): Promise<Answer> {
    const [workspace] = made.token.workspaces ?? (await workspaceIds());
    return showPage(call, madeTokenView({ ...made, workspace, now: call.now }));
  }

  // The address has the id, so that going back in the browser finds the same form.
  addPage(app, parts, { path: '/tokens/new', access: 'admin' }, async (call) => {
    const id = idIn(call, queryOf(call, 'form').form);
    if (id === undefined) return seeOther(`/tokens/new?form=${sealed(newTokenId(), call.c.get('session').secret)}`);
    const made = await findToken(storage.read, storage.now, id);
    return made === undefined ? showForm(call, id, untouched, {}) : showPage(call, madeBefore(made));
  });

  addAction(app, parts, { path: '/tokens', access: 'admin' }, async (call) => {
    const id = idIn(call, call.form.text('token_id'));
    if (id === undefined) throw unknownForm();
    const origin = originOf(call);
    const typed = typedIn(call.form);
    const reading = readNewToken(typed);
    if (reading.kind === 'wrong') return showForm(call, id, typed, reading.problems);
    const outcome = await storage.commit('global', (db) =>
      createTokenOnce(db, storage.now, actorOf(call.c), { id, ...reading.newToken }),
    );
    switch (outcome.kind) {
      case 'created':
        return showMade(call, { ...outcome, origin });
      case 'made-before':
        return showPage(call, madeBefore(outcome.token), 409);
      case 'unknown-workspaces':
        return showForm(call, id, typed, { workspaces: `The workspace ${outcome.ids.join(', ')} no longer exists.` });
    }
  });
}

interface MadeToken {
  readonly token: Token;
  readonly secret: string;
  /** As the browser addresses the service, without a path. */
  readonly origin: URL;
  /** One that the token sees, if any. */
  readonly workspace: string | undefined;
  readonly now: number;
}

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

/** The only page that ever shows the secret of the token. */
function madeTokenView({ token, secret, origin, workspace = 'your-workspace', now }: MadeToken): View {
  const baseUrl = baseUrlAt(origin);
  const commands = [
    `export WORKSPACE_BASE_URL=${baseUrl} WORKSPACE_ID=${workspace}`,
    // In one line: read would take a second pasted line for the secret.
    `read -rs WORKSPACE_TOKEN && ${curlLine}`,
  ].join('\n');
  const main = html`
    <p class="notice" role="status">The token ${userText(token.name)} was created. <strong>Copy its secret now: it is never shown again.</strong></p>
    ${copyable('secret', 'the secret', html`<code id="secret" class="secret">${secret}</code>`)}
    <dl class="facts">
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
