import { html } from 'hono/html';
import type { Duration } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { grants, isScope, type Scope, scopeMeanings, scopes } from '../../../interface/scopes.ts';
import { sealed } from '../../sessions/secret.ts';
import { parseLifetime, parseTokenName, whyNotLimited } from '../../tokens/new-token.ts';
import type { NewToken } from '../../tokens/tokens.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { choice, group, marked, problemBeside, problemId, problemSummary } from '../elements/fields.ts';
import type { Markup } from '../elements/text.ts';
import { type Form, formField } from '../frame/form.ts';
import type { View } from '../frame/layout.ts';
import type { PageCall } from '../frame/page.ts';

const titles: Readonly<Record<Field, string>> = {
  name: 'Name',
  scopes: 'Scopes',
  expires: 'Expires',
  workspaces: 'Workspaces',
};

const presetTitles: Readonly<Record<(typeof presets)[number], string>> = {
  '30d': 'in 30 days',
  '90d': 'in 90 days',
  '365d': 'in a year',
};

const groupOf = (field: Field, problems: Problems, content: Markup): Markup =>
  group({ id: field, title: titles[field], problem: problems[field], content });

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}.`;

function hintOf(scope: Scope): Markup | string {
  const meaning = sentence(scopeMeanings[scope]);
  if (scope === 'admin') {
    return html`${meaning} <strong>Whoever has it can do everything here and create tokens for others.</strong> It is for
      people who run the service, not for workflows.`;
  }
  const implied = scopes.filter((other) => other !== scope && grants([scope], other));
  return implied.length === 0 ? meaning : html`${meaning} Includes ${implied.join(' and ')}.`;
}

const scopeChoices = (typed: Typed, wrong: boolean): Markup =>
  html`${scopes.map((scope) =>
    choice({
      type: 'checkbox',
      name: 'scope',
      value: scope,
      checked: typed.scopes.includes(scope),
      label: html`<code>${scope}</code>`,
      hint: hintOf(scope),
      wrong: wrong && scope === scopes[0],
    }),
  )}`;

const endChoices = (typed: Typed, wrong: boolean): Markup => {
  const end = (value: string, label: string, hint?: string) =>
    choice({
      type: 'radio',
      name: 'expires',
      value,
      checked: typed.expires === value,
      label,
      ...(hint !== undefined && { hint }),
    });
  return html`${presets.map((preset) => end(preset, presetTitles[preset]))}
    ${end('other', 'after')}
    <div class="under">
      <label for="lifetime">Lifetime</label>
      <input id="lifetime" name="lifetime" value="${typed.lifetime}" autocomplete="off" spellcheck="false" size="8" aria-describedby="lifetime-hint"${marked(wrong)}>
      <span class="hint" id="lifetime-hint">A whole number with s, m, h or d, such as 12h or 45d.</span>
    </div>
    ${end('never', 'never', 'Anyone who finds it years from now can still use it. Revoke it when it is no longer needed.')}`;
};

const workspaceChoices = (typed: Typed, ids: readonly string[], wrong: boolean): Markup => {
  const reach = (value: string, label: string, hint?: string) =>
    choice({
      type: 'radio',
      name: 'reach',
      value,
      checked: typed.reach === value,
      label,
      ...(hint !== undefined && { hint }),
    });
  return html`${reach('all', 'all, including those added later')}
    ${
      ids.length === 0
        ? html`<p class="hint">There are no workspaces yet.</p>`
        : html`${reach('some', 'only these', 'The token sees no others. Not possible with the scope admin.')}
          <div class="under">
            ${ids.map((id, index) =>
              choice({
                type: 'checkbox',
                name: 'workspace',
                value: id,
                checked: typed.workspaces.includes(id),
                label: id,
                wrong: wrong && index === 0,
              }),
            )}
          </div>`
    }`;
};

export interface NewTokenForm {
  /** The form carries the id of its future token, so that sending it twice creates one token. */
  readonly id: string;
  readonly typed: Typed;
  readonly problems: Problems;
  /** To choose from. */
  readonly workspaces: readonly string[];
}

export function newTokenForm(call: PageCall, { id, typed, problems, workspaces }: NewTokenForm): View {
  const { secret } = call.c.get('session');
  const main = html`${problemSummary('No token was created.', titles, problems)}
    <form method="post" action="/tokens" class="narrow">
      ${formField(call)}
      <input type="hidden" name="token_id" value="${sealed(id, secret)}">
      <div class="field">
        <label for="name">${titles.name}</label>
        <input id="name" name="name" value="${typed.name}" required autocomplete="off" spellcheck="false"
          aria-describedby="name-hint${problems.name === undefined ? '' : ` ${problemId('name')}`}"${marked(problems.name !== undefined)}>
        ${problemBeside('name', problems.name)}
        <p class="hint" id="name-hint">It is shown as the owner of its locks, so say who or what uses it, such as “dragon ci”.</p>
      </div>
      ${groupOf('scopes', problems, scopeChoices(typed, problems.scopes !== undefined))}
      ${groupOf('expires', problems, endChoices(typed, problems.expires !== undefined))}
      ${groupOf('workspaces', problems, workspaceChoices(typed, workspaces, problems.workspaces !== undefined))}
      <div class="actions"><button class="primary">Create token</button> <a class="button" href="/tokens">Cancel</a></div>
    </form>`;
  return { title: 'New token', location: { section: 'tokens' }, main };
}

/** The form as typed and chosen. */
export interface Typed {
  readonly name: string;
  readonly scopes: readonly string[];
  /** One of the presets, `other` or `never`. */
  readonly expires: string;
  /** Counts where `expires` is `other`. */
  readonly lifetime: string;
  /** `all` or `some`. */
  readonly reach: string;
  /** Count where `reach` is `some`. */
  readonly workspaces: readonly string[];
}

export const presets = ['30d', '90d', '365d'] as const;

export const untouched: Typed = { name: '', scopes: [], expires: '90d', lifetime: '', reach: 'all', workspaces: [] };

export const typedIn = (form: Form): Typed => ({
  name: form.text('name'),
  scopes: form.all('scope'),
  expires: form.text('expires'),
  lifetime: form.text('lifetime'),
  reach: form.text('reach'),
  workspaces: form.all('workspace'),
});

export const fields = ['name', 'scopes', 'expires', 'workspaces'] as const;

export type Field = (typeof fields)[number];

/** A sentence for each wrong field. */
export type Problems = Partial<Readonly<Record<Field, string>>>;

export type Reading =
  | { readonly kind: 'new-token'; readonly newToken: NewToken }
  | { readonly kind: 'wrong'; readonly problems: Problems };

function readScopes(texts: readonly string[]): Parsed<readonly Scope[]> {
  const scopes = [...new Set(texts.filter(isScope))];
  if (texts.some((text) => !isScope(text))) return refused('One of these scopes is unknown. Choose again.');
  return scopes.length === 0 ? refused('Choose at least one scope.') : accepted(scopes);
}

function readLifetime({ expires, lifetime }: Typed): Parsed<Duration | null> {
  if (expires === 'never') return accepted(null);
  if (expires === 'other') return parseLifetime(lifetime.trim());
  const preset = presets.find((each) => each === expires);
  return preset === undefined ? refused('Choose when the token expires.') : parseLifetime(preset);
}

function readWorkspaces({ reach, workspaces }: Typed): Parsed<readonly string[] | null> {
  if (reach === 'all') return accepted(null);
  if (reach !== 'some') return refused('Choose which workspaces the token sees.');
  if (workspaces.length === 0) return refused('Choose at least one workspace, or all.');
  const unfit = workspaces.map(parseWorkspaceId).find((id) => !id.ok);
  return unfit === undefined || unfit.ok ? accepted([...new Set(workspaces)]) : unfit;
}

const problemOf = (parsed: Parsed<unknown>): string | undefined => (parsed.ok ? undefined : parsed.why);

/** Reports all mistakes at once. */
export function readNewToken(typed: Typed): Reading {
  const name = parseTokenName(typed.name);
  const scopes = readScopes(typed.scopes);
  const lifetime = readLifetime(typed);
  const workspaces = readWorkspaces(typed);
  const limited = scopes.ok && workspaces.ok ? whyNotLimited(scopes.value, workspaces.value) : undefined;
  if (name.ok && scopes.ok && lifetime.ok && workspaces.ok && limited === undefined) {
    return {
      kind: 'new-token',
      newToken: { name: name.value, scopes: scopes.value, lifetime: lifetime.value, workspaces: workspaces.value },
    };
  }
  const all = {
    name: problemOf(name),
    scopes: problemOf(scopes),
    expires: problemOf(lifetime),
    workspaces: problemOf(workspaces) ?? (limited && `${limited} Let it see all, or choose other scopes.`),
  };
  const problems = fields.flatMap((field) => (all[field] === undefined ? [] : [[field, all[field]] as const]));
  return { kind: 'wrong', problems: Object.fromEntries(problems) };
}
