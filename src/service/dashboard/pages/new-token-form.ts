import { html } from 'hono/html';
import type { Duration } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { sealed } from '../../sessions/secret.ts';
import { parseLifetime, parseTokenName, parseTokenOwner, scopeLimitProblem } from '../../tokens/new-token.ts';
import { isTokenPreset, tokenPresets } from '../../tokens/presets.ts';
import type { NewToken } from '../../tokens/tokens.ts';
import { choices, field, group, marked, problemSummary } from '../elements/fields.ts';
import type { Markup } from '../elements/text.ts';
import { type Form, formField } from '../frame/form.ts';
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
  name: 'Name',
  owner: 'Owner',
  scopes: 'Scopes',
  expires: 'Expires',
  workspaces: 'Workspaces',
} as const;

type Field = keyof typeof titles;

const onlyThese = 'The token sees no others. Not possible with the scope admin.';

export interface NewTokenForm {
  /** The form carries the id of its future token, so that sending it twice creates one token. */
  readonly id: string;
  readonly typed: Typed;
  readonly problems: Problems;
  /** To choose from. */
  readonly workspaces: readonly string[];
}

/** The form as typed and chosen. */
export interface Typed extends Permissions {
  readonly name: string;
  /** Empty: the name. */
  readonly owner: string;
  /** One of the lifetimes, `other` or `never`. */
  readonly expires: string;
  /** Counts where `expires` is `other`. */
  readonly lifetime: string;
  /** The name of the preset, or any text. */
  readonly preset: string;
}

/** A sentence for each wrong field. */
export type Problems = Partial<Readonly<Record<Field, string>>>;

export function newTokenForm(call: PageCall, { id, typed, problems, workspaces }: NewTokenForm): View {
  const { secret } = call.c.get('session');
  const main = html`${problemSummary('No token was created.', titles, problems)}
    ${presetLinks(typed.preset)}
    <form method="post" action="/tokens" class="narrow">
      ${formField(call)}
      ${isTokenPreset(typed.preset) ? html`<input type="hidden" name="preset" value="${typed.preset}">` : ''}
      <input type="hidden" name="token_id" value="${sealed(id, secret)}">
      ${field({
        id: 'name',
        title: titles.name,
        problem: problems.name,
        hint: 'Say who or what uses it, such as “dragon ci”.',
        control: (aria) =>
          html`<input id="name" name="name" value="${typed.name}" required autocomplete="off" spellcheck="false"${aria}>`,
      })}
      ${field({
        id: 'owner',
        title: titles.owner,
        problem: problems.owner,
        hint: 'Its locks belong to the owner: every token of the same owner can renew and release them. Case counts. Without one, the owner is the name of the token.',
        control: (aria) =>
          html`<input id="owner" name="owner" value="${typed.owner}" autocomplete="off" spellcheck="false"${aria}>`,
      })}
      ${groupOf('scopes', problems, scopeChoices(typed, problems.scopes !== undefined))}
      ${groupOf('expires', problems, endChoices(typed, problems.expires !== undefined))}
      ${groupOf('workspaces', problems, workspaceChoices(typed, problems.workspaces !== undefined, workspaces, onlyThese))}
      <div class="actions"><button class="primary">Create token</button> <a class="button" href="/tokens">Cancel</a></div>
    </form>`;
  return { title: 'New token', location: { section: 'tokens' }, main };
}

/** The empty form, with the scopes of a preset if there is one of this name. */
export const typedFor = (preset: string): Typed => ({
  ...noPermissions,
  scopes: isTokenPreset(preset) ? tokenPresets[preset].scopes : [],
  name: '',
  owner: '',
  expires: '90d',
  lifetime: '',
  preset,
});

export const typedIn = (form: Form): Typed => ({
  ...permissionsIn(form),
  name: form.text('name'),
  owner: form.text('owner'),
  expires: form.text('expires'),
  lifetime: form.text('lifetime'),
  preset: form.text('preset'),
});

export type Reading =
  | { readonly kind: 'new-token'; readonly newToken: NewToken }
  | { readonly kind: 'wrong'; readonly problems: Problems };

/** Reports all mistakes at once. */
export function readNewToken(typed: Typed): Reading {
  const name = parseTokenName(typed.name);
  const owner = typed.owner.trim() === '' ? accepted(undefined) : parseTokenOwner(typed.owner);
  const scopes = readScopes(typed);
  const lifetime = readLifetime(typed);
  const workspaces = readWorkspaces(typed);
  const limited = scopes.ok && workspaces.ok ? scopeLimitProblem(scopes.value, workspaces.value) : undefined;
  if (name.ok && owner.ok && scopes.ok && lifetime.ok && workspaces.ok && limited === undefined) {
    return {
      kind: 'new-token',
      newToken: {
        name: name.value,
        owner: owner.value,
        scopes: scopes.value,
        lifetime: lifetime.value,
        workspaces: workspaces.value,
      },
    };
  }
  const all = {
    name: problemOf(name),
    owner: problemOf(owner),
    scopes: problemOf(scopes),
    expires: problemOf(lifetime),
    workspaces: problemOf(workspaces) ?? (limited && `${limited} Let it see all, or choose other scopes.`),
  };
  return {
    kind: 'wrong',
    problems: Object.fromEntries(Object.entries(all).filter(([, reason]) => reason !== undefined)),
  };
}

const groupOf = (field: Field, problems: Problems, content: Markup): Markup =>
  group({ id: field, title: titles[field], problem: problems[field], content });

const lifetimes: ReadonlyMap<string, string> = new Map([
  ['30d', 'in 30 days'],
  ['90d', 'in 90 days'],
  ['365d', 'in a year'],
]);

const forEver = 'Anyone who finds it years from now can still use it. Revoke it when it is no longer needed.';

function endChoices({ expires, lifetime }: Typed, wrong: boolean): Markup {
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

function readLifetime({ expires, lifetime }: Typed): Parsed<Duration | null> {
  if (expires === 'never') return accepted(null);
  if (expires === 'other') return parseLifetime(lifetime.trim());
  return lifetimes.has(expires) ? parseLifetime(expires) : refused('Choose when the token expires.');
}

const problemOf = (parsed: Parsed<unknown>): string | undefined => (parsed.ok ? undefined : parsed.reason);
