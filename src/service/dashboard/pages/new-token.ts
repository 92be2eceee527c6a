import { html } from 'hono/html';
import type { Duration } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { scopes } from '../../../interface/scopes.ts';
import { actorOf } from '../../http/context.ts';
import { sealed } from '../../sessions/secret.ts';
import { createTokenOnce } from '../../tokens/audited.ts';
import { scopeLimitProblem, tokenFields } from '../../tokens/new-token.ts';
import { isTokenPreset, tokenPresets } from '../../tokens/presets.ts';
import { newTokenId } from '../../tokens/secret.ts';
import { findToken, type NewToken, type Token } from '../../tokens/tokens.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { buttonLink, choices, fieldInput, group, marked, postForm } from '../elements/fields.ts';
import { addressWith } from '../elements/list.ts';
import { type Markup, userText } from '../elements/text.ts';
import { type Form, unknownForm } from '../frame/form.ts';
import { allValues, type EnteredTexts, enteredTexts, type FieldErrors, type FormResult } from '../frame/form-values.ts';
import { addAction, addPage, type PageCall, queryOf, type Site, type View } from '../frame/page.ts';
import { madeTokenView, sealedTokenId, serviceOrigin } from './made-token.ts';
import {
  noPermissions,
  type Permissions,
  permissionsIn,
  readScopes,
  readWorkspaces,
  scopesField,
  workspacesField,
} from './permissions.ts';

/**
 * If `owner` is empty, the owner is the name. `expires` is one of the lifetimes, `other` (then `lifetime` applies) or
 * `never`. `preset` may be any text.
 */
type EnteredToken = Permissions & EnteredTexts<(typeof textFields)[number]>;

const textFields = ['name', 'owner', 'expires', 'lifetime', 'preset'] as const;

type TokenErrors = FieldErrors<'name' | 'owner' | 'scopes' | 'expires' | 'workspaces'>;

export function addNewTokenPages(site: Site): void {
  const { storage } = site;
  const workspaceIds = async () => (await listWorkspaces(storage.read)).map(({ id }) => id);

  async function showForm(call: PageCall, id: string, entered: EnteredToken, errors: TokenErrors = {}): Promise<View> {
    const status = Object.keys(errors).length === 0 ? 200 : 422;
    const hidden = { preset: entered.preset, token_id: sealed(id, call.c.get('session').secret) };
    const main = tokenForm(hidden, entered, errors, await workspaceIds());
    return { title: 'New token', main, status };
  }

  // The URL contains the id, so that going back in the browser returns to the same form.
  addPage(site, { path: '/tokens/new', access: 'admin' }, async (call) => {
    const { form, preset } = queryOf(call, 'form', 'preset');
    const id = sealedTokenId(call, form);
    if (id === undefined) {
      return { to: addressWith('/tokens/new', { form: sealed(newTokenId(), call.c.get('session').secret), preset }) };
    }
    const made = await findToken(storage.read, storage.now, id);
    return made === undefined ? showForm(call, id, withPreset(newTokenDefaults, preset)) : madeBefore(made);
  });

  addAction(site, { path: '/tokens', access: 'admin' }, async (call) => {
    const id = sealedTokenId(call, call.form.text('token_id'));
    if (id === undefined) throw unknownForm();
    const origin = serviceOrigin(call, site.publicUrl());
    const entered = enteredToken(call.form);
    const chosen = call.form.text('choose-preset');
    if (chosen !== '') return showForm(call, id, withPreset(entered, chosen));
    const read = readNewToken(entered);
    if (!read.ok) return showForm(call, id, entered, read.errors);
    const outcome = await storage.commit('global', (db) =>
      createTokenOnce(db, storage.now, actorOf(call.c), { id, ...read.value }),
    );
    switch (outcome.kind) {
      case 'created': {
        const { token } = outcome;
        const [workspace] = token.workspaces ?? (await workspaceIds());
        const done = html`The token ${userText(token.name)} was created.`;
        const made = { ...outcome, origin, preset: entered.preset, done, workspace, now: call.now };
        return madeTokenView(made);
      }
      case 'made-before':
        return { ...madeBefore(outcome.token), status: 409 };
      case 'unknown-workspaces':
        return showForm(call, id, entered, { workspaces: `The workspace ${outcome.ids.join(', ')} no longer exists.` });
    }
  });
}

