import { html } from 'hono/html';
import type { Duration } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { scopes } from '../../../interface/scopes.ts';
import { actorOf } from '../../access/caller.ts';
import { sealed, unsealed } from '../../sessions/session-cookie.ts';
import { isTokenPreset, scopeLimitProblem, tokenFields, tokenPresets } from '../../tokens/new-token.ts';
import { looksLikeTokenId, newTokenId } from '../../tokens/secret.ts';
import { createTokenOnce, findToken, type NewToken, type Token } from '../../tokens/tokens.ts';
import {
  buttonLink,
  choices,
  enteredValue,
  type FieldValues,
  fieldInput,
  group,
  invalidMark,
  postForm,
} from '../elements/fields.ts';
import { urlWith } from '../elements/list.ts';
import { type Markup, userText } from '../elements/text.ts';
import {
  allValues,
  type FieldErrors,
  type Form,
  type FormResult,
  filledIn,
  optional,
  unknownForm,
} from '../frame/form.ts';
import { addAction, addPage, type PageCall, queryOf, type Site, type View } from '../frame/page.ts';
import { createdTokenView, serviceOrigin } from './created-token.ts';
import { readScopes, readWorkspaces, scopesField, workspaceIds, workspacesField } from './permissions.ts';

type TokenErrors = FieldErrors<'name' | 'owner' | 'scopes' | 'expires' | 'workspaces'>;

export function addNewTokenPages(site: Site): void {
  const { storage } = site;

  async function showForm(call: PageCall, id: string, form: Form, errors: TokenErrors = {}): Promise<View> {
    const status = Object.keys(errors).length === 0 ? 200 : 422;
    const main = tokenForm(sealed(id, call.c.get('session').secret), form, errors, await workspaceIds(storage));
    return { title: 'New token', main, status };
  }

  // The URL contains the id, so that going back in the browser returns to the same form.
  addPage(site, { path: '/tokens/new', access: 'admin' }, async (call) => {
    const { form, preset } = queryOf(call, 'form', 'preset');
    const id = sealedTokenId(call, form);
    if (id === undefined) {
      return { to: urlWith('/tokens/new', { form: sealed(newTokenId(), call.c.get('session').secret), preset }) };
    }
    const made = await findToken(storage.read, storage.now, id);
    return made === undefined ? showForm(call, id, withPreset(newTokenDefaults, preset)) : alreadyCreatedView(made);
  });

  addAction(site, { path: '/tokens', access: 'admin' }, async (call) => {
    const { form } = call;
    const id = sealedTokenId(call, form.text('token_id'));
    if (id === undefined) throw unknownForm();
    const origin = serviceOrigin(call, site.publicUrl());
    const chosen = form.text('choose-preset');
    if (chosen !== '') return showForm(call, id, withPreset(form, chosen));
    const read = readNewToken(form);
    if (!read.ok) return showForm(call, id, form, read.errors);
    const outcome = await storage.commit('global', (db) =>
      createTokenOnce(db, storage.now, actorOf(call.c), { id, ...read.value }),
    );
    switch (outcome.kind) {
      case 'created': {
        const { token } = outcome;
        const [workspace] = token.workspaces ?? (await workspaceIds(storage));
        const result = html`The token ${userText(token.name)} was created.`;
        const preset = form.text('preset');
        return createdTokenView({ ...outcome, origin, preset, result, workspace, now: call.now });
      }
      case 'made-before':
        return { ...alreadyCreatedView(outcome.token), status: 409 };
      case 'unknown-workspaces':
        return showForm(call, id, form, { workspaces: `The workspace ${outcome.ids.join(', ')} no longer exists.` });
    }
  });
}

/** Id of the future token, sealed in the form, so that sending the form twice creates one token. */
function sealedTokenId({ c }: PageCall, sealedId: string): string | undefined {
  const id = unsealed(sealedId, c.get('session').secret);
  return id !== undefined && looksLikeTokenId(id) ? id : undefined;
}

const newTokenDefaults = filledIn({ expires: '90d', reach: 'all' });

