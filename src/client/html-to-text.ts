const unseen = /<(script|style|template)\b[^<>]*>.*?<\/\1\s*>|<!--.*?-->/gis;
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

/** What of a page a person would read; a text that is none comes back as it is. */
export function htmlToText(text: string): string {
  if (!looksLikeHtml(text)) return text;
  return text
    .replaceAll(unseen, ' ')
    .replaceAll(tag, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|apos|nbsp|amp);/g, (entity) => entities[entity] ?? entity);
}
