import { html } from 'hono/html';
import type { Markup } from './text.ts';

export const problemId = (field: string): string => `${field}-problem`;

/** What is wrong with a field. */
export const problemBeside = (field: string, problem: string | undefined): Markup | string =>
  problem === undefined ? '' : html`<p class="problem" id="${problemId(field)}" role="alert">${problem}</p>`;

export const marked = (wrong: boolean): Markup | string => (wrong ? html` aria-invalid="true"` : '');

export interface Group {
  readonly id: string;
  readonly title: string;
  readonly problem: string | undefined;
  readonly content: Markup | readonly Markup[];
}

/** The group names the problem; its first control is marked. */
export const group = ({ id, title, problem, content }: Group): Markup => html`
  <fieldset id="${id}"${problem === undefined ? '' : html` aria-describedby="${problemId(id)}"`}>
    <legend>${title}</legend>
    ${problemBeside(id, problem)}
    ${content}
  </fieldset>`;

export interface Choice {
  readonly type: 'checkbox' | 'radio';
  readonly name: string;
  readonly value: string;
  readonly checked: boolean;
  readonly label: Markup | string;
  readonly hint?: Markup | string;
  readonly wrong?: boolean;
}

export function choice({ type, name, value, checked, label, hint, wrong = false }: Choice): Markup {
  const id = `${name}-${value}`;
  return html`<div class="choice">
    <input type="${type}" id="${id}" name="${name}" value="${value}"${checked ? ' checked' : ''}${hint === undefined ? '' : html` aria-describedby="${id}-hint"`}${marked(wrong)}>
    <label for="${id}">${label}</label>
    ${hint === undefined ? '' : html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}

export const option = (value: string, text: string, chosen: string): Markup =>
  html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`;

/** Above a form that was sent back: which of its fields are wrong, each with a link to it. */
export function problemSummary<Field extends string>(
  nothingDone: string,
  titles: Readonly<Record<Field, string>>,
  problems: Partial<Readonly<Record<Field, string>>>,
  more = '',
): Markup | string {
  // The titles are in the order of the form, and have its fields and no others.
  const wrong = (Object.keys(titles) as Field[]).filter((field) => problems[field] !== undefined);
  if (wrong.length === 0) return '';
  const links = wrong.map((field, index) => html`${index === 0 ? '' : ', '}<a href="#${field}">${titles[field]}</a>`);
  return html`<p class="warning" role="alert">${nothingDone} Look at ${links}. ${more}</p>`;
}