/** Selects the scopes of the preset, if it exists, and keeps everything else. */
const withPreset = (form: Form, preset: string): Form =>
  isTokenPreset(preset) ? filledIn({ preset, scope: tokenPresets[preset].scopes }, form) : form;

const tokenForm = (sealedId: string, form: Form, errors: TokenErrors, workspaces: readonly string[]): Markup =>
  postForm({
    action: '/tokens',
    values: form,
    hidden: { preset: form.text('preset'), token_id: sealedId },
    fields: [
      fieldInput(tokenFields.name, 'name'),
      fieldInput(tokenFields.owner, 'owner', 'Every token of the same owner can renew and release them.'),
      scopesField(scopes, presetButtons(form.text('preset'))),
      group('expires', tokenFields.expires.title, endChoices),
      workspacesField(workspaces, 'The token cannot see other workspaces. Not possible with the scope admin.'),
    ],
    errors,
    nothingDone: 'No token was created.',
    button: 'Create token',
    cancel: buttonLink('/tokens', 'Cancel'),
  });

/** The hidden button is the first of the form, which the Enter key presses. */
const presetButtons = (current: string): Markup => html`<button hidden>Create token</button>
  <div class="actions">Preset:
    ${Object.entries(tokenPresets).map(
      ([name, { title }]) =>
        html`<button formnovalidate name="choose-preset" value="${name}" aria-pressed="${String(name === current)}">${title}</button>`,
    )}
  </div>`;

const lifetimes: ReadonlyMap<string, string> = new Map([
  ['30d', 'in 30 days'],
  ['90d', 'in 90 days'],
  ['365d', 'in a year'],
]);

const forEver = 'Anyone who finds it years from now can still use it. Revoke it when it is no longer needed.';

function endChoices(values: FieldValues, wrong: boolean): Markup {
  const end = { type: 'radio', name: 'expires' } as const;
  return html`${choices(values, { ...end, options: [...lifetimes, ['other', 'after']] })}
    <div class="under">
      <label for="lifetime">Lifetime</label>
      <input id="lifetime" name="lifetime" value="${enteredValue(values, 'lifetime')}" autocomplete="off" spellcheck="false" size="8" aria-describedby="lifetime-hint"${invalidMark(wrong)}>
      <span class="hint" id="lifetime-hint">A whole number with s, m, h or d, such as 12h or 45d.</span>
    </div>
    ${choices(values, { ...end, options: [['never', 'never', forEver]] })}`;
}

export function readNewToken(form: Form): FormResult<NewToken, keyof TokenErrors> {
  const read = allValues({
    name: tokenFields.name.parse(form.text('name')),
    owner: optional(form.text('owner'), tokenFields.owner.parse),
    scopes: readScopes(form),
    expires: readLifetime(form),
    workspaces: readWorkspaces(form),
  });
  if (!read.ok) return read;
  const { expires, ...values } = read.value;
  const limited = scopeLimitProblem(values.scopes, values.workspaces);
  if (limited === undefined) return { ok: true, value: { ...values, lifetime: expires } };
  return { ok: false, errors: { workspaces: `${limited} Give it access to all, or choose other scopes.` } };
}

function readLifetime(form: Form): Parsed<Duration | null> {
  const expires = form.text('expires');
  if (expires === 'never') return accepted(null);
  if (expires === 'other') return tokenFields.expires.parse(form.text('lifetime').trim());
  return lifetimes.has(expires) ? tokenFields.expires.parse(expires) : refused('Choose when the token expires.');
}

const alreadyCreatedView = ({ id, name, state }: Token): View => ({
  title: 'This token was already created',
  main: html`<p class="warning">This form already created the token ${userText(name)} and does not create a second one. The secret was shown
      then and cannot be shown again.</p>
    ${state === 'active' ? html`<p>If you did not keep it, <a href="/tokens/${id}/revoke">revoke the token</a> and <a href="/tokens/new">create another</a>.</p>` : ''}
    <p><a href="/tokens">All tokens</a></p>`,
});