export const newTokenDefaults: EnteredToken = {
  ...noPermissions,
  name: '',
  owner: '',
  expires: '90d',
  lifetime: '',
  preset: '',
};

/** Selects the scopes of the preset, if it exists, and keeps everything else. */
const withPreset = (entered: EnteredToken, preset: string): EnteredToken =>
  isTokenPreset(preset) ? { ...entered, preset, scopes: tokenPresets[preset].scopes } : entered;

const tokenForm = (
  hidden: Readonly<Record<'preset' | 'token_id', string>>,
  entered: EnteredToken,
  errors: TokenErrors,
  workspaces: readonly string[],
): Markup =>
  postForm({
    action: '/tokens',
    hidden,
    fields: [
      fieldInput(tokenFields.name, 'name', entered.name),
      fieldInput(
        tokenFields.owner,
        'owner',
        entered.owner,
        'Every token of the same owner can renew and release them.',
      ),
      scopesField(entered, scopes, presetButtons(entered.preset)),
      group('expires', tokenFields.expires.title, (wrong) => endChoices(entered, wrong)),
      workspacesField(entered, workspaces, 'The token sees no others. Not possible with the scope admin.'),
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
        html`<button name="choose-preset" value="${name}" aria-pressed="${String(name === current)}">${title}</button>`,
    )}
  </div>`;

const lifetimes: ReadonlyMap<string, string> = new Map([
  ['30d', 'in 30 days'],
  ['90d', 'in 90 days'],
  ['365d', 'in a year'],
]);

const forEver = 'Anyone who finds it years from now can still use it. Revoke it when it is no longer needed.';

function endChoices({ expires, lifetime }: EnteredToken, wrong: boolean): Markup {
  const end = { type: 'radio', name: 'expires', chosen: [expires] } as const;
  return html`${choices({ ...end, options: [...lifetimes, ['other', 'after']] })}
    <div class="under">
      <label for="lifetime">Lifetime</label>
      <input id="lifetime" name="lifetime" value="${lifetime}" autocomplete="off" spellcheck="false" size="8" aria-describedby="lifetime-hint"${marked(wrong)}>
      <span class="hint" id="lifetime-hint">A whole number with s, m, h or d, such as 12h or 45d.</span>
    </div>
    ${choices({ ...end, options: [['never', 'never', forEver]] })}`;
}

const enteredToken = (form: Form): EnteredToken => ({ ...permissionsIn(form), ...enteredTexts(form, textFields) });

export function readNewToken(entered: EnteredToken): FormResult<NewToken, keyof TokenErrors> {
  const read = allValues({
    name: tokenFields.name.parse(entered.name),
    owner: entered.owner.trim() === '' ? accepted(undefined) : tokenFields.owner.parse(entered.owner),
    scopes: readScopes(entered),
    expires: readLifetime(entered),
    workspaces: readWorkspaces(entered),
  });
  if (!read.ok) return read;
  const { expires, ...values } = read.value;
  const limited = scopeLimitProblem(values.scopes, values.workspaces);
  if (limited === undefined) return { ok: true, value: { ...values, lifetime: expires } };
  return { ok: false, errors: { workspaces: `${limited} Let it see all, or choose other scopes.` } };
}

function readLifetime({ expires, lifetime }: EnteredToken): Parsed<Duration | null> {
  if (expires === 'never') return accepted(null);
  if (expires === 'other') return tokenFields.expires.parse(lifetime.trim());
  return lifetimes.has(expires) ? tokenFields.expires.parse(expires) : refused('Choose when the token expires.');
}

const madeBefore = ({ id, name, state }: Token): View => ({
  title: 'This token was already created',
  main: html`<p class="warning">This form already created the token ${userText(name)} and does not create a second one. The secret was shown
      then and cannot be shown again.</p>
    ${state === 'active' ? html`<p>If you did not keep it, <a href="/tokens/${id}/revoke">revoke the token</a> and <a href="/tokens/new">create another</a>.</p>` : ''}
    <p><a href="/tokens">All tokens</a></p>`,
});
