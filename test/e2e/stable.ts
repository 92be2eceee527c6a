const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}';
const named = (prefix: string): RegExp => new RegExp(`\\b${prefix}${uuid}\\b`, 'g');

/** Values that differ in every run, with replacements. The order matters: later ones may be parts of earlier ones. */
const replacements: readonly (readonly [pattern: RegExp, name: string])[] = [
  // Only prevents GitHub from treating a part of a text as a mention, an issue or an emoji.
  [/<wbr>/g, ''],
  [/[^\s"'`]*\/runner-[^/\s]+\/work\/_temp/g, '<temp>'],
  [/[^\s"'`]*\/runner-[^/\s]+\/work\/dragon\/dragon/g, '<checkout>'],
  [/(?<=:\/\/(?:127\.0\.0\.1|localhost)):\d+/g, ':<port>'],
  [named('w'), '<workspace>'],
  [named('req_'), '<request>'],
  [named('sync_'), '<sync>'],
  [named('lock_'), '<lock>'],
  [named('hook_'), '<hook>'],
  [named(''), '<id>'],
  [/\b[0-9a-f]{40}\b/g, '<commit>'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/\b(?:\d{4}-\d\d-\d\d )?\d\d:\d\d UTC/g, '<clock>'],
  [/\b(?:in \d+ (?:s|min|h|d)(?: \d+ (?:min|h))?|\d+ (?:s|min|h) ago)\b/g, '<distance>'],
  [/\b\d+(?:\.\d)? s\b/g, '<duration>'],
];

/** A text as in every run: with names instead of times, ids, ports and folders. */
export const stable = (text: string): string =>
  replacements.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), text);
