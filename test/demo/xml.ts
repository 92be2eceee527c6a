export interface XmlTag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A tag with quoted attributes, or text; neither contains a bare `&`. The pictures use no other XML syntax. */
const token = /<(\/?)([\w:]+)((?:\s+[\w:-]+="(?:[^"<&]|&\w+;)*")*)\s*(\/?)>|(?:[^<&]|&(?:amp|lt|gt|quot|#\d+);)+/gy;

/** Returns the tags of a well-formed document with one root. Throws for any other text. */
export function readXml(text: string): readonly XmlTag[] {
  const tags: XmlTag[] = [];
  const open: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const from = token.lastIndex;
    const found = token.exec(text);
    if (found === null) throw new Error(`No XML: ${text.slice(from, from + 40)}`);
    const [whole, closes, name, attributes = '', isEmpty] = found;
    if (open.length === 0 && from > 0 && whole.trim() !== '') throw new Error(`Behind the root: ${whole}`);
    if (name === undefined) continue;
    if (closes === '/') {
      if (open.pop() !== name) throw new Error(`Not open: ${name}`);
      continue;
    }
    const pairs = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value]);
    tags.push({ name, attributes: Object.fromEntries(pairs) });
    if (isEmpty === '') open.push(name);
  }
  if (open.length > 0) throw new Error(`Left open: ${open}`);
  return tags;
}
