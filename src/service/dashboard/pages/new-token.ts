import { html } from 'hono/html';
import type { ApiResponse } from '../../contract/response.ts';
import { type App, actorOf } from '../../http/context.ts';
import { sealed } from '../../sessions/secret.ts';
import { createTokenOnce } from '../../tokens/audited.ts';
import { newTokenId } from '../../tokens/secret.ts';
import { findToken, type Token } from '../../tokens/tokens.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { addressWith } from '../elements/list.ts';
import { userText } from '../elements/text.ts';
import { showPage, type View } from '../frame/layout.ts';
import { addAction, addPage, type PageCall, queryOf } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { seeOther } from '../frame/response.ts';
import { type CreatedToken, madeTokenView, sealedTokenId, serviceOrigin, unknownForm } from './made-token.ts';
import {
  defaultToken,
  type EnteredToken,
  enteredToken,
  newTokenForm,
  readNewToken,
  type TokenErrors,
} from './new-token-form.ts';

export function addNewTokenPages(app: App, parts: DashboardParts): void {
  const { storage } = parts;
  const workspaceIds = async () => (await listWorkspaces(storage.read)).map(({ id }) => id);

  async function showForm(
    call: PageCall,
    id: string,
    entered: EnteredToken,
    errors: TokenErrors,
  ): Promise<ApiResponse> {
    const status = Object.keys(errors).length === 0 ? 200 : 422;
    return showPage(call, newTokenForm(call, { id, entered, errors, workspaces: await workspaceIds() }), status);
  }

  async function showMade(
    call: PageCall,
    made: Omit<CreatedToken, 'done' | 'workspace' | 'now'>,
  ): Promise<ApiResponse> {
    const [workspace] = made.token.workspaces ?? (await workspaceIds());
    const done = html`The token ${userText(made.token.name)} was created.`;
    return showPage(call, madeTokenView({ ...made, done, workspace, now: call.now }));
  }

  // The URL contains the id, so that going back in the browser returns to the same form.
  addPage(app, parts, { path: '/tokens/new', access: 'admin' }, async (call) => {
    const { form, preset } = queryOf(call, 'form', 'preset');
    const id = sealedTokenId(call, form);
    if (id === undefined) {
      return seeOther(addressWith('/tokens/new', { form: sealed(newTokenId(), call.c.get('session').secret), preset }));
    }
    const made = await findToken(storage.read, storage.now, id);
    return made === undefined ? showForm(call, id, defaultToken(preset), {}) : showPage(call, madeBefore(made));
  });

  addAction(app, parts, { path: '/tokens', access: 'admin' }, async (call) => {
    const id = sealedTokenId(call, call.form.text('token_id'));
    if (id === undefined) throw unknownForm();
    const origin = serviceOrigin(call, parts.publicUrl());
    const entered = enteredToken(call.form);
    const read = readNewToken(entered);
    if (!read.ok) return showForm(call, id, entered, read.errors);
    const outcome = await storage.commit('global', (db) =>
      createTokenOnce(db, storage.now, actorOf(call.c), { id, ...read.value }),
    );
    switch (outcome.kind) {
      case 'created':
        return showMade(call, { ...outcome, origin, preset: entered.preset });
      case 'made-before':
        return showPage(call, madeBefore(outcome.token), 409);
      case 'unknown-workspaces':
        return showForm(call, id, entered, { workspaces: `The workspace ${outcome.ids.join(', ')} no longer exists.` });
    }
  });
}

const madeBefore = ({ id, name, state }: Token): View => ({
  title: 'This token was already created',
  location: { section: 'tokens' },
  main: html`<p class="warning">This form already created the token ${userText(name)} and does not create a second one. The secret was shown
      then and cannot be shown again.</p>
    ${state === 'active' ? html`<p>If you did not keep it, <a href="/tokens/${id}/revoke">revoke the token</a> and <a href="/tokens/new">create another</a>.</p>` : ''}
    <p><a href="/tokens">All tokens</a></p>`,
});
