const tag = /<\/?[a-z!][^<>]*>/gi;

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&apos;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

export const looksLikeHtml = (text: string): boolean => /^\s*<(!doctype|html|head|body|!--)/i.test(text);

/** What begins a part of a page that nobody reads, and what ends it. */
const beginning = /<(?:(script|style|template)\b[^<>]*>|!--)/gi;

const ends: Readonly<Record<string, RegExp>> = {
  script: /<\/script\s*>/gi,
  style: /<\/style\s*>/gi,
  template: /<\/template\s*>/gi,
  comment: /-->/g,
};

/**
 * Without scripts, styles, templates and comments; one that does not end is left as it is. That there is no end is found
 * out once for each kind: looked for again at every beginning, a page of beginnings would take time that grows with the
 * square of its length.
 */
function withoutUnseen(text: string): string {
  const endless = new Set<string>();
  let seen = '';
  let from = 0;
  for (const { 0: begun, 1: name = 'comment', index } of text.matchAll(beginning)) {
    const kind = name.toLowerCase();
    const end = ends[kind];
    if (index < from || end === undefined || endless.has(kind)) continue;
    end.lastIndex = index + begun.length;
    if (end.test(text)) {
      seen += `${text.slice(from, index)} `;
      from = end.lastIndex;
    } else endless.add(kind);
  }
  return seen + text.slice(from);
}

/** What of a page a person would read; a text that is none comes back as it is. */
export function htmlToText(text: string): string {
  if (!looksLikeHtml(text)) return text;
  return withoutUnseen(text)
    .replaceAll(tag, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|apos|nbsp|amp);/g, (entity) => entities[entity] ?? entity);
}
