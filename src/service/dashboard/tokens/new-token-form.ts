import { html } from 'hono/html';
import { grants, type Scope, scopeMeanings, scopes } from '../../../interface/scopes.ts';
import { sealed } from '../../sessions/secret.ts';
import { choice, group, marked, problemBeside, problemId } from '../elements/fields.ts';
import type { Markup } from '../elements/markup.ts';
import { formField, type View } from '../layout.ts';
import type { PageCall } from '../page.ts';
import { type Field, fields, type Problems, presets, type Typed } from './read-new-token.ts';

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
    return html`${meaning} <strong>Whoever has it can do everything here, and make tokens for others.</strong> It is for
      people who look after the service, not for workflows.`;
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
    ${end('other', 'after another time')}
    <div class="under">
      <label for="lifetime">That time</label>
      <input id="lifetime" name="lifetime" value="${typed.lifetime}" autocomplete="off" spellcheck="false" size="8" aria-describedby="lifetime-hint"${marked(wrong)}>
      <span class="hint" id="lifetime-hint">A whole number and s, m, h or d, such as 12h or 45d.</span>
    </div>
    ${end('never', 'never', 'Whoever finds it in years can still use it. Revoke it yourself when it is not needed any more.')}`;
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
  return html`${reach('all', 'all, also those that are added later')}
    ${
      ids.length === 0
        ? html`<p class="hint">There is no workspace yet to choose.</p>`
        : html`${reach('some', 'only these', 'To the token there are no others. Not for the scope admin.')}
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

function summary(problems: Problems): Markup | string {
  const wrong = fields.filter((field) => problems[field] !== undefined);
  if (wrong.length === 0) return '';
  const links = wrong.map((field, index) => html`${index === 0 ? '' : ', '}<a href="#${field}">${titles[field]}</a>`);
  return html`<p class="warning" role="alert">No token was made. Look at ${links}.</p>`;
}

export interface NewTokenForm {
  /** The form brings back the id that its token will have, so that sending it twice makes one token. */
  readonly id: string;
  readonly typed: Typed;
  readonly problems: Problems;
  /** Those that can be chosen. */
  readonly workspaces: readonly string[];
}

export function newTokenForm(call: PageCall, { id, typed, problems, workspaces }: NewTokenForm): View {
  const { secret } = call.c.get('session');
  const main = html`${summary(problems)}
    <form method="post" action="/tokens" class="narrow">
      ${formField(call)}
      <input type="hidden" name="token_id" value="${sealed(id, secret)}">
      <div class="field">
        <label for="name">${titles.name}</label>
        <input id="name" name="name" value="${typed.name}" required autocomplete="off" spellcheck="false"
          aria-describedby="name-hint${problems.name === undefined ? '' : ` ${problemId('name')}`}"${marked(problems.name !== undefined)}>
        ${problemBeside('name', problems.name)}
        <p class="hint" id="name-hint">It is shown as the owner of its locks, so say who or what uses it, such as “ci of dragon”.</p>
      </div>
      ${groupOf('scopes', problems, scopeChoices(typed, problems.scopes !== undefined))}
      ${groupOf('expires', problems, endChoices(typed, problems.expires !== undefined))}
      ${groupOf('workspaces', problems, workspaceChoices(typed, workspaces, problems.workspaces !== undefined))}
      <div class="actions"><button class="primary">Make the token</button> <a class="button" href="/tokens">Cancel</a></div>
    </form>`;
  return { title: 'New token', place: { section: 'tokens' }, main, styles: ['tokens.css'] };
}
