import { html } from 'hono/html';
import { type App, actorOf } from '../../http/operation.ts';
import type { Answer } from '../../http/problem-answer.ts';
import { Refusal } from '../../http/refusal.ts';
import { sealed, unsealed } from '../../sessions/secret.ts';
import { createTokenOnce } from '../../tokens/audited.ts';
import { looksLikeTokenId, newTokenId } from '../../tokens/secret.ts';
import { findToken, type Token } from '../../tokens/tokens.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { seeOther } from '../answer.ts';
import type { DashboardParts } from '../dashboard.ts';
import { given } from '../elements/text.ts';
import { showPage, type View } from '../layout.ts';
import { addAction, addPage, type PageCall, queryOf } from '../page.ts';
import { type MadeToken, madeTokenView } from './made-token.ts';
import { newTokenForm } from './new-token-form.ts';
import { type Problems, readNewToken, type Typed, typedIn, untouched } from './read-new-token.ts';

const madeBefore = ({ id, name, state }: Token): View => ({
  title: 'This token was made before',
  place: { section: 'tokens' },
  main: html`<p class="warning">The form has made the token ${given(name)}, and makes no second one. The secret was shown
      then, and cannot be shown once more.</p>
    ${state === 'active' ? html`<p>If you did not keep it, <a href="/tokens/${id}/revoke">revoke the token</a> and <a href="/tokens/new">make another</a>.</p>` : ''}
    <p><a href="/tokens">All tokens</a></p>`,
});

function idIn({ c }: PageCall, sealedId: string): string | undefined {
  const id = unsealed(sealedId, c.get('session').secret);
  return id !== undefined && looksLikeTokenId(id) ? id : undefined;
}

const unknownForm = (): Refusal =>
  new Refusal('malformed-request', 'This form was not shown by this service. Open the page “New token” again.');

/** What the person's browser calls the service: behind a proxy, the service cannot know it. */
function originOf({ c }: PageCall): URL {
  const { origin = '' } = c.env.incoming.headers;
  if (/^https?:/.test(origin) && URL.canParse(origin)) return new URL(origin);
  throw new Refusal('malformed-request', 'The browser does not say by which address it reaches the service.');
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

  // The address has the id, so that who goes back to the form finds the same one, and not another.
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
        return showForm(call, id, typed, { workspaces: `There is no workspace ${outcome.ids.join(', ')} any more.` });
    }
  });
}
