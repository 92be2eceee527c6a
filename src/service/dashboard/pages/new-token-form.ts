import { html } from 'hono/html';
import type { Duration } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { sealed } from '../../sessions/secret.ts';
import { scopeLimitProblem, tokenFields } from '../../tokens/new-token.ts';
import { isTokenPreset, tokenPresets } from '../../tokens/presets.ts';
import type { NewToken } from '../../tokens/tokens.ts';
import { choices, group, marked, problemSummary, textInput } from '../elements/fields.ts';
import type { Markup } from '../elements/text.ts';
import type { Form } from '../frame/form.ts';
import { allValues, type EnteredTexts, enteredTexts, type FieldErrors, type FormResult } from '../frame/form-values.ts';
import type { View } from '../frame/layout.ts';
import type { PageCall } from '../frame/page.ts';
import {
  noPermissions,
  type Permissions,
  permissionsIn,
  readScopes,
  readWorkspaces,
  scopeChoices,
  workspaceChoices,
} from './permissions.ts';

const titles = {
  name: tokenFields.name.title,
  owner: tokenFields.owner.title,
  scopes: 'Scopes',
  expires: tokenFields.expires.title,
  workspaces: 'Workspaces',
} as const;

type Field = keyof typeof titles;

const onlyThese = 'The token sees no others. Not possible with the scope admin.';

export interface NewTokenForm {
  /** Sealed id of the future token, so that sending the form twice creates one token. */
  readonly id: string;
  readonly entered: EnteredToken;
  readonly errors: TokenErrors;
  /** Ids of the available workspaces. */
  readonly workspaces: readonly string[];
}

/**
 * If `owner` is empty, the owner is the name. `expires` is one of the lifetimes, `other` (then `lifetime` applies) or
 * `never`. `preset` may be any text.
 */
export type EnteredToken = Permissions & EnteredTexts<(typeof textFields)[number]>;

const textFields = ['name', 'owner', 'expires', 'lifetime', 'preset'] as const;

export type TokenErrors = FieldErrors<Field>;

export function newTokenForm(call: PageCall, { id, entered, errors, workspaces }: NewTokenForm): View {
  const { secret } = call.c.get('session');
  const main = html`${problemSummary('No token was created.', titles, errors)}
    ${presetLinks(entered.preset)}
    <form method="post" action="/tokens" class="narrow">
      ${isTokenPreset(entered.preset) ? html`<input type="hidden" name="preset" value="${entered.preset}">` : ''}
      <input type="hidden" name="token_id" value="${sealed(id, secret)}">
      ${textInput(tokenFields.name, { name: 'name', value: entered.name, problem: errors.name })}
      ${textInput(tokenFields.owner, { name: 'owner', value: entered.owner, problem: errors.owner, more: 'Every token of the same owner can renew and release them.' })}
      ${groupOf('scopes', errors, scopeChoices(entered, errors.scopes !== undefined))}
      ${groupOf('expires', errors, endChoices(entered, errors.expires !== undefined))}
      ${groupOf('workspaces', errors, workspaceChoices(entered, errors.workspaces !== undefined, workspaces, onlyThese))}
      <div class="actions"><button class="primary">Create token</button> <a class="button" href="/tokens">Cancel</a></div>
    </form>`;
  return { title: 'New token', location: { section: 'tokens' }, main };
}

/** The empty form, with the scopes of the preset if it exists. */
export const defaultToken = (preset: string): EnteredToken => ({
  ...noPermissions,
  scopes: isTokenPreset(preset) ? tokenPresets[preset].scopes : [],
  name: '',
  owner: '',
  expires: '90d',
  lifetime: '',
  preset,
});

export const enteredToken = (form: Form): EnteredToken => ({
  ...permissionsIn(form),
  ...enteredTexts(form, textFields),
});

export function readNewToken(entered: EnteredToken): FormResult<NewToken, Field> {
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

const groupOf = (field: Field, errors: TokenErrors, content: Markup): Markup =>
  group({ id: field, title: titles[field], problem: errors[field], content });

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

const presetLinks = (current: string): Markup => html`<div class="actions">Preset:
    ${Object.entries(tokenPresets).map(
      ([name, { title }]) =>
        html`<a class="button" href="/tokens/new?preset=${name}"${name === current ? html` aria-current="true"` : ''}>${title}</a>`,
    )}
  </div>`;

function readLifetime({ expires, lifetime }: EnteredToken): Parsed<Duration | null> {
  if (expires === 'never') return accepted(null);
  if (expires === 'other') return tokenFields.expires.parse(lifetime.trim());
  return lifetimes.has(expires) ? tokenFields.expires.parse(expires) : refused('Choose when the token expires.');
}
