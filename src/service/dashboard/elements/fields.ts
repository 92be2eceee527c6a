import { html } from 'hono/html';
import type { Field } from '../../contract/field.ts';
import type { Markup } from './text.ts';

interface LabelledControl {
  readonly id: string;
  readonly title: string;
  readonly problem: Markup | string | undefined;
  readonly hint?: Markup | string;
  /** Renders the control with these ARIA attributes. */
  readonly control: (attributes: Markup) => Markup;
}

export function field({ id, title, problem, hint, control }: LabelledControl): Markup {
  const about = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`].join(' ').trim();
  const described = about === '' ? '' : html` aria-describedby="${about}"`;
  return html`<div class="field">
    <label for="${id}">${title}</label>
    ${control(html`${described}${marked(problem !== undefined)}`)}
    ${problemBeside(id, problem)}
    ${hint === undefined ? '' : html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}

interface TextInput {
  readonly name: string;
  readonly value: string;
  readonly problem: string | undefined;
  /** Shown after the hint of the field. */
  readonly more?: Markup | string;
}

/** An input for a single line of text. */
export const textInput = (shown: Field<unknown>, { name, value, problem, more = '' }: TextInput): Markup =>
  field({
    id: name,
    title: shown.title,
    problem,
    hint: html`${hintOf(shown)} ${more}`,
    control: (aria) =>
      html`<input id="${name}" name="${name}" value="${value}"${shown.otherwise === 'required' ? ' required' : ''} autocomplete="off" autocapitalize="none" spellcheck="false"${aria}>`,
  });

/** The hint of a field as a sentence, with the default. */
export const hintOf = ({ hint, otherwise }: Field<unknown>): string =>
  `${hint[0]?.toUpperCase()}${hint.slice(1)}${otherwise === 'required' ? '' : ` (${otherwise})`}.`;

interface Group extends Pick<LabelledControl, 'id' | 'title' | 'problem'> {
  readonly content: Markup;
}

/** A fieldset that shows the error. The caller marks its first control. */
export const group = ({ id, title, problem, content }: Group): Markup => html`
  <fieldset id="${id}"${problem === undefined ? '' : html` aria-describedby="${id}-problem"`}>
    <legend>${title}</legend>
    ${problemBeside(id, problem)}
    ${content}
  </fieldset>`;

interface Choices {
  readonly type: 'checkbox' | 'radio';
  readonly name: string;
  readonly chosen: readonly string[];
  readonly wrong?: boolean;
  readonly options: readonly (readonly [value: string, label: Markup | string, hint?: Markup | string | undefined])[];
}

/** Checkboxes or radio buttons. If the choice is wrong, the first one is marked as invalid. */
export function choices({ type, name, chosen, wrong = false, options }: Choices): Markup {
  const choice = ([value, label, hint]: Choices['options'][number], index: number) => {
    const id = `${name}-${value}`;
    return html`<div class="choice">
      <input type="${type}" id="${id}" name="${name}" value="${value}"${chosen.includes(value) ? ' checked' : ''}${hint === undefined ? '' : html` aria-describedby="${id}-hint"`}${marked(wrong && index === 0)}>
      <label for="${id}">${label}</label>
      ${hint === undefined ? '' : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    </div>`;
  };
  return html`${options.map(choice)}`;
}

export const option = (value: string, text: string, chosen: string): Markup =>
  html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`;

/** Summary above a rejected form, with links to the invalid fields. */
export function problemSummary<Name extends string>(
  nothingDone: string,
  titles: Readonly<Record<Name, string>>,
  problems: Partial<Readonly<Record<Name, string>>>,
  more = '',
): Markup | string {
  // The titles contain exactly the fields of the form, in its order.
  const wrong = (Object.keys(titles) as Name[]).filter((field) => problems[field] !== undefined);
  if (wrong.length === 0) return '';
  const links = wrong.map((field, index) => html`${index === 0 ? '' : ', '}<a href="#${field}">${titles[field]}</a>`);
  return html`<p class="warning" role="alert">${nothingDone} Check ${links}. ${more}</p>`;
}

export const marked = (wrong: boolean): Markup | string => (wrong ? html` aria-invalid="true"` : '');

/** Error message of a field. */
const problemBeside = (id: string, problem: Markup | string | undefined): Markup | string =>
  problem === undefined ? '' : html`<p class="problem" id="${id}-problem" role="alert">${problem}</p>`;
