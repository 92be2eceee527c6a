import { html } from 'hono/html';
import type { Refusal } from '../../contract/response.ts';
import type { Markup } from './markup.ts';

/** The form of a request; empty if it has none. If it was refused, it is shown again with its values and errors. */
export interface SentForm {
  readonly form: URLSearchParams;
  readonly refusal?: Refusal;
}

interface PostForm {
  readonly action: string;
  readonly defaults?: URLSearchParams;
  readonly sent?: SentForm;
  readonly hidden?: Readonly<Record<string, string>>;
  readonly fields?: readonly FormField[];
  readonly button: string;
  readonly kind?: 'danger' | 'plain' | 'primary';
  /** Links and buttons next to the submit button. */
  readonly more?: Markup | string;
}

/** A form that changes data. */
export function postForm({ action, hidden = {}, fields = [], button, kind = 'primary', ...rest }: PostForm): Markup {
  const { defaults = new URLSearchParams(), sent, more = '' } = rest;
  const values = sent?.refusal === undefined ? defaults : sent.form;
  const errors = sent?.refusal?.extras.errors ?? [];
  const problems: FieldErrors = Object.fromEntries(errors.map(({ pointer, detail }) => [pointer.slice(2), detail]));
  return html`<form method="post" action="${action}" class="narrow">
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
    ${fields.map((field) => field(values, problems))}
    <div class="row"><button class="${kind}">${button}</button> ${more}</div>
  </form>`;
}

interface FilterForm {
  readonly action: string;
  readonly values: Readonly<Record<string, string>>;
  readonly fields: readonly FormField[];
  readonly isFiltered: boolean;
}

/** A form that filters a list. */
export const filterForm = ({ action, values, fields, isFiltered }: FilterForm): Markup =>
  html`<form method="get" action="${action}" class="row filters" role="search">
    ${fields.map((field) => field(new URLSearchParams(values), {}))}
    <button>Show</button>
    ${isFiltered ? html`<a href="${action}">Show all</a>` : ''}
  </form>`;

/** Renders an input, or a group of inputs, with its value and its error. */
export type FormField = (values: URLSearchParams, errors: FieldErrors) => Markup;

/** Errors by the name of the field. */
type FieldErrors = Readonly<Record<string, string | undefined>>;

interface InputOptions {
  readonly hint?: Markup | string;
  readonly type?: 'text' | 'search' | 'date' | 'password';
  readonly attributes?: Markup;
}

export const textInput =
  (name: string, title: string, { hint, type = 'text', attributes = html`` }: InputOptions = {}): FormField =>
  (values, { [name]: problem }) => {
    const about = [hint === undefined ? '' : `${name}-hint`, problem === undefined ? '' : `${name}-problem`];
    const described = about.join(' ').trim();
    const aria = html`${described === '' ? '' : html` aria-describedby="${described}"`}${invalidMark(problem)}`;
    const complete = type === 'password' ? 'current-password' : 'off';
    return html`<div class="field">
      <label for="${name}">${title}</label>
      <input id="${name}" name="${name}" value="${values.get(name) ?? ''}" type="${type}"${attributes} autocomplete="${complete}" autocapitalize="none" spellcheck="false"${aria}>
      ${fieldProblem(name, problem)}
      ${hint === undefined ? '' : html`<p class="hint" id="${name}-hint">${hint}</p>`}
    </div>`;
  };

/** If the choice is invalid, the first box is marked. */
export const checkboxes =
  (
    name: string,
    title: string,
    options: readonly (readonly [value: string, label: Markup, hint: Markup | string])[],
  ): FormField =>
  (values, { [name]: problem }) => {
    const chosen = values.getAll(name);
    const choice = ([value, label, hint]: (typeof options)[number], index: number) => {
      const id = `${name}-${value}`;
      return html`<div>
        <input type="checkbox" id="${id}" name="${name}" value="${value}"${chosen.includes(value) ? ' checked' : ''} aria-describedby="${id}-hint"${index === 0 ? invalidMark(problem) : ''}>
        <label for="${id}">${label}</label>
        <p class="hint" id="${id}-hint">${hint}</p>
      </div>`;
    };
    return html`<fieldset id="${name}"${problem === undefined ? '' : html` aria-describedby="${name}-problem"`}>
      <legend>${title}</legend>
      ${fieldProblem(name, problem)}
      ${options.map(choice)}
    </fieldset>`;
  };

const invalidMark = (problem: string | undefined): Markup | string =>
  problem === undefined ? '' : html` aria-invalid="true"`;

const fieldProblem = (id: string, problem: string | undefined): Markup | string =>
  problem === undefined ? '' : html`<p class="problem" id="${id}-problem">${problem}</p>`;

export const buttonLink = (href: string, text: string): Markup => html`<a class="button" href="${href}">${text}</a>`;
