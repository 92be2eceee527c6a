import { html } from 'hono/html';
import type { Field } from '../../contract/field.ts';
import { commaSeparated, type Markup } from './text.ts';

/** Values that people entered, or the defaults of a form. */
export interface FieldValues {
  all(name: string): readonly string[];
}

interface PostForm {
  readonly action: string;
  readonly values?: FieldValues;
  readonly hidden?: Readonly<Record<string, string>>;
  readonly fields?: readonly FormField[];
  /** By the id of the field. */
  readonly errors?: Readonly<Record<string, Markup | string | undefined>>;
  /** Start of the summary of errors, which is omitted without it. */
  readonly nothingDone?: string;
  readonly button: string;
  readonly kind?: 'danger' | 'plain';
  /** A link next to the button. */
  readonly cancel?: Markup;
}

/** A form that changes something. If it was rejected, a summary with links to the invalid fields comes first. */
export function postForm(form: PostForm): Markup {
  const { action, values = noValues, hidden = {}, fields = [], errors = {}, button, kind, cancel } = form;
  return html`${problemSummary(form)}
    <form method="post" action="${action}" class="narrow">
      ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
      ${fields.map(({ id, render }) => render(values, errors[id]))}
      <div class="actions"><button class="${kind ?? 'primary'}">${button}</button> ${cancel ?? ''}</div>
    </form>`;
}

const noValues: FieldValues = { all: () => [] };

interface FilterForm {
  readonly action: string;
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly fields: readonly FormField[];
  /** The text of a link to the complete list; omitted if the list is complete. */
  readonly showAll?: string | undefined;
}

/** A form that selects the rows of a list. */
export const filterForm = ({ action, values, fields, showAll }: FilterForm): Markup =>
  html`<form method="get" action="${action}" class="filters" role="search">
    ${fields.map(({ render }) => render({ all: (name) => [values[name] ?? ''] }, undefined))}
    <button>Show</button>
    ${showAll === undefined ? '' : html`<a href="${action}">${showAll}</a>`}
  </form>`;

/** An input or a group of inputs, which shows its error. */
export interface FormField {
  readonly id: string;
  readonly title: string;
  readonly render: (values: FieldValues, problem: Markup | string | undefined) => Markup;
}

interface LabelledControl extends Omit<FormField, 'render'> {
  readonly hint?: Markup | string | undefined;
  /** Renders the control with these ARIA attributes. */
  readonly control: (attributes: Markup, value: string) => Markup;
}

export const field = ({ id, title, hint, control }: LabelledControl): FormField => ({
  id,
  title,
  render(values, problem) {
    const about = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`];
    const described = about.join(' ').trim();
    const aria = described === '' ? '' : html` aria-describedby="${described}"`;
    return html`<div class="field">
      <label for="${id}">${title}</label>
      ${control(html`${aria}${invalidMark(problem !== undefined)}`, enteredValue(values, id))}
      ${fieldProblem(id, problem)}
      ${hint === undefined ? '' : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    </div>`;
  },
});

const enteredValue = (values: FieldValues, name: string): string => values.all(name)[0] ?? '';

interface InputOptions {
  readonly hint?: Markup | string;
  readonly type?: 'text' | 'search' | 'date' | 'password';
  /** For text of several lines. */
  readonly rows?: number;
  readonly attributes?: Markup;
}

/** An input for text. A password is not shown again. Browsers ignore a line end at the start of a text area. */
export const textInput = (
  name: string,
  title: string,
  { hint, type = 'text', rows, attributes = html`` }: InputOptions = {},
): FormField =>
  field({
    id: name,
    title,
    hint,
    control(aria, value) {
      const common = html`${attributes} autocomplete="off" autocapitalize="none" spellcheck="false"${aria}`;
      return rows === undefined
        ? html`<input id="${name}" name="${name}" value="${type === 'password' ? '' : value}"${common} type="${type}">`
        : html`<textarea id="${name}" name="${name}" rows="${rows}"${common}>
${value}</textarea>`;
    },
  });

/** An input for a field that a command has as a flag. `more` is shown after its hint. */
export function fieldInput(of: Field<unknown>, name: string, more: Markup | string = ''): FormField {
  const required = of.otherwise === 'required';
  const hint = html`${hintOf(of)} ${more}`;
  return textInput(name, of.title, { hint, ...(required && { attributes: html` required` }) });
}

/** The hint of a field as sentences. */
export const hintOf = ({ hint, otherwise }: Field<unknown>): string =>
  `${hint[0]?.toUpperCase()}${hint.slice(1)}${otherwise === 'required' ? '' : ` (${otherwise})`}.`;

/** A fieldset, whose content marks its first control as invalid if the choice is wrong. */
export const group = (
  id: string,
  title: string,
  content: (values: FieldValues, wrong: boolean) => Markup,
): FormField => ({
  id,
  title,
  render: (values, problem) => html`
    <fieldset id="${id}"${problem === undefined ? '' : html` aria-describedby="${id}-problem"`}>
      <legend>${title}</legend>
      ${fieldProblem(id, problem)}
      ${content(values, problem !== undefined)}
    </fieldset>`,
});

interface Choices {
  readonly type: 'checkbox' | 'radio';
  readonly name: string;
  readonly wrong?: boolean;
  readonly options: readonly (readonly [value: string, label: Markup | string, hint?: Markup | string | undefined])[];
}

/** Checkboxes or radio buttons. If the choice is wrong, the first one is marked as invalid. */
export function choices(values: FieldValues, { type, name, wrong = false, options }: Choices): Markup {
  const chosen = values.all(name);
  const choice = ([value, label, hint]: Choices['options'][number], index: number) => {
    const id = `${name}-${value}`;
    return html`<div class="choice">
      <input type="${type}" id="${id}" name="${name}" value="${value}"${chosen.includes(value) ? ' checked' : ''}${hint === undefined ? '' : html` aria-describedby="${id}-hint"`}${invalidMark(wrong && index === 0)}>
      <label for="${id}">${label}</label>
      ${hint === undefined ? '' : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    </div>`;
  };
  return html`${options.map(choice)}`;
}

export const selection = (
  name: string,
  title: string,
  options: readonly (readonly [value: string, text: string])[],
): FormField =>
  field({
    id: name,
    title,
    control: (aria, chosen) =>
      html`<select id="${name}" name="${name}"${aria}>${options.map(
        ([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`,
      )}</select>`,
  });

const invalidMark = (wrong: boolean): Markup | string => (wrong ? html` aria-invalid="true"` : '');

export const buttonLink = (href: string, text: string): Markup => html`<a class="button" href="${href}">${text}</a>`;

function problemSummary({ fields = [], errors = {}, nothingDone }: PostForm): Markup | string {
  const wrong = fields.filter(({ id }) => errors[id] !== undefined);
  if (nothingDone === undefined || wrong.length === 0) return '';
  const links = wrong.map(({ id, title }) => html`<a href="#${id}">${title}</a>`);
  return html`<p class="warning" role="alert">${nothingDone} Check ${commaSeparated(links)}.</p>`;
}

const fieldProblem = (id: string, problem: Markup | string | undefined): Markup | string =>
  problem === undefined ? '' : html`<p class="problem" id="${id}-problem" role="alert">${problem}</p>`;
