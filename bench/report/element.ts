/** HTML and SVG that is known to be well-formed; a plain string is text, and is escaped. */
export interface Markup {
  readonly html: string;
}

export type Child = Markup | string;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');

/** A number in SVG: a tenth of a pixel is fine enough. */
const attributeText = (value: string | number): string =>
  typeof value === 'number' ? String(Math.round(value * 10) / 10) : escaped(value);

export function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly Child[]
): Markup {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${attributeText(value)}"`);
  const content = children.map((child) => (typeof child === 'string' ? escaped(child) : child.html));
  return { html: `<${name}${given.join('')}>${content.join('')}</${name}>` };
}
